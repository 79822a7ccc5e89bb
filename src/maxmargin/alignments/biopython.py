"""Alignments of Biopython: read from its objects, and given back as such.

Its objects are known by their classes; it is imported when alignments are given back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.alignments.export import missing
from maxmargin.alignments.features.encoder import tracks_of
from maxmargin.alignments.files.pairs import gapped, without_gaps
from maxmargin.core.listed import is_pair, listed
from maxmargin.core.objects import is_from, letters_of, rows_of

if TYPE_CHECKING:
    from Bio.Align import Alignment

Rows = tuple[str, str]


def is_alignment(value: Any) -> bool:
    """Whether a value is an ``Alignment`` or a ``MultipleSeqAlignment`` of Biopython."""
    return is_from(value, "Bio", "Alignment", "MultipleSeqAlignment")


def two_sequences(alignment: Any, where: str) -> tuple[Any, Any]:
    """The two sequences of an alignment, without gaps, as they are kept in it."""
    _check_two(alignment, where)
    if is_from(alignment, "Bio", "Alignment"):
        a, b = (letters_of(x, where) for x in alignment.sequences)
    else:
        a, b = map(without_gaps, _rows(alignment, where))
    return a, b


def rows_or_pairs(alignment: Any, a: Any, b: Any, where: str) -> Any:
    """Two rows with gaps, or the matched pairs of a and b where the alignment has numbers.

    An ``Alignment`` holds whole sequences, which must be a and b; a
    ``MultipleSeqAlignment`` holds rows.
    """
    _check_two(alignment, where)
    if not is_from(alignment, "Bio", "Alignment"):
        return _rows(alignment, where)
    for name, kept, given in zip(
        ("first", "second"), two_sequences(alignment, where), (a, b), strict=True
    ):
        if "".join(kept) != "".join(given):
            raise ValueError(
                f"{where} is an Alignment whose {name} sequence is not that of X: give "
                "X the sequences that were aligned."
            )
    left, right = np.asarray(alignment.indices)
    both = (left >= 0) & (right >= 0)
    return list(zip(left[both].tolist(), right[both].tolist(), strict=True))


def _check_two(alignment: Any, where: str) -> None:
    n = len(alignment)
    if n != 2:
        raise ValueError(
            f"{where} must be an alignment of two rows, but it has {n}: of a larger one, "
            "alignment[:2] has the first two."
        )


def _rows(alignment: Any, where: str) -> Rows:
    a, b = (letters_of(record, where) for record in alignment)
    return a, b


# given back ---------------------------------------------------------------------------


def biopython_alignments(X: Any, y: Any) -> list[Alignment]:
    """Alignments as ``Bio.Align.Alignment``: print them, or write them in its formats.

    X holds pairs of sequences as for ``predict``, and y what it returns. Records keep
    their names.

    >>> from maxmargin.files import biopython_alignments
    >>> print(*biopython_alignments([("HEAG", "HEG")], [[(0, 0), (1, 1), (3, 2)]]))
    target            0 HEAG 4
                      0 ||-| 4
    query             0 HE-G 3
    <BLANKLINE>
    """
    try:
        from Bio.Align import Alignment as NewAlignment
    except ImportError:
        raise missing("Biopython", "biopython") from None
    X = listed(rows_of(X), "X must be a list of pairs of sequences, as for predict.")
    y = listed(y, "y must be a list of alignments, as predict returns them.")
    if len(X) != len(y):
        raise ValueError(
            f"X has {len(X)} samples, but y has {len(y)}: give what predict(X) returns."
        )
    found = []
    for i, (x, pairs) in enumerate(zip(X, y, strict=True)):
        if is_alignment(x):
            x = two_sequences(x, f"X[{i}]")
        if not is_pair(x):
            raise ValueError(f"X[{i}] is not a pair of sequences.")
        (first, a), (second, b) = (_kept(side, f"X[{i}]") for side in x)
        try:
            rows = gapped(a, b, pairs)
        except (TypeError, ValueError) as error:
            raise ValueError(f"y[{i}]: {error}") from None
        lines = [row.encode("ascii", "replace") for row in rows]
        corners = NewAlignment.parse_printed_alignment(lines)[1]
        found.append(NewAlignment([first, second], corners))
    return found


def _kept(sequence: Any, where: str) -> tuple[Any, str]:
    """(what Biopython can keep: a record, a Seq or a text; its letters)."""
    letters = letters_of(sequence, where)
    if letters is not sequence:
        return sequence, letters
    first = next(iter(tracks_of(sequence, where).values()))
    if not all(isinstance(x, str) and len(x) == 1 for x in first):
        raise ValueError(
            f"{where} has symbols of several letters: an alignment of Biopython has one "
            "letter at a position."
        )
    return "".join(first), "".join(first)
