"""Pieces of a batch: some consecutive examples, as a batch of the same class.

    every function of the contract says of example i of cut(batch, lo, hi)
    what it says of example lo + i of the batch, bit for bit

A class of batches says in one attribute how its fields are cut, ``cuts``:

    class ChainBatch(NamedTuple):
        cuts = cut_by(
            start="example",    # offsets of slots, since others are cut by it
            y="start",          # example i has y[start[i] : start[i + 1]]
            indptr="start",     # offsets again, of the entries of a slot
            indices="indptr",
            values="indptr",
        )

A field is cut by ``"example"``, of which it has one item each, or by another field, which
then holds offsets: it has one number more than items, begins at 0, and those of a piece
begin at 0 again. Beyond that,

    "start + 1"     one item more in every example: offsets that begin anew in each
    "start * 2"     two items for one
    ":, start"      columns instead of rows; these are copied
    "pairs.start"   the offsets are a field of the tuple ``pairs``, which is cut too
    a function      (value, lo, hi) -> the value of the piece

A NamedTuple within a batch has ``cuts`` of its own and is cut by "example". Fields that
are not named belong to all examples: costs, sizes, bounds on lengths. Pieces share them,
so that buffers for one piece will do for all. Arrays of a piece are views of the whole,
also those that searches write into; :func:`owned` makes a piece stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

EXAMPLE = "example"
RULE = re.compile(r"(?P<columns>:, )?(?P<by>[\w.]+)(?: (?P<sign>[+*]) (?P<many>\d+))?")


def cut_by(**rules: str | Callable) -> Mapping[str, str | Callable]:
    """The rules of a class, by field."""
    for name, rule in rules.items():
        if not callable(rule) and not RULE.fullmatch(rule):
            raise ValueError(f"{name}={rule!r} does not say how a field is cut.")
    return MappingProxyType(rules)


def can_cut(batch: Any) -> bool:
    """Whether :func:`cut` can cut it: tuples by ``cuts``, objects by ``piece(lo, hi)``."""
    return hasattr(type(batch), "cuts" if isinstance(batch, tuple) else "piece")


def cut(batch: Any, lo: int, hi: int) -> Any:
    """The examples lo .. hi - 1 as a batch of the same class."""
    if not can_cut(batch):
        raise TypeError(
            f"{type(batch).__name__} does not say how it is cut into pieces: give the "
            "class an attribute cuts (docs/add-a-structure.md), or train without pieces."
        )
    n = len(batch.start) - 1
    if not 0 <= lo <= hi <= n:
        raise ValueError(f"examples {lo} .. {hi} are not among the {n} of the batch.")
    if not isinstance(batch, tuple):
        return batch.piece(lo, hi)
    return _cut(batch, int(lo), int(hi))


def owned(batch: Any) -> Any:
    """The same batch without ties to others, to be sent elsewhere or written to.

    Arrays are contiguous copies. Of tables that pieces share, a class whose method
    ``compact()`` says how keeps what the piece needs.
    """
    if isinstance(batch, np.ndarray):
        return np.array(batch, order="C")
    if not isinstance(batch, tuple):
        return batch
    if hasattr(batch, "compact"):
        batch = batch.compact()
    return type(batch)(*map(owned, batch))


def edges(batch: Any, shards: int) -> list[int]:
    """Where so many pieces with equal numbers of slots begin, and the end of the last.

    Pieces without examples are left out, so that there may be fewer.
    """
    start = batch.start
    inner = np.linspace(0, start[-1], shards + 1)[1:-1]
    found = np.searchsorted(start, inner)
    return np.unique([0, *found.tolist(), len(start) - 1]).tolist()


def pieces(batch: Any, shards: int) -> list:
    """The batch in such pieces."""
    return [cut(batch, lo, hi) for lo, hi in pairwise(edges(batch, shards))]


def runs(first: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers first[k] .. first[k] + lengths[k] - 1 of every k, one after the other."""
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(first - before, lengths)


# by rules ------------------------------------------------------------------------------


def _cut(batch, lo, hi):
    cuts = type(batch).cuts
    offsets = {RULE.fullmatch(r)["by"] for r in cuts.values() if isinstance(r, str)}
    fields = {}
    for name, rule in cuts.items():
        value = getattr(batch, name)
        if callable(rule):
            fields[name] = rule(value, lo, hi)
        elif isinstance(value, tuple):
            fields[name] = _cut(value, lo, hi)
        else:
            fields[name] = _sliced(batch, value, rule, lo, hi, name in offsets)
    return batch._replace(**fields)


def _sliced(batch, value, rule, lo, hi, is_offsets):
    a, b = _range(batch, rule, lo, hi)
    if RULE.fullmatch(rule)["columns"]:
        return np.ascontiguousarray(value[:, a:b])
    if not is_offsets:
        return value[a:b]
    if len(value) == 1:  # of a table that is empty in this batch
        return value
    return value[a : b + 1] - value[a] if value[a] else value[a : b + 1]


def _range(batch, rule, lo, hi) -> tuple[int, int]:
    """The items of the examples lo .. hi - 1 in a field with this rule."""
    words = RULE.fullmatch(rule)
    by, many = words["by"], int(words["many"] or 0)
    if by == EXAMPLE:
        return lo, hi
    *path, name = by.split(".")
    for part in path:
        batch = getattr(batch, part)
    value = getattr(batch, name)
    if len(value) == 1:
        return 0, 0
    a, b = _range(batch, type(batch).cuts[name], lo, hi)
    first, last = int(value[a]), int(value[b])
    if words["sign"] == "*":
        return many * first, many * last
    return first + many * a, last + many * b
