"""SparseMAP: an average of few outputs, found by searches alone.

    mu = argmax over averages of outputs of  <theta, mu> - 1/2 |mu|^2

where the penalty is on the parts of the examples, not on shared ones. Outputs found join an
active set; on it, the problem is a small quadratic program over the simplex, which is
solved exactly by solving for all shares and leaving out those that would become negative
(Niculae et al. 2018; Wolfe 1976, Finding the nearest point in a polytope).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from maxmargin.core import flat_scores
from maxmargin.core.flat_scores import Scores
from maxmargin.torch.examples import Examples
from maxmargin.torch.functions import like, refused, scores_of

NEGATIVE = -1e-12  # shares above are rounding


@dataclass
class ActiveSet:
    """Outputs, and how much of each is in the average of its example."""

    examples: Examples
    labels: list[np.ndarray] = field(default_factory=list)  # one per example and round
    parts: list[np.ndarray] = field(default_factory=list)  # of the examples alone
    values: list[np.ndarray] = field(default_factory=list)  # <theta, parts>
    shares: list[np.ndarray] = field(default_factory=list)

    def add(self, labels: np.ndarray, scores: Scores) -> None:
        batch, layout = self.examples.batch, self.examples.layout
        ones = np.ones(self.examples.n)
        found = flat_scores.sum_of_parts(batch, layout, labels, ones)
        self.labels.append(labels)
        self.parts.append(found.own)
        self.values.append(flat_scores.values_of(batch, layout, scores, labels))
        self.shares.append(np.zeros(self.examples.n))

    def mean(self) -> np.ndarray:
        """The average of the parts of the examples."""
        out = np.zeros(self.examples.n_scores)
        for parts, share in zip(self.parts, self.shares, strict=True):
            out += parts * self.examples.spread(share)
        return out

    def value(self) -> np.ndarray:
        """<theta, mu_i> of every example."""
        return (np.array(self.values) * np.array(self.shares)).sum(0)

    def norms(self) -> np.ndarray:
        """|mu_i|^2 of every example."""
        return self._squares(self.mean())

    def norms_of(self, labels: np.ndarray) -> np.ndarray:
        batch, layout = self.examples.batch, self.examples.layout
        ones = np.ones(self.examples.n)
        return self._squares(flat_scores.sum_of_parts(batch, layout, labels, ones).own)

    def _squares(self, own: np.ndarray) -> np.ndarray:
        return np.bincount(self.examples.owner, own * own, minlength=self.examples.n)

    def rows(self, i: int, which: list[int]) -> np.ndarray:
        """The parts of example i in these outputs."""
        a, b = self.examples.layout.place[i : i + 2]
        return np.array([self.parts[r][a:b] for r in which])


def active_set(
    examples: Examples, scores: Scores, tol: float, rounds: int
) -> ActiveSet:
    """The outputs whose average is mu, up to a gap of ``tol``."""
    batch, layout, found = examples.batch, examples.layout, ActiveSet(examples)
    found.add(flat_scores.best(batch, layout, scores)[0], scores)
    found.shares[0][:] = 1.0
    support: list[list[int]] = [[0] for _ in range(examples.n)]
    left = list(range(examples.n))
    for _ in range(rounds):
        moved = Scores(scores.own - found.mean(), scores.head)
        labels, values = flat_scores.best(batch, layout, moved)
        found.add(labels, scores)
        new, lead = len(found.labels) - 1, found.value()
        gaps = values - (lead - found.norms())
        left = [i for i in left if gaps[i] > tol * (1.0 + abs(lead[i]))]
        if not left:
            break
        for i in left:
            support[i] = _solve(found, i, [*support[i], new])
    return found


def _solve(found: ActiveSet, i: int, support: list[int]) -> list[int]:
    """Set the shares of example i over these outputs; returns those that have any."""
    values = np.array([found.values[r][i] for r in support])
    rows = found.rows(i, support)
    gram = rows @ rows.T
    share = np.array([found.shares[r][i] for r in support])
    kept = np.arange(len(support))
    while True:
        wanted = _stationary(gram[np.ix_(kept, kept)], values[kept])
        low = wanted < NEGATIVE
        if not low.any():
            share[:] = 0.0
            share[kept] = np.maximum(wanted, 0.0)
            break
        now = share[kept]
        step = np.min(now[low] / np.maximum(now[low] - wanted[low], 1e-300))
        now = np.maximum(now + min(step, 1.0) * (wanted - now), 0.0)
        share[kept] = now
        # the new output begins with nothing: it goes only where it is not wanted
        gone = low & (now <= 1e-14)
        gone[np.argmin(np.where(low, now, np.inf))] = True
        share[kept[gone]] = 0.0
        kept = kept[~gone]
    share /= share.sum()
    for r, p in zip(support, share, strict=True):
        found.shares[r][i] = p
    return [r for r, p in zip(support, share, strict=True) if p > 0.0]


def _stationary(gram: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The shares that sum to 1 and balance all slopes, whatever their signs."""
    return kkt(gram, np.append(values, 1.0))[:-1]


def kkt(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve [G 1; 1' 0] x = right; the shortest x where there are several."""
    n = len(gram)
    matrix = np.ones((n + 1, n + 1))
    matrix[:n, :n], matrix[n, n] = gram, 0.0
    return np.linalg.lstsq(matrix, right, rcond=1e-12)[0]


class SparseMarginals(torch.autograd.Function):
    """mu, and its derivatives: those of the quadratic program on its active set."""

    @staticmethod
    def forward(ctx, own, head, examples: Examples, tol: float, rounds: int):
        found = active_set(examples, scores_of(own, head), tol, rounds)
        ctx.found = found
        ctx.save_for_backward(own, head)
        mu = _average(found, found.shares)
        return like(mu.own, own), like(mu.head, head)

    @staticmethod
    def backward(ctx, v_own: Any, v_head: Any):
        own, head = ctx.saved_tensors
        found, way = ctx.found, scores_of(v_own, v_head)
        batch, layout = found.examples.batch, found.examples.layout
        slopes = np.array(
            [flat_scores.values_of(batch, layout, way, y) for y in found.labels]
        )
        shares = np.array(found.shares)
        moves = np.zeros_like(shares)
        for i in range(found.examples.n):
            support = np.flatnonzero(shares[:, i] > 0.0).tolist()
            rows = found.rows(i, support)
            right = np.append(slopes[support, i], 0.0)
            moves[support, i] = kkt(rows @ rows.T, right)[:-1]
        moved = _average(found, list(moves))
        return *refused(own, head, None, moved, None)[:2], None, None, None


def _average(found: ActiveSet, shares: list[np.ndarray]) -> Scores:
    """The parts of all outputs times their shares, shared parts too."""
    examples = found.examples
    own, head = np.zeros(examples.n_scores), np.zeros(examples.n_shared)
    for labels, share in zip(found.labels, shares, strict=True):
        if not share.any():
            continue
        part = flat_scores.sum_of_parts(examples.batch, examples.layout, labels, share)
        own += part.own
        head += part.head
    return Scores(own, head)
