"""More questions to a chain: k best labellings, max-marginals, marginals.

All take the same theta as the decoder (``chain.py``) and true minus infinities, so
forbidden transitions need no special case.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import argmax, score, shape
from maxmargin.core.expectations import expectations
from maxmargin.core.kernel import inlined, kernel
from maxmargin.engine.threads import over_ranges


def table_per_token(kind: str, batch, w, n_jobs: int = 1) -> np.ndarray:
    """(tokens, labels): ``"max"`` for max-marginals, ``"sum"`` for marginals."""
    n, out = batch.n_labels, np.zeros((len(batch.y), batch.n_labels))
    if kind == "sum":
        tables, _ = expectations(batch, w, n_jobs)
        rows = (table.reshape(-1, batch.width)[n + 2 :, :n] for table in tables)
        return np.concatenate([out[:0], *rows])
    over_ranges(
        lambda lo, hi: max_marginals_range(batch, lo, hi, w, out), batch.start, n_jobs
    )
    return out


def decode_posteriors(batch, w, n_jobs: int = 1) -> np.ndarray:
    """The labels with the largest sum of marginals, among sequences that are allowed."""
    table = table_per_token("sum", batch, w, n_jobs)
    if not np.isinf(batch.barrier).any():
        return table.argmax(axis=1)
    out = np.zeros(len(batch.y), np.int32)
    over_ranges(
        lambda lo, hi: posterior_range(batch, lo, hi, table, out), batch.start, n_jobs
    )
    return out


@kernel
def posterior_range(batch, lo, hi, table, out):
    """The ordinary decoder, with marginals as scores of tokens."""
    n = batch.n_labels
    theta = np.zeros(shape(batch))
    for j in range(n + 2):
        for k in range(n):
            theta[j, k] = batch.barrier[j, k]
    for i in range(lo, hi):
        first, last = batch.start[i], batch.start[i + 1]
        for t in range(last - first):
            for k in range(n):
                theta[n + 2 + t, k] = table[first + t, k]
        argmax(batch, i, theta, 0.0, out[first:last])


@kernel
def max_marginals_range(batch, lo, hi, w, out):
    """out[t, k] <- the best score of a labelling with label k at token t."""
    theta = np.empty(shape(batch))
    for i in range(lo, hi):
        first, last = batch.start[i], batch.start[i + 1]
        score(batch, i, w, theta)
        before = extend(batch, theta, last - first, True)
        after = extend(batch, theta, last - first, False)
        for t in range(last - first):
            for k in range(batch.n_labels):
                out[first + t, k] = (
                    before[t, k] + after[t, k] - theta[batch.n_labels + 2 + t, k]
                )


@kernel
def extend(batch, theta, length, forward):
    """Best scores of prefixes (forward) or suffixes that end in each token and label.

    The token's own score is included.
    """
    n = batch.n_labels
    table = np.empty((length, n))
    for step in range(length):
        t = step if forward else length - 1 - step
        for k in range(n):
            if step == 0:
                v = theta[n, k] if forward else theta[n + 1, k]
            elif forward:
                v = best_sum(table[t - 1], theta[:n, k])
            else:
                v = best_sum(table[t + 1], theta[k, :n])
            table[t, k] = v + theta[n + 2 + t, k]
    return table


@inlined
def best_sum(scores, transitions):
    top = -np.inf
    for j in range(len(scores)):
        top = max(top, scores[j] + transitions[j])
    return top


def k_best(batch, w, k: int, n_jobs: int = 1):
    """(labellings, scores): int32[k, tokens] and float64[k, sequences].

    Scores are -inf where a sequence has fewer than k labellings.
    """
    labels = np.zeros((k, len(batch.y)), np.int32)
    scores = np.full((k, len(batch.start) - 1), -np.inf)

    def part(lo, hi):
        k_best_range(batch, lo, hi, w, labels, scores)

    over_ranges(part, batch.start, n_jobs)
    return labels, scores


@kernel
def k_best_range(batch, lo, hi, w, labels, scores):
    """List Viterbi: every token and label keeps its k best prefixes, O(T K^2 k)."""
    theta = np.empty(shape(batch))
    k, n = labels.shape[0], batch.n_labels
    for i in range(lo, hi):
        first, last = batch.start[i], batch.start[i + 1]
        length = last - first
        if length == 0:
            scores[0, i] = 0.0
            continue
        score(batch, i, w, theta)
        best = np.full((length, n, k), -np.inf)
        label_from = np.zeros((length, n, k), np.int32)
        rank_from = np.zeros((length, n, k), np.int32)
        for t in range(length):
            for y in range(n):
                emission = theta[n + 2 + t, y]
                if t == 0:
                    best[0, y, 0] = theta[n, y] + emission
                    continue
                taken = np.zeros(n, np.int64)  # prefixes used up per previous label
                for rank in range(k):
                    top, top_label = -np.inf, -1
                    for j in range(n):
                        if taken[j] < k:
                            v = best[t - 1, j, taken[j]] + theta[j, y]
                            if v > top:
                                top, top_label = v, j
                    if top_label < 0:
                        break
                    best[t, y, rank] = top + emission
                    label_from[t, y, rank] = top_label
                    rank_from[t, y, rank] = taken[top_label]
                    taken[top_label] += 1
        taken = np.zeros(n, np.int64)
        for rank in range(k):
            top, label = -np.inf, -1
            for j in range(n):
                if taken[j] < k:
                    v = best[length - 1, j, taken[j]] + theta[n + 1, j]
                    if v > top:
                        top, label = v, j
            if label < 0:
                break
            scores[rank, i] = top
            r = taken[label]
            taken[label] += 1
            for t in range(length - 1, -1, -1):
                labels[rank, first + t] = label
                label, r = label_from[t, label, r], rank_from[t, label, r]
