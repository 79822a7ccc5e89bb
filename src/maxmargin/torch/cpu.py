"""Chains on the CPU, with gradients: what ``devices.py`` asks for, by matrix or by kernel.

The functions and their arguments are those of the kernels for a GPU. Gradients are
expected parts minus those of the labels. Further derivatives go through the textbook's
recursion (``textbook.py``), which autograd differentiates as often as one likes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from maxmargin.tags import chain_inference
from maxmargin.tags.chain_batch import make_batch
from maxmargin.torch import cpu_sums, textbook


class Sums(NamedTuple):
    """What :func:`sums` returns."""

    log_z: Any  # (examples,), in double precision
    marginals: Any  # (tokens, labels), times the coefficient of the example
    pairs: Any  # (labels, labels): expected transitions, summed over examples
    first: Any  # (labels,): of first labels
    last: Any  # (labels,)


def sums(
    emissions: Any,
    start: Any,
    transitions: Any,
    first: Any,
    last: Any,
    coefficient: Any = None,
) -> Sums:
    """log Z, marginals and expected transitions; no gradients."""
    tables = [t.detach() for t in (transitions, first, last)]
    log_z, marginals, kept = cpu_sums.expectations(emissions.detach(), start, *tables)
    if coefficient is None:
        coefficient = torch.ones(len(start) - 1, dtype=torch.float64)
    gradient = gradients(marginals, kept, None, start, coefficient)
    return Sums(log_z, *gradient)


def value(
    emissions: Any, labels: Any, start: Any, transitions: Any, first: Any, last: Any
) -> Any:
    """log Z minus the score of the labels, if there are any; (examples,), in doubles."""
    return ChainValue.apply(emissions, labels, start, transitions, first, last)


def viterbi(emissions: Any, start: Any, transitions: Any, first: Any, last: Any):
    """(labels (tokens,) int32, scores (examples,)): the best labels."""
    tables = [t.detach() for t in (transitions, first, last)]
    return cpu_sums.viterbi(emissions.detach(), start, *tables)


def k_best(emissions: Any, start: Any, transitions: Any, first: Any, last: Any, k: int):
    """(labels (tokens, k) int32, scores (examples, k)), the best first.

    Where an example has fewer than k labellings, the others have labels -1 and -inf.
    """
    n, count = len(emissions), len(transitions)
    tokens = Tokens(
        start.numpy(), np.arange(n + 1), np.arange(n, dtype=np.int32), np.ones(n)
    )
    cost = 1.0 - np.eye(count)
    batch = make_batch(tokens, n, None, cost, None, False, np.float64)
    w = np.zeros((n + count + 2, batch.width))
    for rows, scores in (
        (slice(n), emissions),
        (slice(n, n + count), transitions),
        (n + count, first),
        (n + count + 1, last),
    ):
        w[rows, :count] = scores.detach().to(torch.float64).numpy()
    labels, scores = chain_inference.k_best(batch, w.ravel(), k)
    missing = np.repeat(scores == -np.inf, np.diff(batch.start), axis=1)
    labels[missing] = -1
    return torch.from_numpy(labels.T.copy()), torch.from_numpy(scores.T.copy())


class Tokens(NamedTuple):
    """As ``features.TokenMatrix``: one feature of its own for every token."""

    start: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray


class ChainValue(torch.autograd.Function):
    """log Z minus the score of labels, and its gradient by formula."""

    @staticmethod
    def forward(ctx, emissions, labels, start, *tables):
        found, marginals, kept = cpu_sums.expectations(emissions, start, *tables)
        if labels is not None:
            found = found - cpu_sums.score(emissions, labels, start, *tables)
        ctx.marginals, ctx.kept, ctx.labels, ctx.start = marginals, kept, labels, start
        ctx.save_for_backward(emissions, *tables)
        return found

    @staticmethod
    def backward(ctx, g):
        labels, start = ctx.labels, ctx.start
        if not torch.is_grad_enabled():
            found = gradients(ctx.marginals, ctx.kept, labels, start, g)
            return found[0], None, None, *found[1:]
        scores = ctx.saved_tensors
        log_z = textbook.log_partition(scores[0], start, *scores[1:])
        if labels is not None:
            log_z = log_z - textbook.score(scores[0], labels, start, *scores[1:])
        wanted = [t for t in scores if t.requires_grad]
        found = torch.autograd.grad(
            log_z, wanted, g, create_graph=True, materialize_grads=True
        )
        found = iter(found)
        grads = [next(found) if t.requires_grad else None for t in scores]
        return grads[0], None, None, *grads[1:]


def gradients(marginals: Any, kept: Any, labels: Any, start: Any, g: Any):
    """(of emissions, transitions, first, last) of sum_i g_i (log Z_i - score of labels)."""
    real = marginals.dtype
    if len(g) and bool((g == g[0]).all()):
        out = marginals * g[0].to(real)
    else:
        by_token = torch.repeat_interleave(g, start.diff()).to(real)
        out = marginals * by_token[:, None]
    pairs = cpu_sums.pair_counts(kept, g).to(real)
    if labels is not None and len(labels):
        cpu_sums.subtract(labels, start, g, out, pairs)
    return out, pairs, *cpu_sums.ends(start, out)
