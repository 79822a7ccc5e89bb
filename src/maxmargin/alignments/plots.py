"""Pictures of learnt substitution scores and of alignments. Needs matplotlib.

Every function draws into the ``ax`` that it is given, or makes a figure; it saves the
figure if ``path`` is given and returns it. Nothing is said by colour alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.alignments.export import scoring_of
from maxmargin.alignments.files.pairs import check_pairs, paired_columns
from maxmargin.alignments.metrics import pair_precision, q_score
from maxmargin.plots.cells import (
    MINUS,
    PLAIN,
    finish,
    ink_on,
    name_cells,
    square,
    write_cell,
)
from maxmargin.plots.training import BLUE, GREY, INK, ORANGE, _pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Amino acids by what they do: neighbours in the picture are alike.
AMINO_GROUPS = {
    "small": "GAST",
    "cysteine": "C",
    "aliphatic": "VILM",
    "aromatic": "FYW",
    "positive": "HKR",
    "negative, amide": "DENQ",
    "proline": "P",
}
SHADE = "#CFE3F1"  # a light shade of BLUE, behind black letters
PER_LINE = 80  # columns of an alignment on a line
LONGEST = 12  # letters of a name beside it
MOST_NUMBERS = 12
DOTS = "\N{HORIZONTAL ELLIPSIS}"


# substitution scores -----------------------------------------------------------------


def plot_substitutions(
    model: Any, ax: Axes | None = None, path: str | os.PathLike | None = None
) -> Figure:
    """Heat map of a model's scores of matched letters.

    Colours span the scores of different letters, so that a few pairs that match very
    well, such as C with C, do not wash out the rest; cells beyond this range show their
    number. Amino acids are ordered by chemical groups, with lines between these; other
    letters as in the model's alphabet.

    Parameters
    ----------
    model : fitted aligner or HomologFinder, or a Scoring (``alignment_export``)
    ax : Axes or None
    path : file to save the figure to, or None
    """
    scoring = scoring_of(model)
    order, edges = letter_order(scoring.letters)
    letters = [scoring.letters[k] for k in order]
    table = scoring.matrix[np.ix_(order, order)]
    largest = float(np.abs(table).max(initial=0.0)) or 1.0
    limit = _limit(table, largest)
    own = ax is None
    ax = square(ax, len(letters), 0.28)
    image = ax.imshow(table, cmap="PuOr_r", vmin=-limit, vmax=limit)
    name_cells(ax, letters, letters, len(letters))
    ax.set_xlabel("letter of the second sequence")
    ax.set_ylabel("letter of the first sequence")
    for edge in edges:
        ax.axhline(edge - 0.5, color=INK, lw=0.7)
        ax.axvline(edge - 0.5, color=INK, lw=0.7)
    few = len(letters) <= MOST_NUMBERS
    for i, j in np.argwhere(np.abs(table) > (-1.0 if few else limit)):
        text = f"{table[i, j]:.2g}".replace("-", MINUS)
        write_cell(ax, i, j, text, ink_on(image, table[i, j]), 7.5 if few else 6.5)
    title = "\n".join(
        filter(None, ("Scores of matched letters", _gap_sentence(scoring)))
    )
    ax.set_title(title, loc="left", fontsize=11)
    beyond = "both" if limit < largest else "neither"
    bar = ax.figure.colorbar(image, ax=ax, fraction=0.045, pad=0.03, extend=beyond)
    bar.outline.set_visible(False)
    more = "; numbers: beyond the colours" if limit < largest else ""
    bar.set_label(f"score of a match{more}")
    return finish(ax.figure, own, path)


def _limit(table, largest: float) -> float:
    """Where colours end: at scores of different letters, but for the rarest of them."""
    apart = np.abs(table[~np.eye(len(table), dtype=bool)])
    if len(table) <= MOST_NUMBERS or not apart.any():
        return largest
    return float(np.quantile(apart, 0.995)) or largest


def letter_order(letters: str) -> tuple[list[int], list[int]]:
    """Positions in the order of the picture, and where its groups begin."""
    known = "".join(AMINO_GROUPS.values())
    # four letters of DNA are amino acids too: groups are for alphabets of proteins
    if len({*letters.upper()} & {*known}) < 15:
        return list(range(len(letters))), []
    order: list[int] = []
    edges = []
    for group in AMINO_GROUPS.values():
        members = [k for k, x in enumerate(letters) if x.upper() in group]
        order += sorted(members, key=lambda k: group.index(letters[k].upper()))
        edges.append(len(order))
    rest = [k for k in range(len(letters)) if k not in order]
    return order + rest, edges if rest else edges[:-1]


def _gap_sentence(scoring) -> str:
    if not np.isfinite(scoring.gap_open):
        return ""
    opening, extension = (
        f"{value:.2g}".replace("-", MINUS)
        for value in (scoring.gap_open, scoring.gap_extend)
    )
    if scoring.gap_open == 0:
        return f"A letter in a gap scores {extension}"
    return f"A gap scores {opening}, and {extension} per letter"


# alignments --------------------------------------------------------------------------


def plot_alignment(
    a: str,
    b: str,
    predicted: Iterable[tuple[int, int]],
    reference: Iterable[tuple[int, int]],
    names: tuple[str, str] = ("a", "b"),
    title: str | None = None,
    ax: Axes | None = None,
    path: str | os.PathLike | None = None,
) -> Figure:
    """A predicted alignment over its reference, both as rows with gaps.

    Pairs that both have are shaded; a pair that only one has stands in orange, with a dot
    between its letters. Dashes are gaps.

    Parameters
    ----------
    a, b : the two sequences
    predicted, reference : matched pairs (i, j)
    names : of the two sequences
    title : str or None
        None says how many pairs of the reference were found.
    """
    predicted = check_pairs(predicted, len(a), len(b))
    reference = check_pairs(reference, len(a), len(b))
    agreed = {*predicted} & {*reference}
    blocks = [
        (what, paired_columns(a, b, pairs))
        for what, pairs in (("predicted", predicted), ("reference", reference))
    ]
    # Lines end where both alignments have consumed about as much, so that what stands
    # above each other belongs together.
    lines = _break_lines([columns for _, columns in blocks])
    names = [  # type: ignore[assignment]
        name if len(name) <= LONGEST else name[: LONGEST - 1] + DOTS for name in names
    ]
    left = 10.5 + max(map(len, names))  # in columns: what, then the names
    width = max(hi - lo for cut in lines for lo, hi in cut)
    own = ax is None
    if ax is None:
        size = (0.2 + 0.1 * (left + max(width, 44)), 0.7 + 1.15 * len(lines))
        _, ax = _pyplot().subplots(figsize=size, layout="constrained")
    y = 0.0
    for cut in lines:
        for (what, columns), (lo, hi) in zip(blocks, cut, strict=True):
            _draw_rows(ax, what, names, columns[lo:hi], agreed, y)
            y += 3.1
        y += 1.4
    ax.set_xlim(-left, max(width, 44))
    ax.set_ylim(y - 0.4, -1.0)
    kinds = _kinds({*predicted}, {*reference})
    _legend_of_pairs(ax, kinds, y - 1.7)
    ax.set_axis_off()
    ax.set_title(
        title or _found(predicted, reference), loc="left", fontsize=11, **PLAIN
    )
    return finish(ax.figure, own, path)


def _break_lines(alignments) -> list[list[tuple[int, int]]]:
    """Ranges of columns of each alignment for every line of the picture."""
    consumed = [
        np.concatenate(
            [[0], np.cumsum([(x != "-") + (z != "-") for x, z, _ in columns])]
        )
        for columns in alignments
    ]
    at = [0] * len(alignments)
    lines = []
    while any(s < len(c) for s, c in zip(at, alignments, strict=True)):
        # the longest line that is not too wide in any of them, in letters consumed
        reach = min(
            counts[min(s + PER_LINE, len(counts) - 1)]
            for s, counts in zip(at, consumed, strict=True)
        )
        ends = [
            max(int(np.searchsorted(counts, reach, side="right")) - 1, s)
            for s, counts in zip(at, consumed, strict=True)
        ]
        if ends == at:
            ends = [len(c) for c in alignments]
        lines.append(list(zip(at, ends, strict=True)))
        at = ends
    return lines


def _draw_rows(ax, what, names, columns, agreed, y) -> None:
    """One alignment: two rows of letters from (0, y) on, names to their left."""
    letters = {"ha": "center", "va": "center_baseline", "family": "monospace"}
    label = {"ha": "right", "va": "center_baseline", "fontsize": 7.5}
    ax.text(-1.8 - max(map(len, names)), y + 0.65, what, color=INK, **label)
    for row, name in enumerate(names):
        place = (-0.8, y + 1.3 * row)
        ax.text(*place, name, color=GREY, family="monospace", **label, **PLAIN)
    for x, (top, bottom, pair) in enumerate(columns):
        if pair in agreed:
            ax.add_patch(_pyplot().Rectangle((x, y - 0.7), 1, 2.7, color=SHADE, lw=0))
        elif pair is not None:
            ax.plot([x + 0.5], [y + 0.65], ".", color=ORANGE, ms=2.5)
        color = GREY if pair is None else INK if pair in agreed else ORANGE
        weight = "normal" if pair is None or pair in agreed else "bold"
        for row, letter in enumerate((top, bottom)):
            place = (x + 0.5, y + 1.3 * row)
            ax.text(*place, letter, color=color, weight=weight, fontsize=7.5, **letters)


def _kinds(predicted: set, reference: set) -> list[str]:
    """What there is to explain, of the pairs of both."""
    there = (predicted & reference, predicted ^ reference)
    return [kind for kind, pairs in zip(("both", "one"), there, strict=True) if pairs]


def _legend_of_pairs(ax, kinds: list[str], y: float) -> None:
    """A line that explains shades and colours, as far as they occur."""
    texts = {"both": "in both", "one": "in one of the two only"}
    x, pyplot = 0.0, _pyplot()
    style = {"fontsize": 8, "color": INK, "va": "center_baseline"}
    for kind in kinds:
        letter = {"weight": "normal"} if kind == "both" else {"weight": "bold"}
        letter["color"] = INK if kind == "both" else ORANGE
        if kind == "both":
            ax.add_patch(pyplot.Rectangle((x, y - 0.7), 1.6, 1.4, color=SHADE, lw=0))
        look = style | letter | {"family": "monospace", "ha": "center"}
        ax.text(x + 0.8, y, "A", **look)
        ax.text(x + 2.2, y, f"pair {texts[kind]}", **style)
        x += 22.0
    ax.text(x, y, "- gap", **style | {"color": GREY})


def _found(predicted, reference) -> str:
    hits = len({*predicted} & {*reference})
    found, right = q_score(reference, predicted), pair_precision(reference, predicted)
    return (
        f"{hits} of {len(reference)} pairs found ({found:.0%}), "
        f"{right:.0%} of {len(predicted)} predicted are right"
    )


def plot_alignment_path(
    a: str,
    b: str,
    predicted: Iterable[tuple[int, int]],
    reference: Iterable[tuple[int, int]],
    scores: np.ndarray | None = None,
    names: tuple[str, str] = ("first sequence", "second sequence"),
    title: str | None = None,
    ax: Axes | None = None,
    path: str | os.PathLike | None = None,
) -> Figure:
    """Two alignments as paths through the table of all pairs of positions.

    Circles are pairs of the reference, dots those predicted: where they agree, the dot lies
    in its circle.

    Parameters
    ----------
    scores : array (len(a), len(b)) or None
        Shown behind, darker for larger: match scores, or posterior probabilities.
    Other parameters are as in :func:`plot_alignment`.
    """
    predicted = check_pairs(predicted, len(a), len(b))
    reference = check_pairs(reference, len(a), len(b))
    agreed = {*predicted} & {*reference}
    own = ax is None
    if ax is None:
        _, ax = _pyplot().subplots(figsize=(6.2, 5.6), layout="compressed")
    if scores is not None:
        scores = np.asarray(scores, dtype=float)
        if scores.shape != (len(a), len(b)):
            raise ValueError(
                f"scores have shape {scores.shape}, but the sequences have {len(a)} and "
                f"{len(b)} letters."
            )
        low, high = np.quantile(scores, [0.02, 0.995])
        high = high if high > low else float(scores.max())
        ax.imshow(scores, cmap="Greys", vmin=low, vmax=high + (high - low), alpha=0.8)
        ax.plot([], [], "s", color="#BBBBBB", ms=7, label="darker: higher scores")
    size = float(np.clip(500 / max(len(a), len(b)), 2.0, 9.0))
    ring = {"marker": "o", "mfc": "none", "ls": "none", "ms": size, "mew": 1.0}
    dots = {"marker": "o", "ls": "none", "ms": 0.5 * size}
    shown = (
        (reference, {"color": INK, "label": "reference", **ring}),
        (sorted(agreed), {"color": BLUE, "label": "predicted, right", **dots}),
        (
            [pair for pair in predicted if pair not in agreed],
            {"color": ORANGE, "label": "predicted, wrong", **dots, "marker": "s"},
        ),
    )
    for pairs, style in shown:
        if not pairs:
            continue
        ax.plot([j for _, j in pairs], [i for i, _ in pairs], **style)
    ax.set_xlim(-1, len(b))
    ax.set_ylim(len(a), -1)
    ax.set_aspect("equal")
    ax.set_ylabel(f"position in {names[0]}", **PLAIN)
    ax.set_xlabel(f"position in {names[1]}", **PLAIN)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper right", fontsize=8, framealpha=0.9, edgecolor="none")
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(
        title or _found(predicted, reference), loc="left", fontsize=11, **PLAIN
    )
    return finish(ax.figure, own, path)
