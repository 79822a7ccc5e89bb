"""Objectives of a tagger: gradients, sums and bounds against all label sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objective_cases import LENGTHS, SparseVector, chain, listed, smooth_task, weights
from scipy.special import logsumexp

from maxmargin import SequenceTagger
from maxmargin.core.expectations import expectations
from maxmargin.tags.chain_inference import table_per_token

KINDS = ("log", "marginal", "exponential")


# Gradients ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.sampled_from([3, 7]))
@settings(max_examples=12)
def test_gradients_are_finite_differences(kind, seed, wall, n_labels):
    lengths = LENGTHS if n_labels == 3 else (1, 2, 3)  # 7 labels: rows with padding
    batch, n_weights = chain(seed, lengths, n_labels, wall=wall)
    objective = smooth_task(batch, n_weights, kind)
    w = weights(batch, n_weights, seed)
    value, gradient = objective.value_and_gradient(w)
    enumerated = 0.5 * w @ w + sum(x.loss(kind) for x in listed(batch, w))
    assert value == pytest.approx(enumerated, rel=1e-11)
    for direction in np.random.default_rng(seed).normal(size=(4, n_weights)):
        h = 1e-5
        up = objective.value_and_gradient(w + h * direction)[0]
        down = objective.value_and_gradient(w - h * direction)[0]
        slope = (up - down) / (2 * h)
        size = np.linalg.norm(gradient) * np.linalg.norm(direction)
        assert gradient @ direction == pytest.approx(slope, abs=1e-7 * size)


@pytest.mark.parametrize("seed", range(6))
def test_marginal_gradient_where_scores_are_far_apart(seed):
    batch, n_weights = chain(seed, LENGTHS, 3, wall=0.3)
    objective = smooth_task(batch, n_weights, "marginal")
    w = weights(batch, n_weights, seed, 100.0)
    value, gradient = objective.value_and_gradient(w)
    enumerated = 0.5 * w @ w
    for x in listed(batch, w):
        for t, k in enumerate(x.truth):
            enumerated -= logsumexp(x.scores[x.every[:, t] == k]) - logsumexp(x.scores)
    assert value == pytest.approx(enumerated, rel=1e-9)
    for direction in np.random.default_rng(seed).normal(size=(4, n_weights)):
        h = 1e-4
        up = objective.value_and_gradient(w + h * direction)[0]
        down = objective.value_and_gradient(w - h * direction)[0]
        size = np.linalg.norm(gradient) * np.linalg.norm(direction)
        slope = (up - down) / (2 * h)
        assert gradient @ direction == pytest.approx(slope, abs=1e-5 * size)


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_of_a_gradient(kind):
    """Coordinate by coordinate, against enumeration, the padding included."""
    batch, n_weights = chain(3, (1, 2, 3), 7, n_features=2, wall=0.2)
    w = weights(batch, n_weights, 3)
    objective = smooth_task(batch, n_weights, kind)
    for i in range(3):
        gradient = np.zeros(n_weights)
        objective._gradient_range(i, i + 1, w, np.zeros(3), gradient)
        x = SparseVector(batch, i, w)
        if kind == "marginal":
            wanted = len(x.truth) * x.p @ x.psi
            for t, k in enumerate(x.truth):
                p = np.where(x.every[:, t] == k, x.p, 0.0)
                wanted -= p / p.sum() @ x.psi
        else:
            factor = 1.0 if kind == "log" else x.share * np.exp(-x.log_p_truth)
            wanted = factor * (x.p - x.is_truth) @ x.psi
        np.testing.assert_allclose(gradient, wanted, atol=1e-11 * max(1, factor_of(x)))


def factor_of(x):
    return x.share * np.exp(-x.log_p_truth)


@given(st.integers(0, 10**6), st.sampled_from([1.0, 10.0, 25.0]))
@settings(max_examples=20)
def test_sums_agree_with_enumeration(seed, size):
    """Marginals, expected transitions and log Z."""
    check_sums(seed, size)


@pytest.mark.parametrize("seed", [11, 23])
def test_sums_where_scores_are_far_apart(seed):
    check_sums(seed, 60.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_dual_is_a_bound_where_scores_are_far_apart():
    X = [1000.0 * np.array([[1, 0], [0, 1], [0.5, 0.5]]), 1000.0 * np.eye(2)[::-1]] * 3
    y = [["A", "B", "A"], ["B", "A"]] * 3
    options = {"objective": "log", "C": 10, "forbidden": [("A", "A")], "max_iter": 50}
    good = SequenceTagger(solver="lbfgs", **options).fit(X, y)
    model = SequenceTagger(solver="exponentiated", **options).fit(X, y)
    assert model.certificate_.dual <= good.certificate_.primal * (1 + 1e-6)


def check_sums(seed, size):
    batch, n_weights = chain(seed, wall=0.3)
    w = weights(batch, n_weights, seed, size)
    table = table_per_token("sum", batch, w)
    n = batch.n_labels
    found, totals = expectations(batch, w)
    for i, x in enumerate(listed(batch, w)):
        length, total = len(x.truth), totals[i]
        mu = found[i].reshape(-1, batch.width)
        assert total == pytest.approx(logsumexp(x.scores), rel=1e-11, abs=1e-9)
        wanted = x.marginals(batch.n_labels)
        np.testing.assert_allclose(mu[n + 2 :], wanted, atol=1e-10)
        np.testing.assert_allclose(mu[n : n + 2], wanted[[0, -1]], atol=1e-10)
        np.testing.assert_allclose(
            table[batch.start[i] : batch.start[i + 1]], wanted, atol=1e-10
        )
        pairs = np.zeros((batch.n_labels, batch.n_labels))
        for t in range(1, length):
            np.add.at(pairs, (x.every[:, t - 1], x.every[:, t]), x.p)
        np.testing.assert_allclose(mu[:n], pairs, atol=1e-10)


# Bounds ---------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 5.0]))
@settings(max_examples=30)
def test_losses_bound_the_risks_that_the_survey_says(seed, size):
    batch, n_weights = chain(seed, wall=0.2 * (seed % 2))
    w = weights(batch, n_weights, seed, size)
    risks = dict.fromkeys(("zero-one", "hamming", "rank"), 0.0)
    for x in listed(batch, w):
        wrong = x.lead[~x.is_truth]
        risks["zero-one"] += wrong.max(initial=-np.inf) >= 0
        pointwise = x.marginals(batch.n_labels).argmax(axis=1)
        risks["hamming"] += (pointwise != x.truth).sum()
        risks["rank"] += x.share * (wrong >= 0).sum()
    bounds = {}
    for kind in KINDS:
        objective = smooth_task(batch, n_weights, kind)
        bounds[kind] = float(objective.sweep(w).hinges.sum())
    slop = 1e-9
    assert risks["zero-one"] <= bounds["log"] / np.log(2) + slop
    assert risks["hamming"] <= bounds["marginal"] / np.log(2) + slop
    assert risks["rank"] <= bounds["exponential"] + slop
