"""What autograd must know of sums and values: gradients of any structure, by formula.

    log Z            gradient E[parts]; second derivatives are covariances of parts
    <theta, parts>   linear in the scores: gradient the parts

Covariances times a vector are central differences of E[parts], of fourth order, in
double precision: such a product costs four sums. On scores of moderate size it is right
to about ten digits. Third derivatives are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from maxmargin.core import flat_scores
from maxmargin.core.flat_scores import Scores
from maxmargin.torch import checks
from maxmargin.torch.examples import Examples

STEP = 3e-3  # of a value, in nats: errors of rounding and of the formula are alike
POINTS = (
    (1.0, 8.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (2.0, -1.0 / 12.0),
    (-2.0, 1.0 / 12.0),
)


def array(tensor: Any) -> np.ndarray:
    """A tensor of any device and precision as doubles."""
    return np.ascontiguousarray(tensor.detach().to("cpu", torch.float64).numpy())


def scores_of(own: Any, head: Any) -> Scores:
    return Scores(array(own), array(head))


def like(found: np.ndarray, tensor: Any) -> Any:
    """An array as a tensor of the device and precision of another."""
    return torch.from_numpy(found).to(tensor.device, tensor.dtype)


class LogPartition(torch.autograd.Function):
    """log Z (n,) in double precision; of the outputs that agree with what is known."""

    @staticmethod
    def forward(ctx, own, head, examples: Examples, known: bool):
        scores = scores_of(own, head)
        total, _, mu = flat_scores.expected_parts(
            examples.batch, examples.layout, scores, known=known
        )
        ctx.examples, ctx.known, ctx.mu = examples, known, mu
        ctx.save_for_backward(own, head)
        return torch.from_numpy(total).to(own.device)

    @staticmethod
    def backward(ctx, g):
        own, head = ctx.saved_tensors
        if torch.is_grad_enabled():
            return (
                *ExpectedParts.apply(own, head, g, ctx.examples, ctx.known),
                None,
                None,
            )
        weights, examples = array(g), ctx.examples
        mu = ctx.mu.head
        if len(mu) and len(weights) and (weights == weights[0]).all():
            mu = weights[0] * mu
        elif len(mu):
            batch, layout = examples.batch, examples.layout
            scores = scores_of(own, head)
            *_, found = flat_scores.expected_parts(
                batch, layout, scores, weights, ctx.known
            )
            mu = found.head
        grad = ctx.mu.own * examples.spread(weights)
        return like(grad, own), like(mu, head), None, None


class ExpectedParts(torch.autograd.Function):
    """E[parts] of every example times its weight; in common parts, summed."""

    @staticmethod
    def forward(ctx, own, head, weights, examples: Examples, known: bool):
        factors = array(weights)
        total, _, mu = flat_scores.expected_parts(
            examples.batch, examples.layout, scores_of(own, head), factors, known
        )
        checks.possible(torch.from_numpy(total), "every output of")
        ctx.examples, ctx.known = examples, known
        ctx.save_for_backward(own, head, weights)
        grad = mu.own * examples.spread(factors)
        return like(grad, own), like(mu.head, head)

    @staticmethod
    def backward(ctx, v_own, v_head):
        own, head, weights = ctx.saved_tensors
        examples, known = ctx.examples, ctx.known
        scores, way = scores_of(own, head), finite(scores_of(v_own, v_head))
        found = covariance_times(examples, scores, way, array(weights), known)
        # along the weights: <mu_i, v>
        *_, mu = flat_scores.expected_parts(
            examples.batch, examples.layout, scores, known=known
        )
        slope = own_products(examples, mu.own, way.own)
        if len(scores.head):
            slope += head_products(examples, scores, way.head, known)
        return *refused(own, head, weights, found, slope), None, None


class Entropy(torch.autograd.Function):
    """- sum p log p over the outputs, by example, in double precision."""

    @staticmethod
    def forward(ctx, own, head, examples: Examples):
        total, inner, _ = flat_scores.expected_parts(
            examples.batch, examples.layout, scores_of(own, head)
        )
        ctx.examples = examples
        ctx.save_for_backward(own, head)
        return torch.from_numpy(total - inner).to(own.device)

    @staticmethod
    def backward(ctx, g):
        own, head = ctx.saved_tensors
        scores = scores_of(own, head)
        way = finite(scores)  # the entropy falls by Cov theta
        found = covariance_times(ctx.examples, scores, way, -array(g), False)
        return *refused(own, head, None, found, None)[:2], None


class Value(torch.autograd.Function):
    """<theta, parts(y)> of one labelling per example, in double precision."""

    @staticmethod
    def forward(ctx, own, head, examples: Examples, labels: np.ndarray):
        ctx.examples, ctx.labels = examples, labels
        ctx.save_for_backward(own, head)
        scores = scores_of(own, head)
        found = flat_scores.values_of(examples.batch, examples.layout, scores, labels)
        return torch.from_numpy(found).to(own.device)

    @staticmethod
    def backward(ctx, g):
        own, head = ctx.saved_tensors
        return *Parts.apply(g, own, head, ctx.examples, ctx.labels), None, None


class Parts(torch.autograd.Function):
    """The parts of one labelling per example times its weight: the adjoint of Value."""

    @staticmethod
    def forward(ctx, weights, own, head, examples: Examples, labels: np.ndarray):
        ctx.examples, ctx.labels, ctx.device = examples, labels, weights.device
        found = flat_scores.sum_of_parts(
            examples.batch, examples.layout, labels, array(weights)
        )
        return like(found.own, own), like(found.head, head)

    @staticmethod
    def backward(ctx, v_own, v_head):
        found = Value.apply(v_own, v_head, ctx.examples, ctx.labels)
        return found.to(ctx.device), None, None, None, None


class _Final(torch.autograd.Function):
    """Lets tensors through, but no derivatives of them."""

    @staticmethod
    def forward(ctx, found, *of):
        return found.clone()

    @staticmethod
    def backward(ctx, g):
        raise RuntimeError(
            "log-losses of this structure have two derivatives, marginals and entropies "
            "one: this graph asks for one more. Detach what need not be differentiated."
        )


# helpers --------------------------------------------------------------------------------


def refused(own, head, weights, found: Scores, slope):
    """Gradients of (own, head, weights) from which no more derivatives can be taken."""
    of = [t for t in (own, head, weights) if t is not None]
    grads = [like(found.own, own), like(found.head, head)]
    if weights is not None:
        grads.append(like(slope, weights))
    if torch.is_grad_enabled():
        grads = [_Final.apply(g, *of) for g in grads]
    return grads


def finite(scores: Scores) -> Scores:
    """With 0 for what is infinite: nothing is expected there."""
    return Scores(*(np.where(np.isfinite(a), a, 0.0) for a in scores))


def covariance_times(
    examples: Examples, scores: Scores, way: Scores, weights: np.ndarray, known: bool
) -> Scores:
    """sum_i weight_i Cov_i[parts] way, by differences of expected parts."""
    batch, layout = examples.batch, examples.layout
    step = STEP / max(longest_way(examples, way), 1e-300)
    own, head = np.zeros_like(scores.own), np.zeros_like(scores.head)
    for at, factor in POINTS:
        moved = Scores(*(a + at * step * b for a, b in zip(scores, way, strict=True)))
        *_, mu = flat_scores.expected_parts(batch, layout, moved, weights, known)
        own += factor / step * mu.own
        head += factor / step * mu.head
    return Scores(own * examples.spread(weights), head)


def longest_way(examples: Examples, way: Scores) -> float:
    """About how much the value of an output may change along it, at most."""
    largest = max(np.abs(way.own).max(initial=0.0), np.abs(way.head).max(initial=0.0))
    slots = np.diff(examples.batch.start).max(initial=1)
    return float(largest * np.sqrt(max(int(slots), 1)))


def own_products(examples: Examples, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """<a_i, b_i> of every example."""
    return np.bincount(examples.owner, a * b, minlength=examples.n)


def head_products(examples: Examples, scores: Scores, way: np.ndarray, known: bool):
    """<E_i[common parts], way> of every example, by differences of log Z."""
    batch, layout = examples.batch, examples.layout
    still = Scores(np.zeros_like(scores.own), way)
    step = STEP / max(longest_way(examples, still), 1e-300)
    out = np.zeros(examples.n)
    for at, factor in POINTS:
        moved = Scores(scores.own, scores.head + at * step * way)
        total, *_ = flat_scores.expected_parts(batch, layout, moved, known=known)
        out += factor / step * total
    return out
