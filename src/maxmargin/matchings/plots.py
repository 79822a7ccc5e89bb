"""A picture of a word alignment. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.matchings.metrics import as_links, check_inside
from maxmargin.plots.cells import PLAIN, finish
from maxmargin.plots.training import BLUE, GREY, INK, ORANGE, _axes, _pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CELL = 0.27  # inches per word
SURE = {"linewidth": 1.7, "edgecolor": INK}
POSSIBLE = {"linestyle": (0, (2, 1.5)), "linewidth": 0.9, "edgecolor": GREY}


def plot_links(
    pair: Sequence[Sequence[str]],
    predicted: Any = None,
    truth: Any = None,
    scores: np.ndarray | None = None,
    title: str | None = None,
    ax: Axes | None = None,
    path: str | os.PathLike | None = None,
) -> Figure:
    """The grid of a sentence pair: source words as rows, target words as columns.

    Dots are predicted links: full where the truth allows them, hollow where not. Sure
    links of the truth have a square with a thick edge, possible ones a thin, dashed edge.

    Parameters
    ----------
    pair : (source words, target words), or texts with words between spaces
    predicted, truth : alignments, as in :class:`maxmargin.WordAligner`, or None
    scores : array (source, target), or None
        As of ``predict_scores``; positive ones are shaded, the larger the darker.
    ax : Axes or None
    path : file to save the figure to, or None
    """
    source, target = (s.split() if isinstance(s, str) else list(s) for s in pair[:2])
    if not source or not target:
        raise ValueError("the pair has a side without words: nothing to draw.")
    gold = None if truth is None else as_links(truth, "truth")
    found = as_links(() if predicted is None else predicted, "predicted")
    links = {*found.sure, *found.possible}
    true = set() if gold is None else {*gold.sure, *gold.possible}
    check_inside(links | true, len(source), len(target))
    own = ax is None
    n, m = len(source), len(target)
    rectangle = _pyplot().Rectangle
    ax = _axes(ax, figsize=(CELL * m + 2.1, CELL * n + 1.9))[0]
    if scores is not None:
        _shade(ax, np.asarray(scores, float), (n, m))
    ax.set_xlim(-0.5, m - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_aspect("equal")
    ax.set_xticks(
        range(m), target, rotation=60, ha="left", rotation_mode="anchor", **PLAIN
    )
    ax.set_yticks(range(n), source, **PLAIN)
    ax.xaxis.tick_top()
    ax.tick_params(length=0, labelsize=9, colors=INK)
    for edge in ax.spines.values():
        edge.set_color("#CCCCCC")
    ax.set_xticks(np.arange(m + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="#E6E6E6", linewidth=0.6)
    ax.tick_params(which="minor", length=0)
    if gold is not None:
        for kind, style in ((gold.possible, POSSIBLE), (gold.sure, SURE)):
            for i, j in kind:
                box = rectangle((j - 0.42, i - 0.42), 0.84, 0.84, fill=False, **style)
                ax.add_patch(box)
    allowed = links if gold is None else links & {*gold.sure, *gold.possible}
    _dots(ax, allowed, {"color": BLUE})
    _dots(
        ax,
        links - allowed,
        {"facecolors": "white", "edgecolors": ORANGE, "linewidths": 1.8},
    )
    if title:
        ax.set_title(title, loc="left", fontsize=10, color=INK, **PLAIN)
    _legend(ax, gold, links, allowed, scores is not None)
    return finish(ax.figure, own, path)


def _shade(ax, scores, shape) -> None:
    if scores.shape != shape:
        raise ValueError(
            f"scores have shape {scores.shape}, but the pair has {shape[0]} source and "
            f"{shape[1]} target words."
        )
    most = float(scores.max(initial=0.0))
    if most > 0:  # marks stay visible: no cell is darker than half of the scale
        shown = np.ma.masked_less_equal(scores, 0.0)
        ax.imshow(shown, cmap="Blues", vmin=0.0, vmax=2.2 * most)


def _dots(ax, links, style) -> None:
    if links:
        rows, columns = zip(*sorted(links), strict=True)
        ax.scatter(columns, rows, s=52, zorder=3, **style)


def _legend(ax, gold, links, allowed, shaded: bool) -> None:
    """Only what is in the picture."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    items = []
    if gold is not None and gold.sure:
        items.append(Patch(fill=False, label="true, sure", **SURE))
    if gold is not None and gold.possible:
        items.append(Patch(fill=False, label="true, possible", **POSSIBLE))
    for shown, label, style in (
        (allowed, "predicted" if gold is None else "predicted, right", {"color": BLUE}),
        (
            links - allowed,
            "predicted, wrong",
            {"mfc": "white", "mec": ORANGE, "mew": 1.8},
        ),
    ):
        if shown:
            dot = {"linestyle": "", "marker": "o", "markersize": 7}
            items.append(Line2D([], [], label=label, **dot, **style))
    if shaded:
        items.append(Patch(color="#9DC6E0", label="darker: a higher score"))
    if items:
        ax.legend(
            handles=items,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.02),
            ncols=min(len(items), max(1, int(ax.get_xlim()[1]) // 4)),
            frameon=False,
            fontsize=9,
            handlelength=1.2,
            handleheight=1.2,
            columnspacing=1.2,
        )
