"""Pairs of sequences as the kernels of alignment read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.alignments.scores import Side, Terms, parts, views_of
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import inlined
from maxmargin.core.partial import with_known
from maxmargin.core.tables.arrays import runs


class AlignmentBatch(NamedTuple):
    """Pairs of sequences with their reference alignments."""

    cuts = cut_by(
        start="example",
        y="start",
        s="example",
        t="example",
        norm="example",
        partner="t.start",
        judged="start",
        counted="example",
    )

    start: np.ndarray  # s.start
    y: np.ndarray
    s: Side
    t: Side
    terms: Terms
    norm: np.ndarray  # [N]: by what features are multiplied
    partner: np.ndarray  # int32[positions of t]: of the reference if it counts, or -1
    judged: np.ndarray  # uint8[slots]: where a wrong pair costs (hamming)
    counted: np.ndarray  # int64[N]: M
    shift: int
    hamming: int
    free_s: int
    free_t: int
    least: float
    size: int  # of the largest theta
    entries: int  # of the longest list of features

    def compact(self):
        """With the codes of its own sequences alone."""
        terms = self.terms
        group = np.repeat(np.arange(len(terms.groups) - 1), np.diff(terms.groups))
        dense = terms.dense.copy()
        s, s_codes = _own_codes(self.s, group, terms.s_codes, dense[:, 0])
        t, t_codes = _own_codes(self.t, group, terms.t_codes, dense[:, 1])
        terms = terms._replace(s_codes=s_codes, t_codes=t_codes, dense=dense)
        return self._replace(s=s, t=t, terms=terms)


def _own_codes(side, group, begin, dense):
    """(the side, where codes of terms begin); those over vectors are changed in place."""
    some = dense >= 0
    group = np.append(group, np.zeros(some.sum(), np.int64))
    first = side.first[:, 0][group]
    lengths = side.first[:, -1][group] - first
    codes = side.codes[runs(np.append(begin, dense[some]) + first, lengths)]
    at = np.cumsum(lengths) - lengths
    dense[some] = at[len(begin) :]
    side = side._replace(codes=codes, first=side.first - side.first[:, :1])
    return side, at[: len(begin)]


def reference(s_start, t_start, y, counts) -> dict:
    """What losses know of the reference y, whose pairs count where ``counts`` says so."""
    owner = np.repeat(np.arange(len(s_start) - 1), np.diff(s_start))
    matched = (y >= 0) & counts
    partner = np.full(t_start[-1], -1, np.int32)
    at = np.flatnonzero(matched)
    partner[t_start[owner[at]] + y[at]] = at - s_start[owner[at]]
    # a wrong pair costs where a pair that counts should be, or anywhere if all count
    judged = matched | counts.all()
    counted = np.bincount(owner[at], minlength=len(s_start) - 1)
    return {
        "partner": partner,
        "judged": judged.astype(np.uint8),
        "counted": counted.astype(np.int64),
    }


def completed(batch, y):
    """The batch with other truths, in which all pairs count."""
    found = reference(batch.start, batch.t.start, y, np.ones(len(y), bool))
    least = 1.0 if batch.hamming else 1.0 / max(found["counted"].max(initial=1), 1)
    return batch._replace(y=y, least=float(least), **found)


PartialAlignmentBatch = with_known(AlignmentBatch, completed)


def make_batch(s, t, terms, y, norm, counts, loss, free, entries) -> AlignmentBatch:
    """A batch of encoded sequences.

    ``counts`` says of every slot whether its reference pair counts, ``loss`` is the
    shift or "hamming", ``free`` the pair (free_s, free_t), ``entries`` the numbers of
    features of a matched pair and of an opened run.
    """
    n, m = np.diff(s.start), np.diff(t.start)
    found = reference(s.start, t.start, y, counts)
    per_pair, per_run = entries
    fewest = np.minimum(n, m).max(initial=0)
    return AlignmentBatch(
        start=s.start,
        y=y,
        s=s,
        t=t,
        terms=terms,
        norm=norm,
        **found,
        shift=0 if loss == "hamming" else int(loss),
        hamming=int(loss == "hamming"),
        free_s=int(free[0]),
        free_t=int(free[1]),
        least=1.0
        if loss == "hamming"
        else 1.0 / max(found["counted"].max(initial=1), 1),
        size=int(parts(n, m).max(initial=1)),
        entries=int(fewest * per_pair + 2 * (fewest + 1) * per_run + 3),
    )


@inlined
def lengths(batch, i):
    return batch.start[i + 1] - batch.start[i], batch.t.start[i + 1] - batch.t.start[i]


@inlined
def parts_of(batch, i, theta):
    n, m = lengths(batch, i)
    return views_of(theta, n, m, batch.free_s, batch.free_t)
