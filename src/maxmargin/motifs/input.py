"""DNA and classes as the structure wants them; what cannot be used is named."""

from __future__ import annotations

import numbers

import numpy as np

from maxmargin.files.messages import short
from maxmargin.motifs.structure import UNKNOWN

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
    X = listed(X, "X", "DNA sequences")
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


def listed(values, name: str, what: str) -> list:
    """Values as a list; ValueError for a text, or what cannot be listed."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise ValueError(
            f"{name} is {short(str(values))}: give a list of {what}, also for one."
        )
    return list(values)


def two_classes(y, n: int, positive):
    """(both labels, negative one first; 0 or 1 of every sample)."""
    labels = [
        v.item() if isinstance(v, np.generic) else v for v in listed(y, "y", "labels")
    ]
    if len(labels) != n:
        raise ValueError(
            f"X has {n} sequences and y {len(labels)} labels: give one label each."
        )
    if n == 0:
        raise ValueError("X is empty: give sequences with the motif and without it.")
    for i, label in enumerate(labels):
        if not isinstance(label, (str, numbers.Real)) or label != label:
            raise ValueError(
                f"y[{i}] is {short(str(label))}: give every sequence one of two labels, "
                "such as True and False."
            )
        if isinstance(label, str) != isinstance(labels[0], str):
            raise ValueError(
                f"y[{i}] is {label!r}, but y[0] is {labels[0]!r}: labels must be all texts "
                "or all numbers."
            )
    classes = sorted(set(labels))
    if len(classes) != 2:
        shown = ", ".join(map(repr, classes[:4])) + (
            ", ..." if len(classes) > 4 else ""
        )
        raise ValueError(
            f"y holds {len(classes)} label{'' if len(classes) == 1 else 's'} ({shown}), "
            "but two are needed: one for sequences with the motif, one for those without."
        )
    if positive is not None:
        if positive not in classes:
            raise ValueError(
                f"positive={positive!r} is not a label of y, which has {classes[0]!r} and "
                f"{classes[1]!r}."
            )
        classes.sort(key=lambda label: label == positive)
    return np.array(classes), np.array([v == classes[1] for v in labels], np.uint8)
