"""Vectors as text: features number:value, in increasing order of their numbers from 1.

The formats of SVM-light, LIBSVM, SVM-hmm and LETOR have such features behind other cells.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.files.messages import short

if TYPE_CHECKING:
    import scipy.sparse as sp

LARGEST = np.iinfo(np.int32).max  # scipy indexes columns with int32
_ANY = rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(_ANY)
_PAIRS = re.compile(rb"(?:[ \t]*+\d{1,18}:" + _ANY + rb"(?![^ \t]))*+[ \t]*")


class Rows(NamedTuple):
    """The vectors of a text, or of a piece of it, one per line."""

    labels: list  # what stands before the features
    lines: list[int]  # numbers of the lines in the file, from 1
    indptr: np.ndarray  # int64
    indices: np.ndarray  # int32, from 0
    values: np.ndarray  # float64
    path: str

    def where(self, i: int) -> str:
        return f"{self.path}, line {self.lines[i]}"

    @property
    def width(self) -> int:
        return int(self.indices.max(initial=-1)) + 1

    def matrix(self, n_features: int | None, what: str) -> sp.csr_matrix:
        """All of them, as wide as a model wants; ``what`` there is where features lack."""
        if n_features is not None:
            self.check_width(n_features)
        elif self.width == 0:
            raise ValueError(f"{self.path} has no features at all: {what} only.")
        shape = len(self.lines), n_features or self.width
        return sp.csr_matrix((self.values, self.indices, self.indptr), shape=shape)

    def check_width(self, n_features: int) -> None:
        """Refuse features that a model does not know."""
        if self.width > n_features:
            at = int(self.indices.argmax())
            row = int(np.searchsorted(self.indptr, at, side="right")) - 1
            raise ValueError(
                f"{self.where(row)}: there is a feature {self.width}, but the model knows "
                f"only {n_features}."
            )


def rows_of(labels: list, lines: list[int], bodies: list[bytes], path: str) -> Rows:
    """The features of lines, all at once; line by line if one is wrong, to say where."""
    indptr = np.cumsum([0, *(body.count(b":") for body in bodies)], dtype=np.int64)
    found = all_pairs(b" ".join(bodies), indptr)
    if found is None:
        found = _pairs_by_line(bodies, lines, path)
    return Rows(labels, lines, indptr, (found[0] - 1).astype(np.int32), found[1], path)


def _pairs_by_line(bodies: list[bytes], lines: list[int], path: str) -> tuple:
    features: list[int] = []
    values: list[float] = []
    for line, body in zip(lines, bodies, strict=True):
        try:
            found = pairs_of(body.split())
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}.") from None
        features.extend(feature for feature, _ in found)
        values.extend(value for _, value in found)
    return np.array(features, np.int64), np.array(values, np.float64)


def number_text(value: float) -> str:
    """The shortest text that is read back as the same number."""
    return repr(float(value)).removesuffix(".0")


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
