"""Some sequences as the tensors that a network takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from maxmargin.neural.tokens import Tokens

AT_ONCE = 256  # sequences that prediction takes at a time
MOST_TOKENS = 16_384  # and tokens, unless one sequence has more


@dataclass(frozen=True)
class Batch:
    """The tokens of some sequences, one after the other."""

    lengths: list[int]
    columns: tuple = ()  # int64 (tokens,)
    words: Any = None  # (tokens,): rows of spellings
    spellings: Any = None  # int64 (distinct words, characters)
    bag: tuple = ()  # (features, offsets, values)
    numbers: Any = None  # float32 (tokens, width)
    texts: Any = None  # a list of words per sequence


def batch_of(tokens: Tokens, sequences: np.ndarray, device: Any) -> Batch:
    """These sequences, all of which have tokens."""
    places = tokens.places(sequences)

    def tensor(array: np.ndarray, dtype: Any = torch.int64) -> Any:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device, dtype)

    batch = Batch(tokens.sizes[sequences].tolist())
    columns = tuple(tensor(column[places]) for column in tokens.columns)
    batch = replace(batch, columns=columns)
    if tokens.spelled is not None:
        used, rows = np.unique(tokens.spelled[places], return_inverse=True)
        spellings = tokens.spellings[used]
        width = max(int((spellings != 0).any(axis=0).sum()), 1)
        batch = replace(
            batch, words=tensor(rows), spellings=tensor(spellings[:, :width])
        )
    if tokens.bag is not None:
        batch = replace(batch, bag=_bag(tokens.bag, places, tensor))
    if tokens.numbers is not None:
        batch = replace(batch, numbers=tensor(tokens.numbers[places], torch.float32))
    if tokens.words is not None:
        batch = replace(batch, texts=[tokens.words[i] for i in sequences.tolist()])
    return batch


def _bag(matrix: Any, places: np.ndarray, tensor: Any) -> tuple:
    """(features, where those of every token begin, values)."""
    sizes = np.diff(matrix.indptr)[places]
    before = np.cumsum(sizes) - sizes
    entries = np.arange(sizes.sum()) + np.repeat(matrix.indptr[places] - before, sizes)
    values = tensor(matrix.values[entries], torch.float32)
    return tensor(matrix.indices[entries]), tensor(before), values


def in_order(tokens: Tokens) -> Iterator[np.ndarray]:
    """The sequences that have tokens, those of about the same length together."""
    sizes = tokens.sizes
    order = np.argsort(sizes, kind="stable")
    order = order[sizes[order] > 0]
    begin = 0
    while begin < len(order):
        fits = np.cumsum(sizes[order[begin : begin + AT_ONCE]]) <= MOST_TOKENS
        count = max(int(fits.sum()), 1)
        yield order[begin : begin + count]
        begin += count
