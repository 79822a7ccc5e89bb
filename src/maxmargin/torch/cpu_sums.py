"""Sums and searches of chains on the CPU: tensors in, tensors out, without gradients."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import torch

from maxmargin.core.vectors import padded_width
from maxmargin.torch import chain_kernels as kernels

TOGETHER = 12_000  # emissions from which products of matrices are faster
# by how much scores may differ for probabilities in this precision
SPREAD = {torch.float32: 40.0, torch.float64: 300.0}


class Kept(NamedTuple):
    """What pair counts are made of."""

    before: Any
    weighted: Any
    step: Any
    far: Any  # sequences whose sums needed log space, and their pairs
    rows: Any  # where places begin, and the sequences of rows


def expectations(emissions, offsets, transitions, first, last):
    """(log Z (B,), marginals (N, K), what :func:`pair_counts` needs).

    emissions (N, K) of all sequences one after the other, from offsets[i] to
    offsets[i + 1] (int64); float32 or float64. Sequences without tokens have log Z = 0.
    """
    if emissions.numel() >= max(TOGETHER, 1):
        found = _together(emissions, offsets, transitions, first, last)
        if found is not None:
            return found
    return _each(emissions, offsets, transitions, first, last)


def pair_counts(kept: Kept, weights):
    """(K, K): expected transitions of all sequences, each times its weight."""
    if kept.rows is not None:
        return _pairs_together(kept, weights)
    before, weighted, step, start = kept.before, kept.weighted, kept.step, kept.far[0]
    pairs, n = np.zeros(step.shape), len(step)
    weights = weights.detach().to(torch.float64).numpy()
    kernels.count_pairs(before, weighted, step, start, weights, pairs)
    out = pairs[:, :n]
    for i, more in kept.far[1].items():
        out = out + weights[i] * more
    return torch.from_numpy(np.ascontiguousarray(out))


def _pairs_together(kept: Kept, weights):
    at, owner = kept.rows
    second, step = int(at[1]), torch.from_numpy(kept.step)
    left, right = kept.before, kept.weighted[second:]
    if at[-1] == at[1] * (len(at) - 1):  # all sequences are as long
        left = left[: len(right)]
    else:
        sizes = np.diff(at)
        ahead = np.arange(at[1], at[-1]) - np.repeat(sizes[:-1], sizes[1:])
        left = left.index_select(0, torch.from_numpy(ahead))
    weights = weights.detach().to(step.dtype)
    with torch.autocast("cpu", enabled=False):  # it would multiply in half precision
        if (weights == weights[0]).all():
            return step * (left.T @ right) * weights[0]
        return step * (left.T @ (right * weights[owner[second:]][:, None]))


def score(emissions, labels, offsets, *tables):
    """The scores of labels (B,)."""
    values = np.zeros(len(offsets) - 1)
    tables = [table.numpy() for table in tables]
    given = emissions.numpy(), labels.numpy(), offsets.numpy()
    kernels.score_labels(*given, *tables, values)
    return torch.from_numpy(values)


def subtract(labels, offsets, weights, tokens, pairs):
    """Take labels, times the weights of their sequences, from what is expected."""
    weights = weights.detach().to(torch.float64).numpy()
    given = labels.numpy(), offsets.numpy(), weights
    kernels.subtract_labels(*given, tokens.numpy(), pairs.numpy())


def ends(offsets, tokens):
    """The rows of first tokens added up, and those of last ones."""
    found = np.empty((2, tokens.shape[1]), tokens.numpy().dtype)
    kernels.sum_ends(offsets.numpy(), tokens.numpy(), found[0], found[1])
    return torch.from_numpy(found).unbind()


def viterbi(emissions, offsets, transitions, first, last):
    """(labels (N,) int32, their scores (B,)): the best labels of every sequence."""
    real = emissions.numpy().dtype
    labels = np.zeros(len(emissions), np.int32)
    values = np.zeros(len(offsets) - 1, real)
    table = _table(transitions, first, last, real)
    kernels.viterbi_all(emissions.numpy(), offsets.numpy(), table, labels, values)
    return torch.from_numpy(labels), torch.from_numpy(values)


def sample(emissions, offsets, tables, uniform):
    """Labels (N,) drawn with probability exp(score) / Z; uniform (N,) makes them."""
    labels = np.zeros(len(emissions), np.int32)
    table = _table(*tables, np.float64)
    scores = emissions.to(torch.float64).numpy()
    table = np.ascontiguousarray(table[:, : scores.shape[1]])
    kernels.sample_each(scores, offsets.numpy(), table, uniform.numpy(), labels)
    return torch.from_numpy(labels)


def _table(transitions, first, last, real) -> np.ndarray:
    """Rows of transitions, then first and last scores, padded for SIMD."""
    n = len(transitions)
    table = np.zeros((n + 2, padded_width(n)), real)
    for row, scores in ((slice(n), transitions), (n, first), (n + 1, last)):
        table[row, :n] = scores.numpy()
    return table


def _each(emissions, offsets, transitions, first, last):
    """Sequence by sequence, in double precision."""
    scores, start = emissions.numpy(), offsets.numpy()
    table = _table(transitions, first, last, np.float64)
    n, width = len(table) - 2, table.shape[1]
    total = np.zeros(len(start) - 1)
    marginals = np.empty_like(scores)
    before, weighted = np.empty((2, len(scores), width))
    step, far = np.empty((n, width)), np.zeros(len(total), np.int64)
    kernels.sum_each(
        scores, start, table, total, marginals, before, weighted, step, far
    )
    pairs = {}
    for i in np.flatnonzero(far).tolist():
        pairs[i] = np.zeros((n, n))
        kernels.far_pairs(scores, start, table, i, pairs[i])
    kept = Kept(before, weighted, step, (start, pairs), None)
    return torch.from_numpy(total), torch.from_numpy(marginals), kept


def _together(emissions, offsets, transitions, first, last):
    """Products of matrices, or None where scores lie too far apart for them."""
    order, at, rows, owner = packed(tuple(offsets.diff().tolist()))
    token = emissions.index_select(0, rows)
    top, low = token.amax(1, keepdim=True), token.amin(1, keepdim=True)
    if low.amin() == -torch.inf:
        top = torch.where(top == -torch.inf, torch.zeros_like(top), top)
        low = torch.where(token == -torch.inf, top, token).amin(1, keepdim=True)
    step, step_top, step_spread = exponentials(transitions.numpy())
    ends = np.empty((2, len(step)), step.dtype)
    ends[0], first_top, first_spread = exponentials(first.numpy())
    ends[1], last_top, last_spread = exponentials(last.numpy())
    spread = step_spread + first_spread + last_spread + float((top - low).amax())
    if spread > SPREAD[emissions.dtype]:
        return None
    token.sub_(top).exp_()
    total = np.full(len(order), first_top + last_top)
    before, out = torch.empty_like(token), torch.empty_like(emissions)
    places = token.numpy(), top.numpy().ravel(), at, rows.numpy()
    tables = step, np.ascontiguousarray(step.T), ends, step_top
    results = total, before.numpy(), out.numpy()
    if not kernels.sum_together(*places, *tables, *results):
        return None
    log_z = np.zeros(len(offsets) - 1)
    log_z[order] = total
    return torch.from_numpy(log_z), out, Kept(before, token, step, None, (at, owner))


def exponentials(scores):
    """(exp(scores - top), top, the largest finite difference to it)."""
    top, low = scores.max(), scores.min()
    if low == -np.inf:
        finite = scores[scores > -np.inf]
        low, top = (finite.min(), top) if len(finite) else (0.0, scores.dtype.type(0))
    return np.exp(scores - top), float(top), float(top) - float(low)


@functools.lru_cache(maxsize=8)
def packed(sizes):
    """(sequences from the longest, where places begin, rows by place, their sequences).

    Only sequences that have tokens.
    """
    lengths = np.array(sizes, np.int64)
    start = np.cumsum(lengths) - lengths
    order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
    lengths = lengths[order]
    longest = int(lengths[0]) if len(lengths) else 0
    # how many sequences have more than t tokens
    counts = len(lengths) - np.searchsorted(lengths[::-1], np.arange(longest), "right")
    at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    place = np.repeat(np.arange(longest), counts)
    owner = order[np.arange(at[-1]) - at[place]]
    return order, at, torch.from_numpy(start[owner] + place), torch.from_numpy(owner)
