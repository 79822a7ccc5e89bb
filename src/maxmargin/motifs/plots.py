"""Sequence logos. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.core.checks import one_of
from maxmargin.motifs.formats import Motif, motif_of
from maxmargin.motifs.input import LETTERS
from maxmargin.plots.training import BLUE, INK, ORANGE, _axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

# From the palette of Okabe and Ito; letters say the same without colour.
COLOURS = {"A": "#009E73", "C": "#0072B2", "G": "#E69F00", "T": "#D55E00"}
BITS = 2.0  # of information in a position of DNA, at most
KINDS = ("sites", "probabilities", "weights")


def plot_logo(
    model: Any, kind: str = "sites", title: str | None = None, ax: Axes | None = None
) -> Figure:
    """The motif as a stack of letters per position, the largest on top.

    Parameters
    ----------
    model : MotifFinder or Motif
    kind : "sites", "probabilities" or "weights"
        Bits of information, divided among letters: of those at the training sites, which is
        the motif that files get; or of the model's ``probabilities()``, the softmax of its
        weights; or what each letter adds to the score, those that lower it below the line
        (the last two of a MotifFinder only). The axis of "sites" goes to 2 bits: there, a
        position is always the same letter.
    title : str or None
    ax : Axes or None
    """
    one_of("kind", kind, KINDS)
    if kind == "weights":
        odds = model.log_odds()
        heights = odds - odds.mean(axis=1, keepdims=True)
    elif kind == "probabilities" and not isinstance(model, Motif):
        heights = information(model.probabilities())
    else:
        heights = information(motif_of(model).probabilities())
    (ax,) = _axes(ax, figsize=(max(1.2 + 0.42 * len(heights), 4.0), 2.6))
    for j, column in enumerate(heights):
        _stack(ax, j, column)
    ax.set_xlim(-0.5, len(heights) - 0.5)
    low, high = np.minimum(heights, 0).sum(axis=1), np.maximum(heights, 0).sum(axis=1)
    if kind == "weights":
        room = 0.05 * max((high - low).max(), 1e-9)
        ax.set_ylim(low.min() - room, high.max() + room)
        ax.axhline(0, color=INK, lw=0.8)
    else:
        ax.set_ylim(0, BITS if kind == "sites" else max(1.1 * high.max(), 0.1))
    ax.set_xticks(range(len(heights)), range(1, len(heights) + 1))
    ax.set_xlabel("position in the motif", color=INK)
    ax.set_ylabel("part of the score" if kind == "weights" else "information (bits)")
    ax.spines[["top", "right"]].set_visible(False)
    if title is None and not isinstance(model, Motif):
        title = f"Consensus {model.consensus()}, {model.n_sites_:,} sites"
    ax.set_title(title or "", loc="left", fontsize=11, parse_math=False)
    return ax.figure


def plot_site_scores(truth: Any, scores: ArrayLike, ax: Axes | None = None) -> Figure:
    """Distribution of the scores of the best sites, with and without the motif."""
    truth, scores = np.asarray(truth, bool), np.asarray(scores, float)
    if truth.shape != scores.shape or not len(scores):
        raise ValueError(
            f"there are {len(truth)} labels and {len(scores)} scores: give one of each for "
            "every sequence."
        )
    (ax,) = _axes(ax, figsize=(6.4, 3.2))
    edges = np.histogram_bin_edges(scores, 30)
    for name, kind, colour, style in (
        ("without the motif", ~truth, BLUE, "stepfilled"),
        ("with the motif", truth, ORANGE, "step"),
    ):
        look = {
            "color": colour,
            "histtype": style,
            "alpha": 0.6 if kind is not truth else 1,
        }
        label = f"{name} ({kind.sum():,})"
        ax.hist(scores[kind], edges, label=label, lw=1.8, **look)
    ax.axvline(0, color=INK, lw=0.8, ls="--")
    wrong = int(np.sum((scores > 0) != truth))
    title = f"{wrong:,} of {len(scores):,} sequences are on the wrong side of 0"
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel("score of the best site")
    ax.set_ylabel("sequences")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax.figure


def information(probabilities) -> np.ndarray:
    """Heights in bits: 2 minus the entropy of a position, divided as its letters are.

    (Schneider & Stephens 1990, without their correction for few sites.)
    """
    p = np.asarray(probabilities, float)
    entropy = -np.sum(p * np.log2(np.where(p > 0, p, 1.0)), axis=1, keepdims=True)
    return p * (BITS - entropy)


def _stack(ax, j: int, column) -> None:
    """Letters of position j, small ones next to the line."""
    up = down = 0.0
    for k in np.argsort(np.abs(column), kind="stable"):
        height = float(column[k])
        if abs(height) < 1e-6:
            continue
        if height > 0:
            _draw(ax, LETTERS[k], j, up, height)
            up += height
        else:
            down += height
            _draw(ax, LETTERS[k], j, down, -height)


def _draw(ax, letter: str, j: int, bottom: float, height: float) -> None:
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import PathPatch
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    path = TextPath((0, 0), letter, size=1, prop=FontProperties(weight="bold"))
    box = path.get_extents()
    fit = (
        Affine2D()
        .translate(-box.x0, -box.y0)
        .scale(0.9 / box.width, height / box.height)
        .translate(j - 0.45, bottom)
    )
    ax.add_patch(PathPatch(path.transformed(fit), color=COLOURS[letter], lw=0))
