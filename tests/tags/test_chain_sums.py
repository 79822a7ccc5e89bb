"""Sums over labellings whose scores are far apart, against plain sums in log space."""

import numpy as np
import pytest
from conftest import random_chain
from far_cases import SEEDS, chain_sums, check_sums, far_scores
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maxmargin import SequenceTagger
from maxmargin.core import contract
from maxmargin.core.kernel import direct, kernel, run
from maxmargin.core.partial import partly_known
from maxmargin.tags.chain_gradients import MARGINAL, loss_and_gradient


def chain_of(rng, length, n):
    """A sequence and scores for it: tokens favour a label for some time, or are any."""
    batch, _ = random_chain(0, (length,), n)
    walls = rng.choice([0.0, 0.2, 0.5, 0.8])
    theta = np.zeros(contract.shape(batch))
    theta[:n, :n] = far_scores(rng, (n, n), walls)
    if rng.random() < 0.5:  # few labels lead to others
        theta[:n, :n] = np.where(np.eye(n) > 0, 0.0, theta[:n, :n])
    theta[n : n + 2, :n] = far_scores(rng, (2, n), 0.5 * walls)
    tokens = far_scores(rng, (length, n), rng.choice([0.0, 0.05]))
    if rng.random() < 0.7:
        tokens = rng.normal(size=(length, n))
        runs = np.repeat(rng.integers(n, size=length), rng.integers(1, 12, length))
        tokens[np.arange(length), runs[:length]] += rng.choice([30.0, 200.0, 290.0])
    theta[n + 2 :, :n] = tokens
    return batch, theta


def plain_sums(theta, n, length):
    """log Z and expected parts, in the layout of theta."""
    tokens = theta[n + 2 : n + 2 + length, :n].copy()
    tokens[0] += theta[n, :n]
    tokens[-1] += theta[n + 1, :n]
    total, p, pairs = chain_sums(tokens, np.array([theta[:n, :n]] * (length - 1)))
    mu = np.zeros_like(theta)
    mu[:n, :n], mu[n + 2 : n + 2 + length, :n] = pairs.sum(axis=0), p
    mu[n], mu[n + 1] = mu[n + 2], mu[n + 1 + length]
    return total, mu


@kernel
def sums_of(batch, theta, mu, known):
    work = np.zeros(contract.sums_room(batch))
    if known:
        return contract.known_sums(batch, 0, theta, mu, work)
    return contract.sums(batch, 0, theta, mu, work)


@kernel
def marginal_loss(batch, theta, mu):  # compiled for the batch itself, as in a fit
    work = np.zeros(contract.sums_room(batch))
    return loss_and_gradient(batch, 0, MARGINAL, theta, mu, work)[0]


def found_sums(batch, theta, known=False):
    mu = np.zeros(theta.shape)
    return run(sums_of, batch, theta.copy(), mu, known), mu


@settings(max_examples=200, deadline=None)
@given(SEEDS, st.integers(1, 60), st.integers(1, 7))
def test_sums_of_scores_far_apart(seed, length, n):
    batch, theta = chain_of(np.random.default_rng(seed), length, n)
    check_sums(found_sums(batch, theta), plain_sums(theta, n, length))


@pytest.mark.parametrize("size", [50.0, 200.0, 290.0])
@pytest.mark.parametrize("leak", [-np.inf, -290.0])
def test_labels_that_are_kept_apart_are_not_forgotten(size, leak):
    """What favours one label first and another for longer, each too little to be seen."""
    length, n = 40, 3
    batch, _ = random_chain(0, (length,), n)
    theta = np.zeros(contract.shape(batch))
    theta[:n, :n] = np.where(np.eye(n) > 0, 0.0, leak)
    theta[n + 2 : n + 18, 0] = theta[n + 18 : n + 2 + length, 1] = size
    total, mu = plain_sums(theta, n, length)
    check_sums(found_sums(batch, theta), (total, mu))
    assert total >= 24 * size


@settings(max_examples=100, deadline=None)
@given(SEEDS, st.integers(1, 40), st.integers(2, 5))
def test_sums_over_what_is_known(seed, length, n):
    rng = np.random.default_rng(seed)
    batch, theta = chain_of(rng, length, n)
    known = rng.random(length) < rng.choice([0.1, 0.9])
    clamped = theta.copy()
    clamped[n + 2 :, :n][known[:, None] & (batch.y[:, None] != np.arange(n))] = -np.inf
    found = found_sums(partly_known(batch, known), theta, True)
    check_sums(found, plain_sums(clamped, n, length))


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.integers(1, 25), st.integers(2, 5))
@example(0, 12, 2)
def test_the_marginal_loss_of_scores_far_apart(seed, length, n):
    rng = np.random.default_rng(seed)
    batch, theta = chain_of(rng, length, n)
    total, mu = plain_sums(theta, n, length)
    if total == -np.inf:
        return
    likely = mu[n + 2 :, :n] + 1e-12 * rng.random((length, n))
    truth = likely.argmax(axis=1)
    flip = rng.random(length) < 0.3
    truth[flip] = rng.integers(n, size=flip.sum())
    batch.y[:] = truth
    loss, gradient = 0.0, length * mu
    for t in range(length):
        alone = theta.copy()
        alone[n + 2 + t, :n] = -np.inf
        alone[n + 2 + t, truth[t]] = theta[n + 2 + t, truth[t]]
        chance, given_truth = plain_sums(alone, n, length)
        if chance == -np.inf:
            return
        loss += total - chance
        gradient -= given_truth
    found = np.zeros(theta.shape)
    value = direct(marginal_loss, batch, theta, found)
    np.testing.assert_allclose(value, loss, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(found, gradient, rtol=0, atol=1e-7)


def test_posterior_decoding_takes_the_best_of_labels_that_are_kept_apart():
    X, y = [np.eye(2)[[k] * 12] for k in (0, 1)], [["A"] * 12, ["B"] * 12]
    model = SequenceTagger(objective="log", forbidden=[("A", "B"), ("B", "A")], C=1)
    model.fit(X, y)
    model._w[:] = 0.0
    model._w.reshape(6, -1)[[0, 1], [0, 1]] = 200.0
    row = np.eye(2)[[0] * 5 + [1] * 6]
    assert model.predict([row]) == [["B"] * 11]
    assert model.set_params(decoding="posterior").predict([row]) == [["B"] * 11]
    np.testing.assert_allclose(
        model.predict_marginals([row])[0], [[0, 1]] * 11, atol=1e-8
    )
