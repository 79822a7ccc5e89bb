"""Sums and searches of chains on the CPU: tensors in, tensors out, without gradients."""

from __future__ import annotations

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
    rows: Any  # those ahead of every row from the second place on, and their sequences


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
        ahead, second, owner = kept.rows
        right, weights = kept.weighted[second:], weights.to(kept.step.dtype)
        left = kept.before[: len(ahead)]  # where all sequences are as long
        if len(ahead) and int(ahead[-1]) != len(ahead) - 1:
            left = kept.before.index_select(0, ahead)
        if (weights == weights[0]).all():
            return kept.step * (left.T @ right) * weights[0]
        return kept.step * (left.T @ (right * weights[owner][:, None]))
    before, weighted, step, start = kept.before, kept.weighted, kept.step, kept.far[0]
    pairs, n = np.zeros(step.shape), len(step)
    weights = weights.detach().to(torch.float64).numpy()
    kernels.count_pairs(before, weighted, step, start, weights, pairs)
    out = pairs[:, :n]
    for i, more in kept.far[1].items():
        out = out + weights[i] * more
    return torch.from_numpy(np.ascontiguousarray(out))


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
    order, at, rows, sizes = packed(offsets)
    token = emissions.index_select(0, rows)
    tops, spread = exponentials(token)
    step, heads = transitions.reshape(1, -1).clone(), torch.stack([first, last])
    step_top, step_spread = exponentials(step)
    head_tops, head_spread = exponentials(heads)
    if spread + step_spread + head_spread > SPREAD[emissions.dtype]:
        return None
    step = step.view_as(transitions)
    back = np.ascontiguousarray(step.numpy().T)
    total = np.zeros(len(order))
    before, out = torch.empty_like(token), torch.empty_like(emissions)
    tables = step.numpy(), back, heads.numpy(), total, before.numpy(), out.numpy()
    if not kernels.sum_together(token.numpy(), at, rows.numpy(), *tables):
        return None
    log_z = torch.zeros(len(sizes), dtype=torch.float64)
    log_z[order] = torch.from_numpy(total)
    owner = torch.repeat_interleave(torch.arange(len(sizes)), sizes)[rows]
    log_z.index_add_(0, owner, tops)
    moves = (sizes - 1).clamp(min=0).to(torch.float64)
    log_z += moves * step_top + (sizes > 0).to(torch.float64) * head_tops.sum()
    behind = np.arange(at[1], at[-1])
    ahead = behind - np.repeat(np.diff(at)[:-1], np.diff(at)[1:])
    places = torch.from_numpy(ahead), int(at[1]), owner[int(at[1]) :]
    return log_z, out, Kept(before, token, step, None, places)


def exponentials(scores):
    """scores <- exp(scores - top); (top of every row, largest finite difference to it)."""
    top, low = scores.amax(1, keepdim=True), scores.amin(1, keepdim=True)
    if low.amin() == -torch.inf:
        top = torch.where(top == -torch.inf, torch.zeros_like(top), top)
        low = torch.where(scores == -torch.inf, top, scores).amin(1, keepdim=True)
    scores.sub_(top).exp_()
    return top[:, 0].to(torch.float64), float((top - low).amax())


def packed(offsets):
    """(sequences from the longest, where each place begins, rows by place, sizes)."""
    sizes = offsets.diff()
    order = torch.argsort(sizes, descending=True, stable=True)
    lengths = sizes[order].numpy()
    longest = int(lengths[0]) if len(lengths) else 0
    # how many sequences have more than t tokens
    counts = len(lengths) - np.searchsorted(lengths[::-1], np.arange(longest), "right")
    at = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    place = np.repeat(np.arange(longest), counts)
    rank = np.arange(at[-1]) - at[place]
    rows = offsets[:-1][order].numpy()[rank] + place
    return order, at, torch.from_numpy(rows), sizes
