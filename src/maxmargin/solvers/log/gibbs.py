"""The distributions over outputs that exponentiated gradient keeps, one per example.

Scores and expectations of all examples, one table of parts each, in a flat array
(``core/expectations.py``): where they start, what weights and entropy they stand for, and
whether what is kept of them agrees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.contract import parts, score, shared, spread, sums, value
from maxmargin.core.expectations import copy_into
from maxmargin.core.kernel import kernel
from maxmargin.solvers.log.log_objective import finite_dot
from maxmargin.solvers.log.row_steps import spread_into


class Gibbs(NamedTuple):
    """The distributions p_i: their scores and what is expected under them."""

    place: np.ndarray  # int64[n + 1]: where the parts of example i lie
    scores: np.ndarray
    expectations: np.ndarray
    entropy: np.ndarray  # float64[n]


@kernel
def start_at_truth(batch, lo, hi, gibbs, memory, w, confidence):
    """theta_i favours the true parts; expectations and entropies to match.

    All of them, or only those that the truth has once: others (gaps, rules) belong to
    several places, and not all of these may want them. The truth decides, by where it
    is more probable.
    """
    theta, mu, work = memory
    scores, expected = theta.ravel(), mu.ravel()
    for i in range(lo, hi):
        first, last = batch.start[i], batch.start[i + 1]
        if first == last:
            continue
        truth = batch.y[first:last]
        own = gibbs.scores[gibbs.place[i] : gibbs.place[i + 1]]
        best = -np.inf
        for most in (np.inf, 1.0):
            score(batch, i, w, theta)  # w = 0: -inf where a part is impossible
            for k in range(len(own)):
                expected[k] = 0.0
            parts(batch, i, truth, 1.0, mu)
            for k in range(shared(batch), len(own)):
                if 0.0 < expected[k] <= most:
                    scores[k] = confidence
            total = sums(batch, i, theta, mu, work)
            chance = value(batch, i, theta, truth) - total
            if chance > best:
                best = chance
                copy_into(own, scores)
                entropy = total - finite_dot(expected[: len(own)], scores)
                gibbs.entropy[i] = max(entropy, 0.0)
                place = gibbs.place[i]
                kept = gibbs.expectations[place : gibbs.place[i + 1]]
                copy_into(kept, expected)


@kernel
def gibbs_error(batch, gibbs, memory, w):
    """The largest error of what is kept of the distributions: entropy, expectations.

    Infinite where a part is possible that must not be (w = 0 scores those -inf).
    """
    theta, mu, work = memory
    scores, expected = theta.ravel(), mu.ravel()
    most = 0.0
    for i in range(len(batch.start) - 1):
        if batch.start[i] == batch.start[i + 1]:
            continue
        own = gibbs.scores[gibbs.place[i] : gibbs.place[i + 1]]
        kept = gibbs.expectations[gibbs.place[i] : gibbs.place[i + 1]]
        score(batch, i, w, theta)
        for k in range(len(own)):
            if (scores[k] == -np.inf) != (own[k] == -np.inf):
                return np.inf
            scores[k] = own[k]
        total = sums(batch, i, theta, mu, work)
        entropy = max(total - finite_dot(expected[: len(own)], scores), 0.0)
        most = max(most, abs(entropy - gibbs.entropy[i]) / (1.0 + entropy))
        for k in range(len(own)):
            error = abs(expected[k] - float(kept[k]))
            most = max(most, error / (1.0 + abs(expected[k])))
    return most


@kernel
def exact_weights_of(batch, lo, hi, place, kept, memory, mass, w, change, locks):
    """w += sum_i C_i (Psi(x_i, y_i) - E_p_i Psi); returns sum_i C_i entropy(p_i).

    ``kept`` are the scores of the examples lo .. hi.
    """
    theta, mu, work = memory
    scores, expected, total = theta.ravel(), mu.ravel(), 0.0
    for i in range(lo, hi):
        first, last = batch.start[i], batch.start[i + 1]
        if first == last or mass[i] == 0.0:
            continue
        own = kept[place[i] - place[lo] : place[i + 1] - place[lo]]
        copy_into(scores[: len(own)], own)
        entropy = sums(batch, i, theta, mu, work)
        entropy -= finite_dot(expected[: len(own)], scores)
        total += mass[i] * max(entropy, 0.0)
        parts(batch, i, batch.y[first:last], -1.0, mu)
        spread_into(batch, i, -mass[i], mu, w, change, locks)
    return total


@kernel
def weights_of(batch, gibbs, memory, mass, w):
    """w <- sum_i C_i (Psi(x_i, y_i) - E_p_i Psi).

    By one thread: additions are all there is to do, and several would wait for w.
    """
    _, mu, _ = memory
    change = mu.ravel()
    for j in range(len(w)):
        w[j] = 0
    for i in range(len(batch.start) - 1):
        first, last = batch.start[i], batch.start[i + 1]
        if first == last or mass[i] == 0.0:
            continue
        old = gibbs.expectations[gibbs.place[i] : gibbs.place[i + 1]]
        for k in range(len(old)):
            change[k] = -float(old[k])
        parts(batch, i, batch.y[first:last], 1.0, mu)
        spread(batch, i, mass[i], mu, w)
