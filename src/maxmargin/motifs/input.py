"""DNA as the structure wants it; what cannot be used is named."""

from __future__ import annotations

import numpy as np

from maxmargin.core.objects import is_frame, letters_of
from maxmargin.files.messages import short
from maxmargin.motifs.composition import UNKNOWN

LETTERS = "ACGT"
_CODES = np.full(256, 255, np.uint8)
for _code, _letter in enumerate(LETTERS):
    _CODES[[ord(_letter), ord(_letter.lower())]] = _code
_CODES[[ord("U"), ord("u")]] = LETTERS.index("T")
_AMBIGUOUS = np.zeros(256, bool)
_AMBIGUOUS[[ord(c) for c in "RYSWKMBDHVNryswkmbdhvn"]] = True


def encode_sequences(X, unknown: str, width: int, name="X[{}]".format):
    """(codes of all letters, where sequences begin): sequences of ``width`` or more.

    ``name(i)`` is what messages call a sequence.
    """
    X = dna_sequences(X, name)
    texts = []
    for i, x in enumerate(X):
        if not isinstance(x, str):
            raise ValueError(
                f"{name(i)} is {short(str(x))}, not a text: give DNA sequences such as "
                "'ACGT'."
            )
        if len(x) < width:
            raise ValueError(
                f"{name(i)} has {len(x)} letters, fewer than the motif (width {width}): "
                "leave it out, or choose a smaller width."
            )
        # one byte per letter; what is no letter at all becomes "?"
        texts.append(x.encode("ascii", "replace"))
    raw = np.frombuffer(b"".join(texts), np.uint8)
    first = np.concatenate([[0], np.cumsum([len(t) for t in texts])]).astype(np.int64)
    codes = _CODES[raw]
    bad = codes == 255
    if unknown == "skip":
        codes[_AMBIGUOUS[raw]] = UNKNOWN
        bad = codes == 255
    if bad.any():
        at = int(np.argmax(bad))
        i = int(np.searchsorted(first, at, side="right")) - 1
        letter, place = X[i][at - first[i]], at - first[i] + 1
        advice = "leave the sequence out, or cut it there"
        if _AMBIGUOUS[raw[at]]:
            advice = f"{advice}, or choose unknown='skip'"
        raise ValueError(
            f"{name(i)} has {letter!r} at position {place}, which is not one of the "
            f"letters {', '.join(LETTERS)}: {advice}."
        )
    return codes, first


def dna_sequences(X, name="X[{}]".format) -> list:
    """X as a list, whose sequences of Biopython are texts."""
    if is_frame(X):
        raise ValueError(
            "X is a data frame: give the column of its sequences, as in frame['sequence']."
        )
    sequences = listed(letters_of(X, "X"), "X", "DNA sequences")
    return [letters_of(x, name(i)) for i, x in enumerate(sequences)]


def listed(values, name: str, what: str) -> list:
    """Values as a list; ValueError for a text, or what cannot be listed."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise ValueError(
            f"{name} is {short(str(values))}: give a list of {what}, also for one."
        )
    return list(values)
