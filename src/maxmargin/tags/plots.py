"""Pictures and tables of fitted taggers and of their mistakes.

Pictures need matplotlib (extra ``plot``), tables do not. Every function that draws uses
the ``ax`` that it is given, or makes a figure; it saves the figure if ``path`` is given
and returns it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.checks import whole
from maxmargin.plots.cells import (
    PLAIN,
    digits_of,
    finish,
    ink_on,
    name_cells,
    number_text,
    signed,
    square,
    write_cell,
)
from maxmargin.plots.training import BLUE, GREY, INK, ORANGE, _axes
from maxmargin.tags.schemes import forbidden_transitions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

START, END = "(start)", "(end)"
MOST_NUMBERS = 12  # labels up to which transitions have room for numbers
MOST_LABELS = 30  # labels that a table of errors shows
LONGEST = 30  # characters of the name of a feature
CROSS = "\N{MULTIPLICATION SIGN}"
ARROW = "\N{RIGHTWARDS ARROW}"


# transitions -------------------------------------------------------------------------


def plot_transitions(
    tagger: Any, ax: Axes | None = None, path: str | os.PathLike | None = None
) -> Figure:
    """Heat map of the weights of neighbouring labels: row, then column.

    The first row has the weights of starting with a label (``first_``), the last column
    those of ending with one (``last_``).

    Parameters
    ----------
    tagger : fitted SequenceTagger
        Forbidden transitions are left grey and marked with a cross.
    ax : Axes or None
    path : file to save the figure to, or None
    """
    table, rows, columns = _transitions(tagger)
    banned = np.ma.getmaskarray(table)
    largest = float(np.abs(table).max()) if table.count() else 0.0
    limit = largest or 1.0
    k = len(tagger.classes_)

    own = ax is None
    numbers = k <= MOST_NUMBERS
    ax = square(ax, len(rows), 0.5 if numbers else 0.36)
    ax.set_facecolor("#E8E8E8")
    image = ax.imshow(table, cmap="PuOr_r", vmin=-limit, vmax=limit)
    name_cells(ax, rows, columns, k)
    ax.set_xlabel("next label")
    ax.set_ylabel("label")
    if len(rows) > k:  # set start and end off from the transitions
        ax.axhline(0.5, color="white", lw=3)
        ax.axvline(k - 0.5, color="white", lw=3)
        banned = banned.copy()
        banned[0, -1] = False  # an empty sequence: no cell at all
    for i, j in zip(*np.nonzero(banned), strict=True):
        ax.text(j, i, CROSS, ha="center", va="center", color=GREY)
    if numbers:
        digits = digits_of(largest)
        for i, j in zip(*np.nonzero(~np.ma.getmaskarray(table)), strict=True):
            text = signed(table[i, j], digits)
            write_cell(ax, i, j, text, ink_on(image, table[i, j]), 7.5)
    ax.set_title(_strongest(table, rows, columns), loc="left", fontsize=11, **PLAIN)
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.045, pad=0.03)
    bar.outline.set_visible(False)
    bar.set_label(
        "weight (forbidden: \N{MULTIPLICATION SIGN})" if banned.any() else "weight"
    )
    return finish(ax.figure, own, path)


def transition_table(tagger: Any) -> str:
    """The weights of transitions, starts and ends as text; forbidden ones as ``x``."""
    table, rows, columns = _transitions(tagger)
    shut = np.ma.getmaskarray(table)
    digits = 1 + digits_of(float(np.abs(table).max()) if table.count() else 0.0)
    cells = [
        [
            "x" if no else number_text(value, digits)
            for value, no in zip(*line, strict=True)
        ]
        for line in zip(table.data, shut, strict=True)
    ]
    if len(rows) > len(tagger.classes_):
        cells[0][-1] = ""
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    left = max(map(len, rows))
    lines = [
        f"{name:<{left}}  "
        + "  ".join(f"{cell:>{w}}" for cell, w in zip(line, widths, strict=True))
        for name, line in zip(["", *rows], [columns, *cells], strict=True)
    ]
    return "\n".join(line.rstrip() for line in lines)


def _transitions(tagger):
    """Weights with start and end, masked where forbidden; names of rows and columns."""
    check_is_fitted(tagger, "transitions_")
    names = [str(label) for label in tagger.classes_]
    k = len(names)
    whole = np.ma.masked_all((k + 1, k + 1))
    whole[1:, :-1] = tagger.transitions_
    ends = hasattr(tagger, "first_")
    if ends:
        whole[0, :-1], whole[1:, -1] = tagger.first_, tagger.last_
    number = {label: j for j, label in enumerate(tagger.classes_.tolist())}
    row = {None: 0} | {label: j + 1 for label, j in number.items()}
    column = {None: k} | number
    for a, b in _forbidden(tagger, list(number)):
        if a in row and b in column:  # others never occur
            whole[row[a], column[b]] = np.ma.masked
    if not ends:
        return whole[1:, :-1], names, names
    return whole, [START, *names], [*names, END]


def _forbidden(tagger, labels) -> list:
    """What the user forbade, and what the scheme does."""
    pairs = list(tagger.forbidden or ())
    scheme = getattr(tagger, "scheme", None)
    return pairs if scheme is None else pairs + forbidden_transitions(labels, scheme)


def _strongest(table, rows, columns) -> str:
    if not table.count():
        return "Every transition is forbidden"
    i, j = np.unravel_index(np.ma.argmax(table), table.shape)
    a, b = np.unravel_index(np.ma.argmin(table), table.shape)
    digits = digits_of(float(np.abs(table).max()))
    lines = ["Strongest transitions"]
    for word, k, m in (("for", i, j), ("against", a, b)):
        weight = signed(table[k, m], digits)
        lines.append(f"{word}: {rows[k]} {ARROW} {columns[m]} ({weight})")
    return "\n".join(lines)


# features ----------------------------------------------------------------------------


def top_features(tagger: Any, label: Any, n: int = 10) -> list[tuple[str, float]]:
    """The n features with the largest weights for a label, of either sign.

    Sorted by size; features whose weight is zero are left out. Those of templates are
    called what they are: suffix(4)=raat, not U14:raat.
    """
    return _top(tagger, [label], n)[0]


def titles_of(tagger: Any, width: int) -> Sequence[str]:
    """What the features are, as far as they have names."""
    names = getattr(tagger, "feature_titles_", None) or tagger.feature_names_
    return [f"feature {j}" for j in range(width)] if names is None else names


def chosen_labels(tagger: Any, labels: Sequence | None) -> list:
    """All labels of the tagger, or these if it knows them."""
    check_is_fitted(tagger, "classes_")
    known = tagger.classes_.tolist()
    labels = known if labels is None else list(labels)
    if not labels:
        raise ValueError("labels is empty: choose one label or more.")
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise ValueError(
            f"label={unknown[0]!r} is not known to the model; choose from "
            f"{', '.join(map(repr, known))}."
        )
    return labels


def _top(tagger, labels, n) -> list[list[tuple[str, float]]]:
    """:func:`top_features` of several labels; names are asked for once, being many."""
    labels, known = chosen_labels(tagger, labels), tagger.classes_.tolist()
    whole("n", n)
    names = titles_of(tagger, np.shape(tagger.coef_)[1])
    out = []
    for label in labels:
        weights = np.asarray(tagger.coef_[known.index(label)], float)
        best = _largest(np.abs(weights), n)
        out.append([(str(names[j]), float(weights[j])) for j in best])
    return out


def _largest(size: np.ndarray, n: int) -> list[int]:
    """Where the n largest are that are not zero, in order; of equals the first."""
    n = min(n, len(size))
    if n == 0:
        return []
    least = np.partition(size, len(size) - n)[len(size) - n]
    close = np.flatnonzero((size >= least) & (size > 0))
    return close[np.argsort(-size[close], kind="stable")][:n].tolist()


def feature_table(tagger: Any, labels: Sequence | None = None, n: int = 10) -> str:
    """:func:`top_features` of several labels (None: all) as text."""
    labels = chosen_labels(tagger, labels)
    blocks = []
    for label, row in zip(labels, _top(tagger, labels, n), strict=True):
        lines = [f"{weight:>9.3f}  {name}" for name, weight in row]
        blocks.append("\n".join([str(label), *(lines or ["  (all weights are zero)"])]))
    return "\n\n".join(blocks)


def plot_top_features(
    tagger: Any,
    labels: Sequence | None = None,
    n: int = 10,
    path: str | os.PathLike | None = None,
) -> Figure:
    """Bars of the features with the largest weights: one panel per label, one scale.

    Parameters
    ----------
    tagger : fitted SequenceTagger
    labels : list of labels or None
        Labels to show; None shows all, or the first 30.
    n : int
        Features per label.
    path : file to save the figure to, or None
    """
    labels = chosen_labels(tagger, labels)
    rest = len(labels) - MOST_LABELS
    labels = labels[:MOST_LABELS]
    best = _top(tagger, labels, n)
    weights = [weight for row in best for _, weight in row]
    ends = 1.05 * min([0.0, *weights]), 1.05 * max([0.0, *weights]) or 1.0
    columns = min(3, len(labels))
    lines = math.ceil(len(labels) / columns)
    tall = 0.55 + 0.19 * max(n, 3)
    size = (4.3 * columns + 0.2, tall * lines + 0.6)
    axes = _axes(
        None, nrows=lines, ncols=columns, figsize=size, sharex=True, squeeze=False
    )
    for ax, label, row in zip(axes, labels, best, strict=False):
        _draw_features(ax, label, row, n, ends)
    for ax in axes[len(labels) :]:
        ax.set_axis_off()
    for ax in axes[len(labels) - columns : len(labels)]:  # the lowest of every column
        ax.tick_params(labelbottom=True)
        ax.set_xlabel("weight", fontsize=8, color=INK)
    title = "Strongest features: for (blue) and against (orange) a label"
    if rest > 0:
        title += f"; {rest} more labels are not shown"
    figure = axes[0].figure
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return finish(figure, True, path)


def _draw_features(ax, label, row, n, ends) -> None:
    places = range(len(row))
    weights = [weight for _, weight in row]
    colors = [BLUE if weight > 0 else ORANGE for weight in weights]
    ax.barh(places, weights, color=colors, height=0.72)
    ax.set_yticks(places, [_cut(name) for name, _ in row], fontsize=7.5, **PLAIN)
    ax.set_ylim(max(n, 1) - 0.4, -0.6)
    ax.set_xlim(ends)
    ax.axvline(0, color=INK, lw=0.8)
    ax.tick_params(axis="y", length=0)
    ax.tick_params(axis="x", labelsize=7.5, color=GREY)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.grid(axis="x", color="#E6E6E6", lw=0.8)
    ax.set_axisbelow(True)
    title = str(label) if row else f"{label}: all weights are zero"
    ax.set_title(title, loc="left", fontsize=9.5, weight="bold", **PLAIN)


def _cut(name: str) -> str:
    """Names of features on one line, the middle of long ones left out."""
    name = " ".join(name.split()) or repr(name)
    half = LONGEST // 2
    return name if len(name) <= LONGEST else f"{name[: half - 1]}\u2026{name[-half:]}"
