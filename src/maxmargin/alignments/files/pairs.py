"""Alignments of two or more sequences, as objects: who is matched with whom.

Position i of sequence a is *matched* with position j of sequence b. An alignment of two
sequences is its list of matched pairs (i, j), counted from 0; i and j both grow. All other
positions stand against gaps. The same alignment as two *rows* of equal length:

    pairs [(0, 0), (1, 1), (3, 2)] of  a = HEAG,  b = HEG      rows  HEAG
                                                                    HE-G

``fasta.py``, ``stockholm.py`` and ``pair_table.py`` beside this file read and write
these objects.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from maxmargin.alignments.blocks import blocks, match_marks
from maxmargin.views.view import View

Pairs = list[tuple[int, int]]

GAPS = "-."
UNKNOWN = "*"  # an annotation that is not known, in all tracks
_NOT_A_LETTER = re.compile(r"[^A-Za-z]")
_NOT_A_ROW = re.compile(r"[^A-Za-z.\-]")


@dataclass(frozen=True)
class PairAlignment:
    """Two sequences and their matched positions.

    ``tracks_a`` and ``tracks_b`` map names of annotations, such as "ss" for secondary
    structure, to strings as long as the sequences. ``core`` says of every matched pair
    whether it can be relied upon; None if that is not known of any. ``identity`` is the
    share of equal letters in per cent, nan if it was not stated.
    """

    name_a: str
    name_b: str
    a: str
    b: str
    pairs: Pairs
    tracks_a: dict[str, str] = field(default_factory=dict)
    tracks_b: dict[str, str] = field(default_factory=dict)
    core: list[bool] | None = None
    family: str = ""
    identity: float = float("nan")

    @property
    def rows(self) -> tuple[str, str]:
        """The two sequences with gaps, see :func:`gapped`."""
        return gapped(self.a, self.b, self.pairs)

    def _repr_html_(self) -> str:
        """In a notebook: both rows in blocks."""
        names = self.name_a or "a", self.name_b or "b"
        marks = match_marks(*self.rows, [x != "-" != z for x, z in zip(*self.rows)])  # noqa: B905
        return View(blocks(self.rows, names, marks))._repr_html_()


@dataclass(frozen=True)
class MultipleAlignment:
    """Rows of equal length with gaps ``-``, and annotations of rows and of columns."""

    name: str
    names: list[str]
    rows: list[str]
    tracks: list[dict[str, str]]  # of every row: name -> a character per column
    columns: dict[str, str]  # name -> a character per column

    def _repr_html_(self) -> str:
        """In a notebook: the rows in blocks."""
        return View(blocks(self.rows, self.names))._repr_html_()


# rows and pairs ----------------------------------------------------------------------


def gapped(a: str, b: str, pairs: Iterable[tuple[int, int]]) -> tuple[str, str]:
    """Two rows of equal length that show an alignment.

    Between two matches, letters of a that are not matched come before those of b.

    >>> gapped("HEAG", "HEG", [(0, 0), (1, 1), (3, 2)])
    ('HEAG', 'HE-G')
    """
    top, bottom = [], []
    i = j = 0
    for u, v in [*check_pairs(pairs, len(a), len(b)), (len(a), len(b))]:
        top += [a[i:u], "-" * (v - j), a[u : u + 1]]
        bottom += ["-" * (u - i), b[j:v], b[v : v + 1]]
        i, j = u + 1, v + 1
    return "".join(top), "".join(bottom)


def paired_columns(a: str, b: str, pairs: Pairs) -> list[tuple]:
    """(letter or -, letter or -, the pair if they are matched, or None) of every column."""
    made: list[tuple] = []
    i = j = 0
    for x, z in zip(*gapped(a, b, pairs), strict=True):
        made.append((x, z, (i, j) if x != "-" != z else None))
        i, j = i + (x != "-"), j + (z != "-")
    return made


def ungapped(row_a: str, row_b: str) -> tuple[str, str, Pairs]:
    """The inverse of :func:`gapped`: both sequences and their matched pairs.

    Gaps are - or . ; columns with two gaps are left out.

    >>> ungapped("HEAG", "HE-G")
    ('HEAG', 'HEG', [(0, 0), (1, 1), (3, 2)])
    """
    for which, row in (("first", row_a), ("second", row_b)):
        if not isinstance(row, str):
            raise ValueError(
                f"the {which} row is of type {type(row).__name__}, but it must be a "
                "string of letters and gaps."
            )
        check_letters(row, f"the {which} row", _NOT_A_ROW)
    if len(row_a) != len(row_b):
        raise ValueError(
            f"the rows have {len(row_a)} and {len(row_b)} columns: pad the shorter one "
            "with - so that both have as many."
        )
    return (
        without_gaps(row_a),
        without_gaps(row_b),
        [(i, j) for _, i, j in matches(row_a, row_b)],
    )


def check_pairs(pairs: Iterable, n: int, m: int) -> Pairs:
    """Matched pairs as a list of tuples of int; a sentence for what is no alignment."""
    checked: Pairs = []
    before = (-1, -1)
    for k, pair in enumerate(pairs):
        try:
            i, j = pair
            if not (
                isinstance(i, numbers.Integral) and isinstance(j, numbers.Integral)
            ):
                raise TypeError
        except (TypeError, ValueError):
            raise ValueError(
                f"pair {k} is {pair!r}, but it must be two positions (i, j)."
            ) from None
        if not (0 <= i < n and 0 <= j < m):  # type: ignore[operator]
            raise ValueError(
                f"pair {k} is ({i}, {j}), but the sequences have {n} and {m} positions, "
                "counted from 0."
            )
        if i <= before[0] or j <= before[1]:
            raise ValueError(
                f"pair {k} is ({i}, {j}) after {before}: both positions must grow from "
                "pair to pair."
            )
        before = (int(i), int(j))
        checked.append(before)
    return checked


def first_difference(a: Sequence, b: Sequence) -> int:
    """Where two sequences that are not equal differ, or one of them ends."""
    both = enumerate(zip(a, b, strict=False))
    return next((k for k, (x, y) in both if x != y), min(len(a), len(b)))


def check_letters(text: str, what: str, refused: re.Pattern = _NOT_A_LETTER) -> None:
    """Refuse what is no letter, with its place; ``what`` begins the sentence."""
    bad = refused.search(text)
    if bad:
        gaps = "" if refused is _NOT_A_LETTER else " or a gap (- or .)"
        raise ValueError(
            f"{what} has {bad.group()!r} at position {bad.start() + 1}, which is not a "
            f"letter from A to Z{gaps}."
        )


def check_row(text: str, what: str) -> None:
    """Refuse what is neither a letter nor a gap."""
    check_letters(text, what, _NOT_A_ROW)


def without_gaps(row: str) -> str:
    return row.replace("-", "").replace(".", "")


def matches(row_a: str, row_b: str) -> Iterable[tuple[int, int, int]]:
    """(column, i, j) of every column with two letters."""
    i = j = 0
    for column, (x, y) in enumerate(zip(row_a, row_b, strict=True)):
        if x not in GAPS and y not in GAPS:
            yield column, i, j
        i += x not in GAPS
        j += y not in GAPS


# annotations -------------------------------------------------------------------------


def pair_from_rows(
    row_a: str,
    row_b: str,
    tracks_a: dict[str, str],
    tracks_b: dict[str, str],
    core: str | None = None,
    **other,
) -> PairAlignment:
    """A PairAlignment from rows, and annotations of columns with a character for each.

    Of an annotation, the characters at the letters of its row are kept; one that is a gap
    character there is not known. ``core`` has 1 in the columns to be relied upon.
    """
    found = list(matches(row_a, row_b))
    other.setdefault("identity", identity(row_a, row_b))
    return PairAlignment(
        a=without_gaps(row_a),
        b=without_gaps(row_b),
        pairs=[(i, j) for _, i, j in found],
        tracks_a={name: _at_letters(row_a, t) for name, t in tracks_a.items()},
        tracks_b={name: _at_letters(row_b, t) for name, t in tracks_b.items()},
        core=None if core is None else [core[column] == "1" for column, _, _ in found],
        **other,
    )


def as_row(row: str, track: str, at_gaps: str = ".") -> str:
    """Annotations of letters as a string with a character per column of the row."""
    following = iter(track)
    return "".join(at_gaps if x in GAPS else next(following) for x in row)


def _at_letters(row: str, track: str) -> str:
    kept = "".join(t for x, t in zip(row, track, strict=True) if x not in GAPS)
    return kept.replace(".", UNKNOWN).replace("-", UNKNOWN)


def identity(row_a: str, row_b: str) -> float:
    """Equal letters in per cent of all matched pairs; nan if there are none."""
    found = [row_a[column] == row_b[column] for column, _, _ in matches(row_a, row_b)]
    return 100.0 * sum(found) / len(found) if found else float("nan")


def pairs_of(alignment: MultipleAlignment) -> list[PairAlignment]:
    """All pairs of rows of a multiple alignment, in the order of the rows.

    The columns named "core" become the mask of pairs to rely upon; the family is the name
    of the alignment.
    """
    return [
        pair_from_rows(
            alignment.rows[p],
            alignment.rows[q],
            alignment.tracks[p],
            alignment.tracks[q],
            alignment.columns.get("core"),
            name_a=alignment.names[p],
            name_b=alignment.names[q],
            family=alignment.name,
        )
        for p, q in combinations(range(len(alignment.rows)), 2)
    ]


def multiple_alignment(
    names: Sequence[str], rows: Sequence[str], name: str = ""
) -> MultipleAlignment:
    """Rows as a multiple alignment without annotations; their lengths must be equal."""
    if len({*names}) < len(names):
        twice = next(n for k, n in enumerate(names) if n in names[:k])
        raise ValueError(f"two rows have the name {twice!r}: give every row its own.")
    for which, row in zip(names, rows, strict=True):
        check_row(row, f"row {which!r}")
        if len(row) != len(rows[0]):
            raise ValueError(
                f"row {which!r} has {len(row)} columns, but row {names[0]!r} has "
                f"{len(rows[0])}: all rows of an alignment must be equally long."
            )
    plain = [row.replace(".", "-").upper() for row in rows]
    return MultipleAlignment(name, list(names), plain, [{} for _ in rows], {})
