"""Exponentiated gradient on the dual of a conditional random field, block by block.

The dual point of example i is the distribution p_i over its labellings with scores
theta_i of its own: a table of token scores and one of transitions. A visit moves these
scores towards the scores under w,

    theta_i <- theta_i + eta_i (theta(w) - theta_i)

and w with them. p_i is a fixed point when theta_i = theta(w), and the gap of the block is
C_i KL(p_i, p(w)), so at the optimum every theta_i is theta(w). A step that would lower the
dual is taken back and halved. eta_i follows the curvature seen at the last visit: along
the path, the entropy bends with the variance V of theta(w) - theta_i and |w|^2 with
|dw / d eta|^2, which together put the best step at

    eta = C V / (C V + |dw / d eta|^2).

(Collins, Globerson, Koo, Carreras & Bartlett 2008. ``benchmarks/tagging.py`` prints the
passes and seconds to the objective of 100 L-BFGS iterations.)
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from maxmargin.core.contract import score
from maxmargin.core.kernel import inlined, kernel, summing
from maxmargin.solvers.block_coordinate import BlockCoordinate, blend_into
from maxmargin.tags.chain_gradients import add_to
from maxmargin.tags.chain_sums import (
    exp_transitions,
    expected_score,
    sum_labellings,
    sum_pairs,
)

CONFIDENCE = 9.0  # score of the true labels in the first theta_i
FIRST_STEP = 0.3
RETRIES = 4
LEAST_STEP = 1e-9  # smaller steps drown in rounding


class Gibbs(NamedTuple):
    """The distributions p_i: their scores and what is expected under them."""

    tokens: np.ndarray  # (tokens, width) scores
    steps: np.ndarray  # (n, labels + 2, width): transitions, first, last
    marginals: np.ndarray  # (tokens, width)
    pairs: np.ndarray  # (n, labels, width)
    entropy: np.ndarray  # (n,)


class Exponentiated(BlockCoordinate):
    """Shares the choice of blocks, averages and certificates with block-coordinate."""

    def _start(self, planes) -> None:
        objective, batch = self.objective, self.objective.batch
        shape = (len(batch.y), batch.width)
        n = objective.n
        self.gibbs = Gibbs(
            tokens=np.zeros(shape, objective.dtype),
            steps=np.zeros((n, batch.n_labels + 2, batch.width), objective.dtype),
            marginals=np.zeros(shape, objective.dtype),
            pairs=np.zeros((n, batch.n_labels, batch.width), objective.dtype),
            entropy=np.zeros(n),
        )
        self.eta = np.full(n, FIRST_STEP)
        self.sums = objective.sums()
        start_at_truth(batch, self.gibbs, self.buffers.theta, self.sums)
        self._rebuild()

    def prepare(self) -> None:
        self._exact(np.zeros(0, np.int64))
        blend_into(self.average[:0], self.w[:0], 0.0)

    def step(self) -> None:
        objective = self.objective
        order = self._chosen()
        gained = self._exact(order)
        objective.oracle_calls += len(order)
        began = time.perf_counter()
        self.passes += 1
        blend_into(self.average, self.w, self._newest_share(self.passes))
        self.dual += gained
        self.estimate = self.dual + float(self.gaps.sum())
        self.update_seconds += time.perf_counter() - began

    def learn_from(self, sweep) -> None:
        pass

    def _exact(self, order) -> float:
        objective = self.objective
        done, gained = 0, 0.0
        while True:
            began = time.perf_counter()
            part = order[done : done + self.chunk]
            gained += exponentiated_pass(
                objective.batch,
                self.gibbs,
                self.buffers.theta,
                self.sums,
                part,
                objective.mass,
                self.eta,
                self.w,
                self.gaps,
            )
            done += len(part)
            if done >= len(order):
                return gained
            self._pace(time.perf_counter() - began, len(part))

    def _rebuild(self) -> None:
        objective = self.objective
        rebuild_from_marginals(objective.batch, self.gibbs, objective.mass, self.w)

    def _dual(self) -> float:
        return float(self.objective.mass @ self.gibbs.entropy) - 0.5 * self._squared()


@kernel
def start_at_truth(batch, gibbs, theta, sums):
    """theta_i favours the true labels; marginals and entropies to match."""
    n = batch.n_labels
    for i in range(len(batch.start) - 1):
        first, last = batch.start[i], batch.start[i + 1]
        if first == last:
            continue
        for row in range(n + 2):
            for k in range(batch.width):
                gibbs.steps[i, row, k] = batch.barrier[row, k]
        for t in range(first, last):
            gibbs.tokens[t, batch.y[t]] = CONFIDENCE
        blend_scores(batch, gibbs, i, theta, 0.0, theta)
        gibbs.entropy[i] = take_sums(batch, gibbs, i, theta, sums, True)


@inlined
def blend_scores(batch, gibbs, i, target, eta, out):
    """out <- theta_i + eta * (target - theta_i); what is forbidden stays so."""
    n = batch.n_labels
    first = batch.start[i]
    e = out.dtype.type(eta)
    for row in range(n + 2):
        own, goal, result = gibbs.steps[i, row], target[row], out[row]
        wall = batch.barrier[row]
        for k in range(n):
            mixed = own[k] + e * (goal[k] - own[k]) if eta > 0.0 else own[k]
            result[k] = mixed if wall[k] == 0.0 else wall[k]
    for t in range(batch.start[i + 1] - first):
        own, goal, result = gibbs.tokens[first + t], target[n + 2 + t], out[n + 2 + t]
        for k in range(n):
            result[k] = own[k] + e * (goal[k] - own[k]) if eta > 0.0 else own[k]


@inlined
def take_sums(batch, gibbs, i, theta, sums, store):
    """Sums at these scores; returns the entropy; ``store`` keeps the expectations."""
    n = batch.n_labels
    first = batch.start[i]
    length = batch.start[i + 1] - first
    taken = exp_transitions(theta, n, sums)
    total = sum_labellings(theta, n, length, taken, sums)
    sum_pairs(n, length, sums)
    if store:
        keep_sums(batch, gibbs, i, sums)
    return max(total - expected_score(theta, n, length, sums), 0.0)


@inlined
def keep_sums(batch, gibbs, i, sums):
    first = batch.start[i]
    for t in range(batch.start[i + 1] - first):
        for k in range(batch.width):
            gibbs.marginals[first + t, k] = sums.marginals[t, k]
    for j in range(batch.n_labels):
        for k in range(batch.width):
            gibbs.pairs[i, j, k] = sums.pairs[j, k]


@summing
def change_times(batch, gibbs, i, theta, sums):
    """<new expectations - old ones, theta>."""
    n = batch.n_labels
    first = batch.start[i]
    last = batch.start[i + 1] - 1
    total = 0.0
    for j in range(n):
        total += change_dot(sums.pairs[j], gibbs.pairs[i, j], theta[j], n)
    total += change_dot(sums.marginals[0], gibbs.marginals[first], theta[n], n)
    total += change_dot(
        sums.marginals[last - first], gibbs.marginals[last], theta[n + 1], n
    )
    for t in range(last - first + 1):
        total += change_dot(
            sums.marginals[t], gibbs.marginals[first + t], theta[n + 2 + t], n
        )
    return total


@summing
def change_dot(new, old, scores, n):
    total = 0.0
    for k in range(n):
        x = float(scores[k])
        total += (new[k] - float(old[k])) * (x if x > -np.inf else 0.0)
    return total


@inlined
def add_change(batch, gibbs, i, factor, sums, change, w):
    """w += factor * (new expectations - old ones), feature by feature."""
    n = batch.n_labels
    width = batch.width
    first = batch.start[i]
    length = batch.start[i + 1] - first
    rows = w.reshape((batch.n_features + n + 2, width))
    for t in range(length):
        new, old = sums.marginals[t], gibbs.marginals[first + t]
        size = 0.0
        for k in range(width):
            change[k] = factor * (new[k] - float(old[k]))
            size = max(size, abs(change[k]))
        if t == 0:
            add_to(rows[batch.n_features + n], change, 1.0)
        if t == length - 1:
            add_to(rows[batch.n_features + n + 1], change, 1.0)
        if size > 0.0:
            for j in range(batch.indptr[first + t], batch.indptr[first + t + 1]):
                add_to(rows[batch.indices[j]], change, batch.values[j])
    for j in range(n):
        row = rows[batch.n_features + j]
        for k in range(n):
            row[k] += factor * (sums.pairs[j, k] - float(gibbs.pairs[i, j, k]))


@kernel
def exponentiated_pass(batch, gibbs, theta, sums, order, mass, eta, w, gaps):
    """Visit blocks in order; writes gaps (estimates), returns the gain of the dual."""
    n = batch.n_labels
    mixed = np.empty_like(theta)
    change = np.empty(batch.width, w.dtype)
    gained = 0.0
    for i in order:
        first = batch.start[i]
        length = batch.start[i + 1] - first
        c = mass[i]
        if length == 0 or c == 0.0:
            gaps[i] = 0.0
            continue
        score(batch, i, w, theta)
        step = eta[i]
        for attempt in range(RETRIES):
            blend_scores(batch, gibbs, i, theta, step, mixed)
            entropy = take_sums(batch, gibbs, i, mixed, sums, False)
            along = change_times(batch, gibbs, i, theta, sums)
            blend_scores(batch, gibbs, i, theta, 0.0, mixed)  # theta_i itself
            own = change_times(batch, gibbs, i, mixed, sums)
            variance = max((along - own) / step, 0.0)
            add_change(batch, gibbs, i, -c, sums, change, w)
            score(batch, i, w, mixed)
            after = change_times(batch, gibbs, i, mixed, sums)
            # w.dw = -c along before and -c after after, so |dw|^2 is their difference
            squared = max(-c * (after - along), 0.0)
            gain = c * (entropy - gibbs.entropy[i]) + c * along - 0.5 * squared
            bend = c * variance
            best = bend / (bend + squared / step**2) if bend > 0.0 else step
            if gain >= 0.0 or attempt == RETRIES - 1:
                break
            add_change(batch, gibbs, i, c, sums, change, w)
            step = min(max(best, 0.1 * step), 0.5 * step)
        if gain < 0.0:
            add_change(batch, gibbs, i, c, sums, change, w)
            eta[i] = max(step, LEAST_STEP)
            continue
        gaps[i] = 0.5 * c * variance
        gained += gain
        gibbs.entropy[i] = entropy
        for row in range(n + 2):
            own_row, goal = gibbs.steps[i, row], theta[row]
            for k in range(n):
                if batch.barrier[row, k] == 0.0:
                    own_row[k] += own_row.dtype.type(step) * (goal[k] - own_row[k])
        for t in range(length):
            own_row, goal = gibbs.tokens[first + t], theta[n + 2 + t]
            for k in range(n):
                own_row[k] += own_row.dtype.type(step) * (goal[k] - own_row[k])
        keep_sums(batch, gibbs, i, sums)
        eta[i] = min(max(best, LEAST_STEP), 1.0)
    return gained


@kernel
def rebuild_from_marginals(batch, gibbs, mass, w):
    """w <- sum_i C_i (Psi(x_i, y_i) - E_p_i Psi)."""
    n = batch.n_labels
    width = batch.width
    w[:] = 0
    rows = w.reshape((batch.n_features + n + 2, width))
    change = np.empty(width, w.dtype)
    for i in range(len(batch.start) - 1):
        first, last = batch.start[i], batch.start[i + 1]
        c = mass[i]
        if first == last or c == 0.0:
            continue
        for t in range(first, last):
            for k in range(width):
                change[k] = -c * gibbs.marginals[t, k]
            change[batch.y[t]] += c
            if t == first:
                add_to(rows[batch.n_features + n], change, 1.0)
            else:
                rows[batch.n_features + batch.y[t - 1], batch.y[t]] += c
            if t == last - 1:
                add_to(rows[batch.n_features + n + 1], change, 1.0)
            for j in range(batch.indptr[t], batch.indptr[t + 1]):
                add_to(rows[batch.indices[j]], change, batch.values[j])
        for j in range(n):
            row = rows[batch.n_features + j]
            for k in range(n):
                row[k] -= c * gibbs.pairs[i, j, k]
