"""Features as text, number:value, in increasing order of their numbers from 1."""

from __future__ import annotations

import re

import numpy as np

from maxmargin.files.messages import short

LARGEST = np.iinfo(np.int32).max  # scipy indexes columns with int32
_ANY = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(_ANY)
_PAIRS = re.compile(rb"(?:[ \t]*+\d{1,18}:" + _ANY + rb"(?![^ \t]))*+[ \t]*")


def all_pairs(text: bytes, indptr: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(features, values) of lines that were joined, without Python code per feature.

    ``indptr`` says where those of each line begin. None if anything is unusual.
    """
    if not _PAIRS.fullmatch(text):
        return None
    numbers = np.fromstring(text.replace(b":", b" "), np.float64, sep=" ")
    features, values = numbers[::2].astype(np.int64), numbers[1::2].copy()
    if len(values) != indptr[-1]:
        return None
    grows = np.diff(features, prepend=0) > 0
    grows[indptr[:-1][np.diff(indptr) > 0]] = True  # the first feature of a line
    good = grows.all() and np.isfinite(values).all() and features.min(initial=1) >= 1
    return (features, values) if good and features.max(initial=1) <= LARGEST else None


def pairs_of(cells: list[bytes]) -> list[tuple[int, float]]:
    """(feature, value) of the cells of one line; ValueError says what is wrong."""
    found: list[tuple[int, float]] = []
    for cell in cells:
        name, colon, number = cell.partition(b":")
        shown = short(cell.decode())
        if not colon or not name.isdigit():
            raise ValueError(
                f"{shown} is not a feature; features are written as number:value"
            )
        feature = int(name) if len(name) < 19 else LARGEST + 1
        if not 1 <= feature <= LARGEST:
            raise ValueError(
                f"the feature {short(name.decode())} is out of range; features are "
                f"numbered from 1 to {LARGEST}"
            )
        if number.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity"):
            raise ValueError(f"{shown} is not finite; values must be finite numbers")
        if not _NUMBER.fullmatch(number):
            raise ValueError(f"{shown}: {short(number.decode())} is not a number")
        value = float(number)
        if not np.isfinite(value):
            raise ValueError(f"{shown} is too large; values must be finite numbers")
        if found and feature <= found[-1][0]:
            raise ValueError(
                f"the feature {feature} comes after {found[-1][0]}; features must be in "
                f"increasing order, each at most once"
            )
        found.append((feature, value))
    return found
