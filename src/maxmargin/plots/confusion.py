"""Which label was taken for which, of any task with labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.core.checks import one_of
from maxmargin.metrics.labels import confusion
from maxmargin.plots.cells import (
    PLAIN,
    finish,
    ink_on,
    name_cells,
    power_norm,
    square,
    write_cell,
)
from maxmargin.plots.training import GREY, _pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LABELS = 30  # that a table of errors shows
VALUES = ("counts", "shares")


def plot_confusion(
    truth: Sequence[Sequence],
    predicted: Sequence[Sequence],
    labels: Sequence | None = None,
    ax: Axes | None = None,
    path: str | os.PathLike | None = None,
    values: str = "counts",
) -> Figure:
    """Which label was confused with which: colour is the share of the true label (row).

    The diagonal holds correct labels. It is grey, as its colour would outshine all errors.

    Parameters
    ----------
    truth, predicted : lists of label sequences
    labels : list of labels or None
        Labels to show; None shows all, or the 30 with the most errors if there are more.
    ax : Axes or None
    path : file to save the figure to, or None
    values : "counts" or "shares"
        What all cells show: how often, or in per cent of the true label.
    """
    one_of("values", values, VALUES)
    names, table = confusion(truth, predicted)
    if not names:
        raise ValueError("there are no labels: nothing to draw.")
    errors = table - np.diag(table.diagonal())
    kept = _kept(names, errors, labels)
    there = np.maximum(table.sum(axis=1, keepdims=True), 1)
    inside = np.ix_(kept, kept)
    share, part = (errors / there)[inside], errors[inside]
    shown, k = [str(names[j]) for j in kept], len(kept)

    own = ax is None
    ax = square(ax, k)
    # square roots: a rare label that is always wrong must not hide the common errors
    norm = power_norm(float(share.max()) or 1.0)
    image = ax.imshow(np.ma.masked_equal(share, 0), cmap="Oranges", norm=norm)
    name_cells(ax, shown, shown, k)
    ax.set_xlabel("predicted label (grey: right)")
    ax.set_ylabel("true label")
    for j in range(k):
        ax.add_patch(
            _pyplot().Rectangle((j - 0.5, j - 0.5), 1, 1, fc="#EFEFEF", ec="none")
        )
    cells = (table if values == "counts" else table / there)[inside]
    size = 8 if k <= 15 else 6.5 if k <= 22 else 5.5 if k <= 40 else 4
    for i, j in zip(*np.nonzero(cells), strict=True):
        color = GREY if i == j else ink_on(image, share[i, j])
        text = _short(cells[i, j]) if values == "counts" else _per_cent(cells[i, j])
        write_cell(ax, i, j, text, color, size - 1 if len(text) > 4 else size)
    wrong, all_wrong = int(part.sum()), int(errors.sum())
    title = f"{all_wrong:,} of {int(table.sum()):,} labels are wrong"
    if wrong < all_wrong:
        title += f"; {wrong:,} errors among {k} of {len(names)} labels"
    if wrong:
        i, j = map(int, np.unravel_index(part.argmax(), part.shape))
        times = f"{part[i, j]:,} time{'s' if part[i, j] != 1 else ''}"
        title += f"\nMost common error: {shown[i]} taken for {shown[j]}, {times}"
    ax.set_title(title, loc="left", fontsize=11, **PLAIN)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.045, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
    bar.set_label("share of the true label")
    return finish(ax.figure, own, path)


def _kept(names, errors, labels) -> list[int]:
    """The numbers of the labels to show, in the order of names."""
    if labels is not None:
        unknown = [label for label in labels if label not in names]
        if unknown or not len(labels):
            what = (
                f"holds {unknown[0]!r}, which does not occur" if unknown else "is empty"
            )
            raise ValueError(f"labels {what}: choose labels of the sequences.")
        return [names.index(label) for label in labels]
    touched = errors.sum(axis=0) + errors.sum(axis=1)
    most = np.argsort(-touched, kind="stable")[:MOST_LABELS]
    return sorted(most.tolist())


def _short(count) -> str:
    return str(count) if count < 100_000 else f"{count / 1000:.0f}k"


def _per_cent(share: float) -> str:
    """100% only where there is no error at all, and 0% never."""
    if 0 < share < 0.0005:
        return "<0.1%"
    value = 100 * share if share == 1 else min(100 * share, 99.9)
    return f"{value:.1f}%" if value < 1 or 99 < value < 100 else f"{value:.0f}%"
