"""Chains on a GPU: log Z, losses, marginals, best labellings of a ragged batch.

The tokens of all examples stand one after another. Arguments have the same names
everywhere:

    emissions    (tokens, labels): fp32, bf16 or fp16
    start        (examples + 1,): int64; example b has tokens start[b] to start[b + 1]
    transitions  (labels, labels): from row to column
    first, last  (labels,): scores of the first and the last label
    labels       (tokens,): int64 or int32

Minus infinity forbids, in any of the scores; plus infinity and NaN are not allowed, and
whoever calls has checked that. An example without tokens has one labelling, of score 0.
Nothing waits for the device, so that CUDA graphs can record every call.

With few labels, a log loss takes two launches ahead and three back. Where log Z is minus
infinity, marginals and gradients are zero.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import triton

from maxmargin.torch.triton import chain_counts, chain_far, chain_sums, chain_wide
from maxmargin.torch.triton.chain_searches import chain_k_best, chain_viterbi
from maxmargin.torch.triton.launching import (
    HELD,
    chunk,
    on_its_device,
    places,
    precision,
    prepared,
    warps,
)

FEW = 64  # labels whose table of transitions one program keeps in registers
PROGRAMS = 264  # that sum counts: two for each multiprocessor of a large GPU
ROWS = 16  # sequences side by side, the least that tensor cores take


class Sums(NamedTuple):
    """What :func:`sums` returns."""

    log_z: torch.Tensor  # (examples,)
    marginals: torch.Tensor  # (tokens, labels), times the coefficient of the example
    pairs: torch.Tensor  # (labels, labels): expected transitions, summed over examples
    first: torch.Tensor  # (labels,): of first labels
    last: torch.Tensor  # (labels,)


def sums(emissions, start, transitions, first, last, coefficient=None) -> Sums:
    """log Z, marginals and expected transitions; no gradients.

    ``coefficient`` (examples,): by what the expected parts of each are multiplied; 1.
    """
    emissions, table = prepared(emissions, transitions, first, last)
    if coefficient is None:
        coefficient = torch.ones(len(start) - 1, device=start.device)
    kept = forward(emissions, None, start, *table)
    given = emissions, None, start, *table, *kept[1:], coefficient.float()
    marginals, counts = backward(*given)
    return Sums(kept[0], marginals, counts[:-2], counts[-2], counts[-1])


def log_z(emissions, start, transitions, first, last) -> torch.Tensor:
    """(examples,), with gradients for all scores."""
    return value(emissions, None, start, transitions, first, last)


def log_loss(emissions, labels, start, transitions, first, last) -> torch.Tensor:
    """log Z minus the score of the labels (examples,), with gradients for all scores."""
    return value(emissions, labels.contiguous(), start, transitions, first, last)


def value(emissions, labels, start, transitions, first, last) -> torch.Tensor:
    emissions, table = prepared(emissions, transitions, first, last)
    if torch.compiler.is_compiling():
        return torch.ops.maxmargin.chain_value(emissions, labels, start, *table)[0]
    return ChainValue.apply(emissions, labels, start, *table)


def viterbi(emissions, start, transitions, first, last):
    """Best labels (tokens,) int32 and their scores (examples,).

    Loss-augmented decoding adds its costs to the emissions.
    """
    emissions, table = prepared(emissions, transitions, first, last)
    return chain_viterbi(emissions, start, *table)


def k_best(emissions, start, transitions, first, last, k):
    """Labels (tokens, k) int32 and scores (examples, k), best first.

    Where an example has fewer than k labellings, the others have labels -1 and minus
    infinity as score.
    """
    emissions, table = prepared(emissions, transitions, first, last)
    return chain_k_best(emissions, start, *table, k)


@on_its_device
def forward(emissions, labels, start, transitions, first, last):
    """(log Z or the loss, alpha, beta, norm, far): the last four for :func:`backward`."""
    n_tokens, n_labels = emissions.shape
    examples = len(start) - 1
    alpha = emissions.new_empty((n_tokens, n_labels), dtype=torch.float32)
    beta = torch.empty_like(alpha)
    norm = alpha.new_empty(n_tokens)
    both = alpha.new_empty((examples, 2), dtype=torch.float64)
    far = start.new_empty(examples, dtype=torch.int8)
    result = alpha.new_empty(examples)
    if examples == 0:
        return result, alpha, beta, norm, far
    places_ = places(n_labels)
    table = transitions, first, last
    if n_labels <= FEW:
        chain_sums.sums_few[(examples, 2)](
            emissions, start, *table, alpha, beta, norm, both,
            K=n_labels, P=places_, num_warps=warps(places_),
        )  # fmt: skip
    else:
        sums_many(emissions, start, *table, alpha, beta, norm, both)
    chain_far.finish[(examples,)](
        emissions, labels, start, *table, alpha, beta, both, far, result,
        LABELS=labels is not None, K=n_labels, P=places_, C=chunk(places_, 1024), R=128,
    )  # fmt: skip
    return result, alpha, beta, norm, far


def sums_many(emissions, start, transitions, first, last, alpha, beta, norm, both):
    n_labels, examples = len(first), len(start) - 1
    places_ = max(ROWS, places(n_labels))
    highest = highest_of(transitions)
    table = torch.exp(transitions - highest)
    least = torch.where(transitions > float("-inf"), chain_sums.FLOOR.value, 0.0)
    behind = torch.maximum(table, least).t().contiguous()
    held = n_labels <= HELD
    size = places_ if held else max(16, chunk(places_, 8192))
    weighted = beta if held else torch.empty_like(beta)
    chain_wide.sums_many[(triton.cdiv(examples, ROWS), 2)](
        emissions, start, table, behind, highest, first, last,
        alpha, beta, weighted, norm, both, examples,
        K=n_labels, P=places_, M=ROWS, C=size, PRECISION=precision(), num_warps=8,
    )  # fmt: skip


def highest_of(transitions):
    """The largest transition (1,), finite even where all are forbidden."""
    return transitions.amax().clamp_min(-3e38).reshape(1)


@on_its_device
def backward(
    emissions,
    labels,
    start,
    transitions,
    first,
    last,
    alpha,
    beta,
    norm,
    far,
    coefficient,
):
    """Marginals (tokens, labels) and counts (labels + 2, labels) times a coefficient.

    Counts are of transitions, then of first and last labels.
    """
    n_labels, examples = len(first), len(start) - 1
    marginals = torch.empty_like(emissions)
    if examples == 0:
        return marginals, alpha.new_zeros((n_labels + 2, n_labels))
    coefficient = coefficient.contiguous()
    kept = alpha, beta, norm, far, coefficient
    count = counts_few if n_labels <= FEW else counts_many
    counts = count(emissions, labels, start, transitions, *kept, marginals)
    places_ = places(n_labels)
    chain_far.expected_far[(examples,)](
        emissions, labels, start, transitions, first, last,
        alpha, beta, far, coefficient, marginals, counts,
        alpha.new_empty((examples, n_labels), dtype=torch.float64),
        LABELS=labels is not None, K=n_labels, P=places_, C=chunk(places_, 1024),
    )  # fmt: skip
    return marginals, counts


def counts_few(
    emissions,
    labels,
    start,
    transitions,
    alpha,
    beta,
    norm,
    far,
    coefficient,
    marginals,
):
    n_labels, examples = len(transitions), len(start) - 1
    programs = min(examples, PROGRAMS)
    parts = alpha.new_empty((programs, n_labels + 2, n_labels))
    chain_counts.counts_few[(programs,)](
        emissions, labels, start, transitions, alpha, beta, norm, far, coefficient,
        marginals, parts, examples, LABELS=labels is not None,
        K=n_labels, P=max(16, places(n_labels)), R=32, PRECISION=precision(),
        num_warps=8,
    )  # fmt: skip
    return parts.sum(0)


def counts_many(
    emissions,
    labels,
    start,
    transitions,
    alpha,
    beta,
    norm,
    far,
    coefficient,
    marginals,
):
    n_labels, examples = len(transitions), len(start) - 1
    weighted = torch.empty_like(alpha)
    ends = alpha.new_empty((examples, 2, n_labels))
    chain_counts.marginals_many[(examples, 4)](
        emissions, labels, start, alpha, beta, norm, far, coefficient,
        marginals, weighted, ends, LABELS=labels is not None,
        K=n_labels, P=places(n_labels), R=chunk(places(n_labels)),
    )  # fmt: skip
    programs, tiles = min(examples, 32), triton.cdiv(n_labels, FEW)
    parts = alpha.new_empty((programs, n_labels + 2, n_labels))
    chain_counts.pairs_many[(programs, tiles, tiles)](
        labels, start, transitions, highest_of(transitions), alpha, weighted, far,
        coefficient, parts, examples, LABELS=labels is not None,
        K=n_labels, S=FEW, R=32, PRECISION=precision(), num_warps=8,
    )  # fmt: skip
    counts = parts.sum(0)
    counts[-2:] = ends.sum(0)
    return counts


class ChainValue(torch.autograd.Function):
    """The eager way, with less work for the host than a registered operator."""

    @staticmethod
    def forward(ctx, emissions, labels, start, *table):
        result, *kept = forward(emissions, labels, start, *table)
        ctx.save_for_backward(emissions, labels, start, *table, *kept)
        return result

    @staticmethod
    def backward(ctx, coefficient):
        # the operator refuses second derivatives, for which a graph is being made
        parts = torch.ops.maxmargin.chain_parts if torch.is_grad_enabled() else backward
        marginals, counts = parts(*ctx.saved_tensors, coefficient)
        return marginals, None, None, counts[:-2], counts[-2], counts[-1]


SCORES = (
    "Tensor emissions, Tensor? labels, Tensor start, "
    "Tensor transitions, Tensor first, Tensor last"
)

chain_value = torch.library.custom_op(
    "maxmargin::chain_value",
    forward,
    mutates_args=(),
    schema=f"({SCORES}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)


@chain_value.register_fake
def _(emissions, labels, start, transitions, first, last):
    n_tokens, n_labels = emissions.shape
    examples = start.shape[0] - 1
    alpha = emissions.new_empty((n_tokens, n_labels), dtype=torch.float32)
    far = start.new_empty(examples, dtype=torch.int8)
    norm, result = alpha.new_empty(n_tokens), alpha.new_empty(examples)
    return result, alpha, torch.empty_like(alpha), norm, far


chain_parts = torch.library.custom_op(
    "maxmargin::chain_parts",
    backward,
    mutates_args=(),
    schema=f"({SCORES}, Tensor alpha, Tensor beta, Tensor norm, Tensor far, "
    "Tensor coefficient) -> (Tensor, Tensor)",
)


@chain_parts.register_fake
def _(emissions, labels, start, transitions, first, last, alpha, *rest):
    counts = alpha.new_empty((first.shape[0] + 2, first.shape[0]))
    return torch.empty_like(emissions), counts


def keep_for_gradients(ctx, inputs, output):
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*inputs, *output[1:])


def gradients(ctx, coefficient, *rest):
    if coefficient is None:
        return (None,) * 6
    marginals, counts = torch.ops.maxmargin.chain_parts(*ctx.saved_tensors, coefficient)
    return marginals, None, None, counts[:-2], counts[-2], counts[-1]


chain_value.register_autograd(gradients, setup_context=keep_for_gradients)
