"""Scores that lie far apart, and walls between them: what probability space cannot hold."""

import numpy as np
from hypothesis import strategies as st
from scipy.special import logsumexp

from maxmargin.core import contract
from maxmargin.core.kernel import kernel, run
from maxmargin.testing import Asker

SEEDS = st.integers(0, 10**6)
SIZES = 0.0, 0.0, 200.0, 700.0, 1000.0


def far_scores(rng, shape, walls=0.0):
    """Small numbers, most of them with a large one of either sign; some impossible."""
    sizes = rng.choice(SIZES, 2)  # of all here, so that there is often one size only
    out = rng.choice([1.0, 1e-3]) * rng.normal(size=shape)
    out += rng.choice(sizes, shape) * rng.choice([-1.0, 0.0, 1.0], shape)
    out += (rng.random() < 0.3) * rng.uniform(-1000.0, 1000.0, shape)
    out[rng.random(shape) < walls] = -np.inf
    return out


def check_sums(found, wanted):
    """(log Z, expectations) against the exact ones, where there is an output at all."""
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-9, atol=1e-9)
    if wanted[0] > -np.inf:
        np.testing.assert_allclose(found[1], wanted[1], rtol=0, atol=1e-8)
    assert np.isfinite(found[1]).all()


def listed_sums(scores, tables):
    """(log Z, expectation of the tables) of outputs that are listed."""
    scores = np.asarray(scores, float)
    top = scores.max(initial=-np.inf)
    if top == -np.inf:
        return top, np.zeros(np.shape(tables)[1:])
    p = np.exp(scores - top)
    return top + np.log(p.sum()), np.tensordot(p / p.sum(), tables, 1)


def chain_sums(nodes, steps):
    """(log Z, marginals, those of neighbours) of a chain, by plain log-sums.

    Scores nodes[t, k] of label k at t, steps[t, j, k] of label j at t and k behind it.
    """
    length, n = nodes.shape
    ahead, behind = nodes.copy(), np.zeros((length, n))
    for t in range(1, length):
        ahead[t] += logsumexp(ahead[t - 1][:, None] + steps[t - 1], axis=0)
        after = steps[-t] + nodes[-t] + behind[-t]
        behind[-1 - t] = logsumexp(after, axis=1)
    total = logsumexp(ahead[-1])
    if total == -np.inf:
        return total, np.zeros((length, n)), np.zeros((max(length - 1, 1), n, n))
    pairs = [
        np.exp(ahead[t][:, None] + steps[t] + nodes[t + 1] + behind[t + 1] - total)
        for t in range(length - 1)
    ]
    pairs = np.array([*pairs, np.zeros((n, n))])
    return total, np.exp(ahead + behind - total), pairs


def check_listed(batch, i, n_weights, outputs, rng, walls=0.0, agree=None):
    """sums() of example i under scores far apart, against a list of all its outputs.

    With ``agree``, which outputs agree with what is known, also known_sums().
    """
    ask = Asker(batch, i, np.zeros(n_weights), True)
    theta, outputs = far_scores(rng, ask.theta.shape, walls), list(outputs)
    ask.theta = np.where(ask.inside > 0, theta, 0.0)
    tables = np.array([ask.parts(y) for y in outputs])
    scores = np.array([ask.value(y) for y in outputs])
    check_sums(ask.sums(), listed_sums(scores, tables))
    if agree is not None:
        mu, agree = np.zeros(theta.shape), np.array(agree)
        total = run(known_sums_of, batch, i, ask.theta, mu)
        check_sums((total, mu), listed_sums(scores[agree], tables[agree]))


@kernel
def known_sums_of(batch, i, theta, mu):
    work = np.zeros(contract.sums_room(batch))
    return contract.known_sums(batch, i, theta, mu, work)
