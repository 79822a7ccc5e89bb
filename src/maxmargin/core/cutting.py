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

Pieces to train on side by side are dealt like cards (:func:`deal`), if no field is cut by
a function. What stands together in a file is alike, and pieces that are not like the whole
pull the weights to and fro between them, for many more rounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

EXAMPLE = "example"
SHORT_RUN = 16  # examples that stay together: neighbours share features
MANY_RUNS = 64  # of a piece: so many are like the whole
MOST_RUNS = 256  # more would be slow to join
RULE = re.compile(r"(?P<columns>:, )?(?P<by>[\w.]+)(?: (?P<sign>[+*]) (?P<many>\d+))?")


def cut_by(**rules: str | Callable) -> Mapping[str, str | Callable]:
    """The rules of a class, by field."""
    for name, rule in rules.items():
        if not callable(rule) and not RULE.fullmatch(rule):
            raise ValueError(f"{name}={rule!r} does not say how a field is cut.")
    return MappingProxyType(rules)


def can_cut(batch: Any) -> bool:
    """Whether :func:`cut` can cut it: tuples by ``cuts``, objects by ``piece``."""
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
        return batch.piece(np.arange(lo, hi))
    return _cut(batch, int(lo), int(hi))


def owned(batch: Any) -> Any:
    """The same batch without ties to others, to be sent elsewhere.

    Arrays are contiguous, and copies unless they were made for this piece. Of tables that
    pieces share, a class whose method ``compact()`` says how keeps what the piece needs.
    """
    if isinstance(batch, np.ndarray):
        return np.array(batch, order="C")
    if not isinstance(batch, tuple):
        return batch
    if hasattr(batch, "compact"):
        batch = batch.compact()
    fields = batch._asdict() if hasattr(batch, "_fields") else dict(enumerate(batch))
    made = {name for name in getattr(type(batch), "cuts", ()) if _is_own(fields[name])}
    return type(batch)(*(v if k in made else owned(v) for k, v in fields.items()))


def _is_own(array: Any) -> bool:
    """Whether it was made for a piece: others are views."""
    plain = isinstance(array, np.ndarray) and array.base is None
    return plain and array.flags.c_contiguous


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


def deal(batch: Any, shards: int) -> list[tuple[Any, np.ndarray]]:
    """About so many pieces with equal numbers of slots, and the examples of each.

    Each has runs of neighbours from everywhere, in their order; the same in every process.
    """
    n = len(batch.start) - 1
    if shards == 1 or not _can_join(batch):
        pairs = pairwise(edges(batch, shards))
        return [(cut(batch, lo, hi), np.arange(lo, hi)) for lo, hi in pairs]
    longest = max(SHORT_RUN, n // (MOST_RUNS * shards))
    size = int(np.clip(n // (MANY_RUNS * shards), 1, longest))
    first = np.random.default_rng(0).permutation(np.arange(0, n, size))
    last = np.minimum(first + size, n)
    slots = batch.start[last] - batch.start[first]
    middle = np.cumsum(slots) - slots / 2
    inner = np.linspace(0, slots.sum(), shards + 1)[1:-1]
    dealt = []
    for runs in np.split(np.arange(len(first)), np.searchsorted(middle, inner)):
        ranges = sorted(zip(first[runs].tolist(), last[runs].tolist(), strict=True))
        if ranges:
            examples = np.concatenate([np.arange(lo, hi) for lo, hi in ranges])
            joined = isinstance(batch, tuple)
            piece = _join(batch, ranges) if joined else batch.piece(examples)
            dealt.append((piece, examples))
    return dealt


# by rules ------------------------------------------------------------------------------


def _can_join(batch) -> bool:
    """Whether pieces can be put together again: not where functions cut them."""
    return not isinstance(batch, tuple) or not any(
        callable(rule) or (isinstance(value, tuple) and not _can_join(value))
        for rule, value in ((r, getattr(batch, k)) for k, r in type(batch).cuts.items())
    )


def _join(batch, ranges):
    """The examples of some ranges as one batch."""
    cuts = type(batch).cuts
    offsets = _offsets(cuts)
    fields = {}
    for name, rule in cuts.items():
        value = getattr(batch, name)
        if isinstance(value, tuple):
            fields[name] = _join(value, ranges)
            continue
        found = [_range(batch, rule, lo, hi) for lo, hi in ranges]
        if RULE.fullmatch(rule)["columns"]:
            parts = [value[:, a:b] for a, b in found]
            fields[name] = np.concatenate(parts, axis=1)
        elif name not in offsets:
            fields[name] = np.concatenate([value[a:b] for a, b in found])
        elif len(value) > 1:
            lengths = np.concatenate([np.diff(value[a : b + 1]) for a, b in found])
            ends = np.cumsum(lengths, dtype=value.dtype)
            fields[name] = np.concatenate([value[:1] * 0, ends])
    return batch._replace(**fields)


def _offsets(cuts) -> set[str]:
    """The fields that others are cut by."""
    return {RULE.fullmatch(r)["by"] for r in cuts.values() if isinstance(r, str)}


def _cut(batch, lo, hi):
    cuts = type(batch).cuts
    offsets = _offsets(cuts)
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
