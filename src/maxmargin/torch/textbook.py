"""Chains in operations of PyTorch alone: slow, on any device, derivatives of any order."""

from __future__ import annotations

from typing import Any

import torch

FORBIDDEN = -1e30  # in place of -inf, whose derivatives are not numbers


def transitions_of(labels: Any, start: Any, count: int) -> tuple[Any, Any]:
    """(transitions as from * count + to, their examples) of all labels."""
    sizes = start.diff()
    owner = torch.repeat_interleave(
        torch.arange(len(sizes), device=start.device), sizes
    )
    inner = owner[1:] == owner[:-1]
    labels = labels.to(torch.int64)
    return (labels[:-1] * count + labels[1:])[inner], owner[1:][inner]


def score(
    emissions: Any, labels: Any, start: Any, transitions: Any, first: Any, last: Any
) -> Any:
    """The scores of labels (examples,), in double precision."""
    sizes, labels = start.diff(), labels.to(torch.int64)
    owner = torch.repeat_interleave(
        torch.arange(len(sizes), device=start.device), sizes
    )
    total = torch.zeros(len(sizes), dtype=torch.float64, device=emissions.device)
    if not len(labels):
        return total + 0.0 * emissions.sum()
    own = emissions.gather(1, labels[:, None])[:, 0].to(torch.float64)
    total = total.index_add(0, owner, own)
    moves, whose = transitions_of(labels, start, len(transitions))
    steps = transitions.reshape(-1)[moves].to(torch.float64)
    total = total.index_add(0, whose, steps)
    (some,) = (sizes > 0).nonzero(as_tuple=True)
    heads, tails = labels[start[:-1][some]], labels[start[1:][some] - 1]
    ends = first[heads].to(torch.float64) + last[tails].to(torch.float64)
    return total.index_add(0, some, ends)


def log_partition(
    emissions: Any,
    start: Any,
    transitions: Any,
    first: Any,
    last: Any,
    scale: Any = None,
) -> Any:
    """log Z (examples,) in double precision; scores of example i times scale[i]."""
    sizes = start.diff()
    n, longest = len(sizes), int(sizes.max()) if len(sizes) else 0
    if longest == 0:
        return torch.zeros(n, dtype=torch.float64, device=emissions.device) + (
            0.0 * emissions.sum()
        )
    emissions, transitions, first, last = (
        _finite(t.to(torch.float64)) for t in (emissions, transitions, first, last)
    )
    owner = torch.repeat_interleave(torch.arange(n, device=start.device), sizes)
    place = torch.arange(len(owner), device=start.device) - start[:-1][owner]
    table = emissions.new_zeros(n, longest, emissions.shape[1])
    table = table.index_put((owner, place), emissions)
    factor = emissions.new_ones(n, 1) if scale is None else scale[:, None]
    rows = factor * (first + table[:, 0])
    steps = factor[:, :, None] * transitions
    for t in range(1, longest):
        new = torch.logsumexp(rows[:, :, None] + steps, 1) + factor * table[:, t]
        rows = torch.where((sizes > t)[:, None], new, rows)
    found = torch.logsumexp(rows + factor * last, 1)
    return torch.where(sizes > 0, found, torch.zeros_like(found))


def entropy(emissions: Any, start: Any, transitions: Any, first: Any, last: Any) -> Any:
    """The entropies of the labels (examples,): log Z minus the expected score."""
    scores = emissions, transitions, first, last
    if not len(emissions):
        return log_partition(emissions, start, *scores[1:])
    wanted = torch.is_grad_enabled() and any(t.requires_grad for t in scores)
    # the expected score is a derivative, also where the caller wants none
    with torch.inference_mode(False), torch.enable_grad():
        scores = tuple(t.clone() if t.is_inference() else t for t in scores)
        start = start.clone() if start.is_inference() else start
        scale = torch.ones(len(start) - 1, dtype=torch.float64, device=emissions.device)
        scale.requires_grad_()
        log_z = log_partition(scores[0], start, *scores[1:], scale)
        (expected,) = torch.autograd.grad(log_z.sum(), scale, create_graph=wanted)
        found = log_z - expected
    return found if wanted else found.detach()


class Marginals(torch.autograd.Function):
    """Marginals that were found otherwise (tokens, labels), with their derivatives."""

    @staticmethod
    def forward(ctx, found, start, *scores):
        ctx.start = start
        ctx.save_for_backward(*scores)
        return found.clone()

    @staticmethod
    def backward(ctx, g):
        again = torch.is_grad_enabled()
        scores = [t if again else t.detach() for t in ctx.saved_tensors]
        wanted = ctx.needs_input_grad[2:]
        with torch.enable_grad():
            if not again:
                scores = [t.requires_grad_() for t in scores]
            log_z = log_partition(scores[0], ctx.start, *scores[1:])
            own = scores[0] if scores[0].requires_grad else None
            if own is None:
                raise RuntimeError("marginals are differentiated by emissions only.")
            (mu,) = torch.autograd.grad(log_z.sum(), own, create_graph=True)
            asked = [t for t, w in zip(scores, wanted, strict=True) if w]
            found = torch.autograd.grad(
                mu, asked, g.to(mu.dtype), create_graph=again, allow_unused=True
            )
        grads = iter(found)
        return None, None, *(next(grads) if w else None for w in wanted)


def _finite(scores: Any) -> Any:
    return torch.where(scores == -torch.inf, torch.full_like(scores, FORBIDDEN), scores)
