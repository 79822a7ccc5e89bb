"""What a network reads of sequences, as arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Tokens(NamedTuple):
    """All tokens, sequence after sequence; what is not there is None or empty."""

    start: np.ndarray  # int64: sequence i is the tokens start[i]..start[i + 1]
    columns: tuple = ()  # of every column the numbers of its values, 0 if unknown
    spelled: Any = None  # (tokens,): the row of the spelling
    spellings: Any = None  # (words, characters): their numbers, 0 behind the last
    bag: Any = None  # TokenMatrix: features with values
    numbers: Any = None  # (tokens, width) float32
    words: Any = None  # a list of words per sequence, for pretrained models

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def sizes(self) -> np.ndarray:
        """Tokens of every sequence."""
        return np.diff(self.start)

    def places(self, sequences: np.ndarray) -> np.ndarray:
        """The tokens of these sequences, one after the other."""
        sizes = self.sizes[sequences]
        before = np.cumsum(sizes) - sizes
        return np.arange(sizes.sum()) + np.repeat(self.start[sequences] - before, sizes)


def nothing(n: int) -> Tokens:
    """So many sequences without tokens."""
    return Tokens(np.zeros(n + 1, np.int64))
