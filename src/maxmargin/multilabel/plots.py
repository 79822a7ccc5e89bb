"""Which labels are found and which are missed. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.plots.training import BLUE, GREY, INK, ORANGE, _axes, legend_below

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 40  # labels in one picture


def plot_label_scores(
    truth: Any, found: Any, labels: Any, ax: Axes | None = None
) -> Figure:
    """Precision and recall of every label, most frequent first.

    ``truth`` and ``found`` are 0/1 tables (samples, labels). If there are more than 40
    labels, the most frequent ones are shown. A label that was never predicted has no
    precision.
    """
    truth, found = np.asarray(truth) != 0, np.asarray(found) != 0
    if truth.shape != found.shape or truth.ndim != 2 or truth.shape[1] != len(labels):
        raise ValueError(
            f"the tables have shapes {truth.shape} and {found.shape}, and there are "
            f"{len(labels)} labels: give a row per sample and a column per label."
        )
    order = np.argsort(-truth.sum(axis=0), kind="stable")[:MOST]
    hits = (truth & found).sum(axis=0)[order]
    given, wanted = found.sum(axis=0)[order], truth.sum(axis=0)[order]
    places = np.arange(len(order))
    own = ax is None
    (ax,) = _axes(ax, figsize=(6.4, 2.1 + 0.28 * len(order)))
    series = (("precision", given, "o", BLUE), ("recall", wanted, "D", ORANGE))
    for name, total, marker, colour in series:
        known = total > 0
        share = hits[known] / total[known]
        full = marker == "o"  # the other goes around it where they meet
        look = {"mfc": colour if full else "none", "mew": 1.6, "ms": 6 if full else 8}
        ax.plot(share, places[known], marker, color=colour, label=name, **look)
    ax.hlines(places, 0, 1, color=GREY, linewidth=0.4, zorder=0)
    names = [f"{labels[k]}  ({wanted[i]:,})" for i, k in enumerate(order)]
    ax.set_yticks(places, names, color=INK, fontsize=9, parse_math=False)
    ax.set_ylim(len(order) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
    shown = "" if len(order) == len(labels) else f", the {len(order)} most frequent"
    title = "Precision and recall of each label"
    title += f"\n{len(truth):,} samples, {len(labels)} labels{shown}"
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_ylabel("label (samples)", color=INK, fontsize=9)
    ax.set_xlabel("no dot for precision: the label was never predicted", fontsize=8)
    if (given > 0).all():
        ax.set_xlabel("")
    legend_below(ax, own, ncols=2)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax.figure
