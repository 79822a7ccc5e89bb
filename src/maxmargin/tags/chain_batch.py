"""Sequences as the kernels of a chain read them (layout of w and theta: ``chain.py``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.cutting import cut_by
from maxmargin.core.partial import with_known
from maxmargin.core.vectors import padded_width
from maxmargin.tags.chain_spans import Costs, SpanTables, ZeroOne


class ChainBatch(NamedTuple):
    """Sequences in flat CSR form."""

    says_outputs = ("start", "n_labels", "barrier")  # warm_start.py
    cuts = cut_by(
        start="example", y="start", indptr="start", indices="indptr", values="indptr"
    )

    start: np.ndarray  # tokens of sequence i: start[i] .. start[i + 1]
    y: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    cost: np.ndarray  # (labels, width): cost[true, predicted]
    barrier: np.ndarray  # (labels + 2, width): 0, or -inf where forbidden
    tables: Costs | ZeroOne | SpanTables  # its type says what the loss is
    least: float  # the smallest loss that is not zero
    n_labels: int
    width: int
    n_features: int
    longest: int  # tokens of the longest sequence
    widest: int  # entries of the sequence with the most entries


PartialChainBatch = with_known(ChainBatch)


def make_batch(
    tokens, n_features, y, cost, barrier, zero_one, dtype, spans=None
) -> ChainBatch:
    """Encode sequences (``features.TokenMatrix``); ``y`` may be None for prediction.

    ``spans`` (SpanTables) makes the loss one of spans.
    """
    k = len(cost)
    width = padded_width(k)
    padded = np.zeros((k, width))
    padded[:, :k] = cost
    wall = np.zeros((k + 2, width))
    if barrier is not None:
        wall[:, :k] = barrier
    entries = np.diff(tokens.indptr[tokens.start])
    counted = np.array_equal(cost, 1.0 - np.eye(k))
    return ChainBatch(
        start=tokens.start,
        y=np.zeros(tokens.start[-1], np.int32) if y is None else y,
        indptr=tokens.indptr,
        indices=tokens.indices,
        values=np.ascontiguousarray(tokens.values, dtype),
        cost=padded,
        barrier=wall,
        tables=spans or (ZeroOne(1) if zero_one else Costs(int(counted))),
        least=_smallest_positive(cost, zero_one or spans is not None),
        n_labels=k,
        width=width,
        n_features=n_features,
        longest=int(np.diff(tokens.start).max(initial=0)),
        widest=int(entries.max(initial=0)),
    )


def known_runs(tokens, labels, weights):
    """(tokens, labels, weights) of the runs of known labels as sequences of their own.

    They are what the first fit with unknown labels (``core/partial.py``) is made of.
    """
    kept = np.flatnonzero(labels >= 0)
    sequence = np.repeat(np.arange(len(tokens.start) - 1), np.diff(tokens.start))[kept]
    new = np.ones(len(kept), bool)
    new[1:] = (np.diff(kept) > 1) | (np.diff(sequence) > 0)
    first = np.flatnonzero(new)
    sizes = np.diff(tokens.indptr)[kept]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.arange(indptr[-1]) + np.repeat(
        tokens.indptr[kept] - indptr[:-1], sizes
    )
    runs = tokens._replace(
        start=np.append(first, len(kept)),
        indptr=indptr,
        indices=tokens.indices[entries],
        values=tokens.values[entries],
    )
    return runs, labels[kept], weights[sequence[first]]


def _smallest_positive(cost, zero_one) -> float:
    positive = np.asarray(cost)[np.asarray(cost) > 0]
    return 1.0 if zero_one else float(positive.min(initial=np.inf))
