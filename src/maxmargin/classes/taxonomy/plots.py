"""Pictures of predictions in a taxonomy: where in the tree the errors are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.classes.taxonomy import Node, Taxonomy
from maxmargin.plots.confusion import plot_confusion
from maxmargin.plots.training import GREY, INK, _axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NODES = 120
ROW = 0.36  # inches: a name above a node, and one beside the node below


def plot_taxonomy_errors(
    taxonomy: Taxonomy,
    truth: Sequence[Node],
    predicted: Sequence[Node],
    ax: Axes | None = None,
) -> Figure:
    """The taxonomy as a tree; every node with its error rate.

    The samples of a node are those whose true class is at or below it. Its number and
    colour say which share of them was predicted elsewhere, its size how many they are.
    Nodes without samples are left out, and deep levels if there are too many nodes.

    Parameters
    ----------
    taxonomy : Taxonomy
        A node with several parents is drawn below the first.
    truth, predicted : lists of classes
    ax : Axes or None
    """
    reached, lost = _counts(taxonomy, truth, predicted)
    shown = [v for v in range(len(taxonomy)) if reached[v]]
    if len(shown) > MOST_NODES:
        deepest = _depth_limit(taxonomy, shown)
        shown = [v for v in shown if taxonomy.depth[v] <= deepest]
    x, y = _places(taxonomy, shown)
    levels = max(x.values()) + 1
    height = ROW * (max(y.values()) + 1) + 1.0
    (ax,) = _axes(ax, figsize=(2.0 + 2.2 * levels, max(height, 2.4)))
    share = {v: lost[v] / reached[v] for v in shown}
    most = max([0.05, *share.values()])
    _plot_branches(ax, taxonomy, x, y)
    size = 30 + 170 * np.sqrt([reached[v] / max(reached) for v in shown])
    dots = ax.scatter(
        [x[v] for v in shown],
        [y[v] for v in shown],
        s=size,
        c=[share[v] for v in shown],
        cmap="Oranges",
        vmin=0,
        vmax=most,
        edgecolors=INK,
        linewidths=0.6,
        zorder=2,
    )
    for v in shown:
        inner = any(c in x for c in taxonomy.children[v])
        text = f"{_short(taxonomy, v, inner)}  {100 * share[v]:.0f}%"
        ax.annotate(
            text,
            (x[v], y[v]),
            xytext=(0, 7) if inner else (10, 0),
            textcoords="offset points",
            ha="center" if inner else "left",
            va="bottom" if inner else "center",
            fontsize=7.5,
            color=INK,
            parse_math=False,
        )
    wrong = sum(a != b for a, b in zip(truth, predicted, strict=True))
    ax.set_title(
        f"{wrong:,} of {len(truth):,} samples are wrong\n"
        "At every node: the share of its samples that were predicted elsewhere",
        loc="left",
        fontsize=11,
    )
    ax.set_xlim(-0.35, levels - 0.2)
    ax.set_ylim(max(y.values()) + 0.8, -1.2)
    ax.set_axis_off()
    bar = ax.figure.colorbar(dots, ax=ax, fraction=0.03, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
    bar.set_label("samples predicted elsewhere")
    return ax.figure


def _plot_branches(ax: Axes, taxonomy: Taxonomy, x: dict, y: dict) -> None:
    """A line from every node to its first parent, where both have a place."""
    for v in x:
        for p in taxonomy.parents[v][:1]:
            if p in x:
                middle = x[p] + 0.5
                ax.plot(
                    [x[p], middle, middle, x[v]],
                    [y[p], y[p], y[v], y[v]],
                    color="#C8C8C8",
                    lw=1,
                    zorder=1,
                )


def plot_taxonomy_confusion(
    taxonomy: Taxonomy,
    truth: Sequence[Node],
    predicted: Sequence[Node],
    ax: Axes | None = None,
) -> Figure:
    """Which class was confused with which, in the order of the tree.

    Lines separate the subtrees of the first level. At most 60 classes are shown, those
    with most errors.
    """
    _counts(taxonomy, truth, predicted)
    seen = sorted({*truth, *predicted}, key=taxonomy.position_of)
    if len(seen) > 60:
        errors = dict.fromkeys(seen, 0)
        for a, b in zip(truth, predicted, strict=True):
            errors[a] += a != b
            errors[b] += a != b
        most = sorted(seen, key=lambda z: -errors[z])[:60]
        seen = [z for z in seen if z in set(most)]
    figure = plot_confusion([list(truth)], [list(predicted)], labels=seen, ax=ax)
    panel = ax if ax is not None else figure.axes[0]
    tops = [taxonomy.lineage(taxonomy.position_of(z)) for z in seen]
    first = [
        next((v for v in line if taxonomy.depth[v] >= 1), line[-1]) for line in tops
    ]
    for k in range(1, len(seen)):
        if first[k] != first[k - 1]:
            panel.axhline(k - 0.5, color=GREY, lw=0.8)
            panel.axvline(k - 0.5, color=GREY, lw=0.8)
    return figure


def _counts(taxonomy, truth, predicted) -> tuple[np.ndarray, np.ndarray]:
    """(samples at or below every node, those of them predicted elsewhere)."""
    if len(truth) != len(predicted) or not len(truth):
        raise ValueError(
            f"there are {len(truth)} true classes and {len(predicted)} predictions: give "
            "one of each for every sample, and at least one sample."
        )
    reached, lost = np.zeros(len(taxonomy), int), np.zeros(len(taxonomy), int)
    for a, b in zip(truth, predicted, strict=True):
        mine = set(taxonomy.lineage(taxonomy.position_of(a)))
        other = set(taxonomy.lineage(taxonomy.position_of(b)))
        for v in mine:
            reached[v] += 1
            lost[v] += v not in other
    return reached, lost


def _places(taxonomy, shown) -> tuple[dict, dict]:
    """Columns and rows of nodes: leaves one below the other, parents amid children."""
    inside = set(shown)
    children: dict[int, list[int]] = {v: [] for v in shown}
    tops = []
    for v in shown:
        above = [p for p in taxonomy.parents[v][:1] if p in inside]
        (children[above[0]] if above else tops).append(v)
    x: dict[int, float] = {}
    y: dict[int, float] = {}
    row = 0

    def place(v: int, column: int) -> None:
        nonlocal row
        x[v] = column
        for c in children[v]:
            place(c, column + 1)
        if children[v]:
            y[v] = (y[children[v][0]] + y[children[v][-1]]) / 2
        else:
            y[v] = row
            row += 1

    for v in tops:
        place(v, 0)
    return x, y


def _depth_limit(taxonomy, shown) -> int:
    """The deepest level down to which not too many nodes are to be drawn."""
    depths = np.sort(taxonomy.depth[shown])
    limit = int(depths[MOST_NODES]) - 1
    return max(limit, int(depths[0]))


def _short(taxonomy, v, inner) -> str:
    """A name without that of its parent in front."""
    name = str(taxonomy.nodes[v])
    for p in taxonomy.parents[v][:1]:
        above = str(taxonomy.nodes[p])
        rest = name[len(above) + 1 :]
        if name.startswith(above) and rest:
            name = rest
    limit = 18 if inner else 32
    return name if len(name) <= limit else name[: limit - 1] + "…"
