"""Packing template lines into keys, and numbering the keys.

A view (lowercase, suffix, shape) is applied to the distinct words of a column, which
gives a table from word numbers to *value numbers*. The feature of a template line at
token t is then a tuple of value numbers, packed into one integer

    key = (v_1 * r_2 + v_2) * r_3 + v_3 ...        with v_i < r_i

and a table numbers the keys. If the product of the r_i passes 2**62, the keys of the
first few parts are numbered and their numbers take the place of v_1.

Values of parts that can make the same feature must have the same numbers. Such parts
share a *domain*: a dictionary of strings. Most domains belong to one view of one column.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from maxmargin.core.vectors import tally
from maxmargin.engine.threads import LONG, Team
from maxmargin.tags.features.input import Data
from maxmargin.tags.features.kernels import Table, combine
from maxmargin.tags.features.templates import Template
from maxmargin.tags.features.views import View
from maxmargin.waiting import counted

MAX_FEATURES = np.iinfo(np.int32).max
_KEY_LIMIT = 2**62


class Group(NamedTuple):
    """Template lines with the same text around their macros: they share features."""

    literals: tuple[str, ...]
    lines: list[int]  # places in template.features
    domains: list[int]  # one per part


class Domain(NamedTuple):
    """Parts whose values are numbered together."""

    sources: list[tuple[int, View]]  # columns and views
    left: int  # how far parts reach beyond the sentence
    right: int

    def markers(self) -> list[str]:
        """Values outside the sentence, which have the first numbers."""
        before = [f"_B-{k}" for k in range(1, self.left + 1)]
        return before + [f"_B+{k}" for k in range(1, self.right + 1)]


def make_plan(template: Template) -> tuple[list[Group], list[Domain]]:
    """Which lines share features, and which parts therefore share values."""
    lines: dict[tuple[str, ...], list[int]] = {}
    for k, feature in enumerate(template.features):
        lines.setdefault(feature.literals, []).append(k)
    # The sources that meet in one place of one group belong together, and so do those
    # that meet one of them elsewhere.
    owner: dict[tuple[int, View], int] = {}
    pools: dict[int, list[tuple[int, View]]] = {}
    for places in lines.values():
        for parts in zip(*(template.features[k].parts for k in places), strict=True):
            for part in parts:
                if (source := part[1:]) not in owner:
                    owner[source] = len(owner)
                    pools[owner[source]] = [source]
            for part in parts[1:]:
                a, b = sorted((owner[parts[0][1:]], owner[part[1:]]))
                if a != b:
                    owner.update((source, a) for source in pools[b])
                    pools[a] += pools.pop(b)
    number = {pool: k for k, pool in enumerate(pools)}
    reach = {pool: (0, 0) for pool in pools}
    for feature in template.features:
        for part in feature.parts:
            if not part.view.is_flag:
                left, right = reach[owner[part[1:]]]
                reach[owner[part[1:]]] = max(left, -part.row), max(right, part.row)
    groups = [
        Group(
            literals,
            places,
            [number[owner[p[1:]]] for p in template.features[places[0]].parts],
        )
        for literals, places in lines.items()
    ]
    return groups, [Domain(pools[pool], *reach[pool]) for pool in pools]


class Stage(NamedTuple):
    """Parts first .. stop - 1 of a group are packed into one key below `space`."""

    first: int
    stop: int
    space: int


def stages(radices: list[int], tables: list):
    """Cut the parts of a group so that keys stay below the limit.

    The numbers that the table of one stage gives are the first digit of the next, so
    `tables` must have that table when the next stage is asked for.
    """
    first = stop = k = 0
    while True:
        space = max(1, len(tables[k - 1])) if k else 1
        while stop < len(radices) and (
            stop == first or space * radices[stop] <= _KEY_LIMIT
        ):
            space *= max(1, radices[stop])
            stop += 1
        yield Stage(first, stop, space)
        if stop == len(radices):
            return
        first, k = stop, k + 1


class Numbers(NamedTuple):
    """The features of all tokens, line by line of the template."""

    lines: np.ndarray  # int32[lines, tokens], within the group of the line; -1 for none
    base: np.ndarray  # int64[lines], the first number of the group
    total: int  # of features
    renumber: np.ndarray = np.empty(0, np.int32)  # new numbers, unless it is empty


class Run(NamedTuple):
    """What numbering the features of some columns needs."""

    template: Template
    data: Data
    groups: list[Group]
    domains: list[Domain]
    indexes: list[dict[str, int]]
    maps: dict

    def _combine(self, keys, part, d: int, radix: int) -> None:
        left, right = 0, self.domains[d].left
        if part.view.is_flag:
            left = right = -1
        ids, table = self.data.ids[part.column], self.maps[part.column, part.view]
        combine(keys, ids, table, self.data.start, part.row, left, right, radix)

    def _empty(self) -> np.ndarray:
        return np.empty((len(self.template.features), self.data.n_tokens), np.int32)

    def number(self, tables, learn: bool, n_jobs: int = 1) -> Numbers:
        """The numbers of features by the tables of every group.

        Groups have nothing in common: threads take one after the other.
        """
        out, base, total = self._empty(), np.zeros(len(self.template.features), int), 0
        team = Team(n_jobs if out.size >= LONG else 1)
        parts = list(zip(self.groups, tables, strict=True))
        number = lambda _, pair: self._number(*pair, learn, out)  # noqa: E731
        with team.at_work(), counted(number, len(parts), lambda *_: 1) as number:
            team.run(number, parts, min(team.size, len(parts)))
        for group, own in zip(self.groups, tables, strict=True):
            base[group.lines] = total
            total += len(own[-1])
        if max(total, *(len(table) for own in tables for table in own)) > MAX_FEATURES:
            raise ValueError(
                f"there are more features than the {MAX_FEATURES} that int32 can "
                "index: use fewer template lines or hash_bits."
            )
        return Numbers(out, base, total)

    def _number(self, group: Group, own: list, learn: bool, out) -> None:
        """The numbers of one group."""
        radices = [len(self.indexes[d]) for d in group.domains]
        made = [] if learn else own
        for k, stage in enumerate(stages(radices, made)):
            if learn:
                made.append(Table(stage.space))
            for line in group.lines:
                keys = np.zeros(out.shape[1], np.int64)
                if k:
                    keys[:] = out[line]
                for i in range(stage.first, stage.stop):
                    part = self.template.features[line].parts[i]
                    self._combine(keys, part, group.domains[i], radices[i])
                made[k].assign(keys, learn, out[line])
            if learn:
                made[k].trim()
        own[:] = made

    def hash(self, bits: int) -> Numbers:
        """Hashes of the feature strings in place of numbers."""
        out = self._empty()
        hashes = [_hashes(index) for index in self.indexes]
        for group in self.groups:
            salt = _hashes(["\0".join(group.literals)])
            for line in group.lines:
                key = np.repeat(salt, out.shape[1])
                missing = np.zeros(out.shape[1], bool)
                for part, d in zip(
                    self.template.features[line].parts, group.domains, strict=True
                ):
                    value = np.zeros(out.shape[1], np.int64)
                    self._combine(value, part, d, 1)
                    missing |= value < 0
                    if len(hashes[d]):
                        key = _mix(key ^ hashes[d][value])
                key = (_mix(key) >> np.uint64(64 - bits)).astype(np.int32)
                key[missing] = -1
                out[line] = key
        return Numbers(out, np.zeros(len(out), int), 2**bits)


def drop_rare(found: Numbers, tables, min_count: int) -> Numbers:
    """New numbers of features without those seen too rarely."""
    if min_count == 1:
        return found
    counts = np.zeros(found.total, np.int64)
    for line, base in zip(found.lines, found.base.tolist(), strict=True):
        tally(line, counts[base:])
    keep = counts >= min_count
    base = 0
    for own in tables:
        size = len(own[-1])
        own[-1].trim(keep[base : base + size])
        base += size
    renumber = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int32)
    return found._replace(total=int(keep.sum()), renumber=renumber)


def names(
    group: Group, tables: list, strings: list[list[str]], pattern: str | None = None
) -> list[str]:
    """The features of a group as strings, by number; a pattern has %s for each value."""
    radices = [len(strings[d]) for d in group.domains]
    keys = tables[-1].keys
    columns: list = [None] * len(radices)
    for k, stage in reversed(list(enumerate(stages(radices, tables)))):
        for i in reversed(range(stage.first, stage.stop)):
            words = strings[group.domains[i]]
            keys, digits = np.divmod(keys, max(1, radices[i]))
            columns[i] = [words[v] for v in digits.tolist()]
        if k:
            keys = tables[k - 1].keys[keys]
    if not columns:
        return [pattern or group.literals[0]] * len(keys)
    if pattern is None:
        pattern = "%s".join(literal.replace("%", "%%") for literal in group.literals)
    return [pattern % values for values in zip(*columns, strict=True)]


def _hashes(strings) -> np.ndarray:
    """64 bits of every string, the same on every machine."""
    return np.array(
        [
            int.from_bytes(
                hashlib.blake2b(
                    s.encode("utf-8", "surrogatepass"), digest_size=8
                ).digest(),
                "little",
            )
            for s in strings
        ],
        np.uint64,
    )


def _mix(h: np.ndarray) -> np.ndarray:
    """A bijection of 64 bits in which every bit of h moves all bits (splitmix64)."""
    h = h + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))
