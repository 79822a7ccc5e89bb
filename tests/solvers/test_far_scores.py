"""Sums of every family, and distributions that are kept, where scores are far apart."""

import numpy as np
import pytest
from conftest import random_chain
from far_cases import check_listed, far_scores
from scipy.special import logsumexp
from test_log_objective import FAMILIES, family, objective_on

from maxmargin.solvers import registry
from maxmargin.testing import Asker, enumerate_chain


@family
@pytest.mark.parametrize("walls", [0.0, 0.2])
def test_sums_of_scores_far_apart_are_those_of_all_outputs(family, walls):
    for seed in range(12):
        batch, n_weights, listed = FAMILIES[family](seed)
        rng = np.random.default_rng(seed)
        share = 0.0 if family == "classes" else walls  # one is always possible there
        for i in range(len(batch.start) - 1):
            check_listed(batch, i, n_weights, listed(batch, i), rng, share)


@pytest.mark.parametrize("seed", range(8))
def test_exponentiated_dual_is_exact_where_scores_are_far_apart(seed):
    rng = np.random.default_rng(seed)
    barrier = np.zeros((5, 3))
    barrier[:3][rng.random((3, 3)) < 0.3] = -np.inf
    barrier[np.arange(3), np.arange(3)] = 0.0
    batch, n_weights = random_chain(seed, (6, 1, 5), barrier=barrier)
    solver = registry.make("exponentiated", objective_on(batch, n_weights))
    scores = solver.gibbs.scores
    scores[:] = np.where(scores > -np.inf, far_scores(rng, len(scores)), scores)
    v, entropy = solver.exact_point()
    wanted, expected = 0.0, np.zeros(n_weights)
    for i in range(len(batch.start) - 1):
        ask = Asker(batch, i, np.zeros(n_weights), True)
        own = scores[solver.gibbs.place[i] : solver.gibbs.place[i + 1]]
        ask.theta.ravel()[: len(own)] = own
        every = [y for y in enumerate_chain(batch, i) if ask.value(y) > -np.inf]
        found = np.array([ask.value(y) for y in every])
        log_p = found - logsumexp(found)
        mass = solver.objective.mass[i]
        wanted -= mass * np.exp(log_p) @ log_p
        psi = np.array([ask.features(y) for y in every])
        truth = ask.features(batch.y[batch.start[i] : batch.start[i + 1]])
        expected += mass * (truth - np.exp(log_p) @ psi)
    assert entropy == pytest.approx(wanted, abs=1e-8)
    np.testing.assert_allclose(v, expected, atol=1e-8)
