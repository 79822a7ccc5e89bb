"""Boosting: the product of partition functions, against all label sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objective_cases import FORM, chain, drive_on, listed, toy

from maxmargin import SequenceTagger


def boost(batch, n_weights, rounds, mass=None, n_jobs=1):
    from maxmargin.tags.boosting import Boosting, BoostingObjective

    mass = np.ones(len(batch.start) - 1) if mass is None else mass
    objective = BoostingObjective(batch, n_weights, FORM, mass, np.float64, n_jobs)
    solver = Boosting(objective)
    return drive_on(objective, solver, max_iter=rounds), solver


@given(
    st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.sampled_from(["01", "any"])
)
@settings(max_examples=15)
def test_risk_is_below_the_product_of_Z(seed, wall, values):
    batch, n_weights = chain(seed, wall=wall)
    if values == "01":
        batch.values[:] = 1.0
    mass = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], size=5)
    mass[0] = 1.0
    solution, _ = boost(batch, n_weights, 15, mass)
    start = boosting_risk(batch, np.zeros(n_weights), mass)
    risk = boosting_risk(batch, solution.w, mass) / start
    assert solution.certificate.primal == pytest.approx(risk, rel=1e-7)
    rank = sum(
        m * 2.0 ** -len(x.truth) * (x.lead[~x.is_truth] >= 0).sum()
        for m, x in zip(mass, listed(batch, solution.w), strict=True)
    )
    before = product_of_Z = 1.0
    for row in solution.history:
        # every round, and not only their product, obeys its bound
        assert row["Z"] <= 1
        assert row["primal"] <= before * row["Z"] * (1 + 1e-7)
        before, product_of_Z = row["primal"], product_of_Z * row["Z"]
        assert row["bound"] == pytest.approx(product_of_Z)
    assert rank / start <= risk <= product_of_Z * (1 + 1e-7)


def boosting_risk(batch, w, mass):
    """sum_i C_i 2^-T sum_(y != y_i) exp(F(y) - F(y_i)), by enumeration."""
    return sum(
        m * 2.0 ** -len(x.truth) * np.exp(x.lead[~x.is_truth]).sum()
        for m, x in zip(mass, listed(batch, w), strict=True)
    )


def test_ranges_and_expectations_of_boosting_agree_with_enumeration():
    batch, n_weights = chain(2, wall=0.2)
    _, solver = boost(batch, n_weights, 5)
    low, high = np.zeros(n_weights), np.zeros(n_weights)
    total, mean = 0.0, np.zeros(n_weights)
    for x in listed(batch, solver.w):
        u = x.psi - x.psi[x.is_truth]
        low, high = np.minimum(low, u.min(axis=0)), np.maximum(high, u.max(axis=0))
        d = 2.0 ** -len(x.truth) * np.exp(x.lead) * ~x.is_truth
        total, mean = total + d.sum(), mean + d @ u
    # forbidden transitions may make the true range smaller, never larger
    assert (solver.low <= low + 1e-12).all()
    assert (solver.high >= high - 1e-12).all()
    np.testing.assert_allclose(solver.gradient, mean / total, atol=1e-11)
    free, n_weights = chain(2)
    _, solver = boost(free, n_weights, 1)
    low = np.min(
        [(x.psi - x.psi[x.is_truth]).min(axis=0) for x in listed(free, solver.w)], 0
    )
    np.testing.assert_allclose(solver.low, np.minimum(low, 0), atol=1e-12)


def test_boosting_gives_sparse_weights_that_work():
    X, y = toy(4, n=60)
    model = SequenceTagger(objective="boosting", max_iter=20).fit(X, y)
    assert not model.certificate_.exact
    used = sum(
        np.count_nonzero(part)
        for part in (model.coef_, model.transitions_, model.first_, model.last_)
    )
    assert 0 < used <= 20
    assert model.n_iter_ == 20
    full = SequenceTagger(objective="log").fit(X, y)
    assert model.score(X, y) >= full.score(X, y) - 0.1
    assert model.certificate_.dual == 0
    assert SequenceTagger(objective="boosting", max_iter=5, n_jobs=2).fit(
        X, y
    ).coef_.tolist() == (
        SequenceTagger(objective="boosting", max_iter=5).fit(X, y).coef_.tolist()
    )


def test_boosting_ends_when_nothing_is_to_be_gained():
    """Labels without any bearing on the words: no weight helps, once ends are known."""
    X = [[["w"]]] * 2
    y = [["A"], ["B"]]
    model = SequenceTagger(objective="boosting")
    with pytest.warns(UserWarning, match="all zero"):
        model.fit(X, y)
    assert model.converged_
    assert model.n_iter_ == 1
    assert not model._w.any()


def test_boosting_of_long_sequences_does_not_overflow():
    """Hundreds of tokens: more labellings than any float can count."""
    rng = np.random.default_rng(0)
    tags = [rng.integers(4, size=length) for length in (700, 3, 900, 1)]
    X = [[[f"w{k}"] for k in row] for row in tags]
    y = [["ABCD"[k] for k in row] for row in tags]
    model = SequenceTagger(objective="boosting", max_iter=60).fit(X, y)
    primal = np.array([row["primal"] for row in model.history_])
    assert (primal > 0).all()
    found = np.isfinite(primal)  # a certificate is not made in every round
    assert (np.diff(primal[found]) <= 0).all()
    assert primal[-1] < primal[found][0]
    bound = np.array([row["bound"] * (1 + 1e-7) for row in model.history_])
    certified = np.isfinite(primal) & (primal < np.append(np.inf, primal[:-1]))
    assert certified.sum() >= 2
    assert (primal <= bound)[certified].all()
    assert np.isfinite(model._w).all()
    assert model.score(X, y) > 0.9
