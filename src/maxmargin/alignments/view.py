"""Alignments in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from maxmargin.alignments.biopython import (
    is_alignment,
    rows_or_pairs,
    two_sequences,
)
from maxmargin.alignments.blocks import WIDTH, blocks, match_marks
from maxmargin.alignments.files.pairs import (
    PairAlignment,
    check_pairs,
    gapped,
    paired_columns,
    ungapped,
)
from maxmargin.core.checks import whole
from maxmargin.core.objects import letters_of
from maxmargin.views.view import View, about


def alignment(
    a: Any,
    b: Any,
    pairs: Iterable[tuple[int, int]],
    truth: Iterable[tuple[int, int]] | None = None,
    names: tuple[str, str] = ("a", "b"),
    width: int = WIDTH,
) -> View:
    """Two aligned sequences in blocks: ``|`` for equal letters, ``:`` for others.

    With ``truth``, correct pairs are filled in blue and wrong ones in orange, and the true
    alignment follows.

    Parameters
    ----------
    a, b : texts, or dicts of tracks, of which the first is shown
    pairs, truth : matched pairs (i, j), as ``predict`` returns them

    >>> from maxmargin.views import alignment
    >>> alignment("HEAG", "HEG", [(0, 0), (1, 1), (3, 2)])
    HEAG
    || |
    HE-G
    """
    a, b = _letters(a, "a"), _letters(b, "b")
    width = whole("width", width)
    pairs = check_pairs(pairs, len(a), len(b))
    true = None if truth is None else check_pairs(truth, len(a), len(b))
    right = set(pairs) if true is None else set(true)
    body, text = _drawn(a, b, pairs, right if true is not None else None, names, width)
    if true is not None:
        hits = len(right & set(pairs))
        says = f"{hits} of {len(true)} true pairs found"
        wrong = len(pairs) - hits
        body += about(f"{says}; {wrong} of {len(pairs)} predicted are wrong (orange).")
        if wrong or hits < len(true):
            body += about("True:") + _drawn(a, b, true, set(pairs), names, width)[0]
    return View(body, text)


def shown(x: Any, pairs: Any, truth: Any = None, **options: Any) -> View:
    """What an aligner predicts of a pair; the truth as pairs, rows or an Alignment."""
    a, b = two_sequences(x, "x") if is_alignment(x) else x
    if is_alignment(truth):
        truth = rows_or_pairs(truth, _letters(a, "a"), _letters(b, "b"), "y")
    if isinstance(truth, PairAlignment):
        truth = truth.pairs
    elif truth is not None and len(truth) == 2 and isinstance(truth[0], str):
        truth = ungapped(*truth)[2]
    return alignment(a, b, pairs, truth, **options)


def _drawn(a, b, pairs, agreed, names, width) -> tuple[str, str]:
    """(blocks, rows as text); filled by whether pairs are among the agreed ones."""
    rows = gapped(a, b, pairs)
    matched = [pair for _, _, pair in paired_columns(a, b, pairs)]
    kinds = None
    if agreed is not None:
        kinds = [
            "" if p is None else "right" if p in agreed else "wrong" for p in matched
        ]
    marks = match_marks(*rows, [pair is not None for pair in matched])
    drawn = blocks(rows, names, marks, kinds, width)
    return drawn, "\n".join([rows[0], marks, rows[1]])


def _letters(sequence: Any, name: str) -> str:
    sequence = letters_of(sequence, name)
    if isinstance(sequence, Mapping):
        texts = [value for value in sequence.values() if isinstance(value, str)]
        sequence = texts[0] if texts else sequence
    if not isinstance(sequence, str):
        raise ValueError(
            f"{name} is {type(sequence).__name__}: give its letters as a text."
        )
    return sequence
