"""What a model file says of a model, believed only as far as it is checked.

A file with a right checksum may still hold anything. What kernels use as an index, a size
or a count is compared with what is there, and numbers are bounded, so that no sum of them
overflows: every check here raises ValueError with a sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

# Weights of double and single precision that training can find are far below; sums of
# as many as a machine can hold, times features, stay finite.
LARGEST = {8: 1e100, 4: 1e20}


class Saved:
    """The arrays and the state of a model, by name."""

    def __init__(self, arrays: Mapping[str, np.ndarray], state: Any):
        if type(state) is not dict:
            raise ValueError("its state is not a dict")
        self.arrays, self.state = arrays, state

    def part(self, name: str) -> Saved:
        """The arrays ``name.*`` and the state of that name."""
        start = f"{name}."
        return Saved(
            {
                key.removeprefix(start): array
                for key, array in self.arrays.items()
                if key.startswith(start)
            },
            self.value(name, dict),
        )

    def value(self, name: str, *kinds: type) -> Any:
        """A value that is exactly of one of these types."""
        if name not in self.state:
            raise ValueError(f"{name!r} is missing")
        value = self.state[name]
        if type(value) not in kinds:
            raise ValueError(f"{name!r} is of type {type(value).__name__}")
        return value

    def whole(self, name: str, low: int = 0, high: int = 2**53) -> int:
        value = self.value(name, int)
        if not low <= value <= high:
            raise ValueError(f"{name!r} is {value}, out of range")
        return value

    def number(self, name: str) -> float:
        value = self.value(name, float)
        if not abs(value) <= LARGEST[8]:
            raise ValueError(f"{name!r} is {value}, out of range")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of strings that are all different."""
        return distinct(self.value(name, list), name, str)

    def labels(self, name: str) -> np.ndarray:
        """A 1-D array of labels that are all different."""
        labels = self.value(name, np.ndarray)
        if labels.ndim != 1 or labels.dtype.kind not in "biufUO":
            raise ValueError(f"{name!r} is not a list of labels")
        distinct(labels.tolist(), name, str, int, float, np.generic)
        return labels

    def floats(
        self, name: str, *shape: int | None, low: float = -math.inf, dtype=None
    ) -> np.ndarray:
        """Numbers of this shape (None: any size), none too large to be added up."""
        array = self.array(name, "f", *shape, dtype=dtype)
        if array.itemsize not in LARGEST:
            raise ValueError(f"the array {name!r} is of type {array.dtype}")
        limit = LARGEST[array.itemsize]
        if not (np.abs(array) <= limit).all() or (array < low).any():
            raise ValueError(f"the array {name!r} has numbers out of range")
        return array

    def integers(
        self, name: str, *shape: int | None, low: int = 0, high: int, dtype=np.int64
    ) -> np.ndarray:
        array = self.array(name, "i", *shape, dtype=dtype)
        if array.size and not low <= array.min() <= array.max() <= high:
            raise ValueError(f"the array {name!r} has numbers out of range")
        return array

    def array(self, name: str, kind: str, *shape: int | None, dtype=None):
        array = self.arrays.get(name)
        if array is None:
            raise ValueError(f"the array {name!r} is missing")
        if array.dtype.kind != kind or (dtype is not None and array.dtype != dtype):
            raise ValueError(f"the array {name!r} is of type {array.dtype}")
        if array.ndim != len(shape) or any(
            wanted not in (None, size)
            for wanted, size in zip(shape, array.shape, strict=True)
        ):
            raise ValueError(
                f"the array {name!r} has shape {array.shape} and does not fit the rest"
            )
        return array


def distinct(values: list, name: str, *kinds: type) -> list:
    """Check that values are a list of these types, all different."""
    if type(values) is not list or not all(isinstance(v, kinds) for v in values):
        raise ValueError(f"{name!r} is not a list of {kinds[0].__name__}")
    if len(set(values)) < len(values):
        raise ValueError(f"{name!r} has a value twice")
    return values
