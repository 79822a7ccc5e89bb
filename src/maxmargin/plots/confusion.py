"""Which label was taken for which, of any task with labels."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.metrics.labels import confusion
from maxmargin.plots.cells import (
    PLAIN,
    finish,
    name_cells,
    power_norm,
    square,
    write_cell,
)
from maxmargin.plots.training import GREY, INK, _pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LABELS = 30  # that a table of errors shows


def plot_confusion(
    truth: Sequence[Sequence],
    predicted: Sequence[Sequence],
    labels: Sequence | None = None,
    ax: Axes | None = None,
    path: str | os.PathLike | None = None,
) -> Figure:
    """Which label was taken for which: colour is the share of the true label (row).

    Cells show how often the error occurred. The diagonal, which would outshine all
    errors, has no colour; it holds the share that is right, in per cent.

    Parameters
    ----------
    truth, predicted : lists of label sequences
    labels : list of labels or None
        Which to show; None shows all, or the 30 with most errors if there are more.
    ax : Axes or None
    path : file to save the figure to, or None
    """
    names, table = confusion(truth, predicted)
    if not names:
        raise ValueError("there are no labels: nothing to draw.")
    errors = table - np.diag(table.diagonal())
    kept = _kept(names, errors, labels)
    there = np.maximum(table.sum(axis=1, keepdims=True), 1)
    share = (errors / there)[np.ix_(kept, kept)]
    right = (table.diagonal() / there[:, 0])[kept]
    seen = table.sum(axis=1)[kept]
    shown, part = [str(names[j]) for j in kept], errors[np.ix_(kept, kept)]
    k = len(kept)

    own = ax is None
    ax = square(ax, k)
    # square roots: a rare label that is always wrong must not hide the common errors
    limit = float(share.max()) or 1.0
    norm = power_norm(limit)
    image = ax.imshow(np.ma.masked_equal(share, 0), cmap="Oranges", norm=norm)
    name_cells(ax, shown, shown, k)
    ax.set_xlabel("predicted label")
    ax.set_ylabel("true label")
    size = 8 if k <= 15 else 6.5 if k <= 22 else 5.5
    for j in range(k):
        ax.add_patch(
            _pyplot().Rectangle((j - 0.5, j - 0.5), 1, 1, fc="#EFEFEF", ec="none")
        )
        if seen[j]:
            write_cell(ax, j, j, f"{100 * right[j]:.0f}%", GREY, size)
    for i, j in zip(*np.nonzero(part), strict=True):
        color = "white" if norm(share[i, j]) > 0.6 else INK
        write_cell(ax, i, j, _short(part[i, j]), color, size)
    wrong, all_wrong = int(part.sum()), int(errors.sum())
    title = f"{all_wrong:,} of {int(table.sum()):,} labels are wrong"
    if wrong < all_wrong:
        title += f"; {wrong:,} errors among {k} of {len(names)} labels"
    if wrong:
        i, j = map(int, np.unravel_index(part.argmax(), part.shape))
        title += f"\nMost often: {shown[i]} taken for {shown[j]}"
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
    return str(count) if count < 10_000 else f"{count / 1000:.0f}k"
