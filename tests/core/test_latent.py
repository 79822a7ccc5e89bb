"""Hidden parts: the concave-convex procedure, its invariants and its bad input."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import LatentProblem, LatentStructuralSVM, Problem, StructuralSVM
from maxmargin.files.model_file import load, save


class Bump(LatentProblem):
    """y says whether the series x has a bump, h where it is; searches are written out."""

    n_features = 4

    def joint_feature(self, x, y, h):
        return y * np.append(x[h : h + 3], 1.0)

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def pairs(self, x):
        return [(0, 0)] + [(1, h) for h in range(len(x) - 2)]

    def argmax(self, x, w):
        return max(self.pairs(x), key=lambda p: w @ self.joint_feature(x, *p))

    def loss_augmented_argmax(self, x, y, w):
        def value(p):
            return w @ self.joint_feature(x, *p) + self.loss(y, *p)

        return max(self.pairs(x), key=value)

    def complete(self, x, y, w):
        same = [p for p in self.pairs(x) if p[0] == y]
        return max(same, key=lambda p: w @ self.joint_feature(x, *p))[1]


class SparseVector(LatentProblem):
    joint_feature, loss, outputs = Bump.joint_feature, Bump.loss, Bump.pairs


def bumps(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(0, 0.3, (n, 9)), np.arange(n) % 2
    where = rng.integers(7, size=n)
    for x, at in zip(X[1::2], where[1::2], strict=True):
        x[at : at + 3] += [1, 2, 1]
    return list(X), y.tolist(), where


def true_objective(problem, w, X, y, C):
    total = 0.5 * w @ w
    for x, truth in zip(X, y, strict=True):
        pairs = [(p, w @ problem.joint_feature(x, *p)) for p in Bump.pairs(problem, x)]
        best = max(s + problem.loss(truth, *p) for p, s in pairs)
        total += C * (best - max(s for p, s in pairs if p[0] == truth))
    return total


@pytest.mark.parametrize(
    "problem", [Bump(), SparseVector()], ids=["searched", "listed"]
)
@pytest.mark.parametrize(
    "solver", ["block-coordinate", "one-slack", "n-slack", "proximal-bundle"]
)
def test_the_objective_is_what_it_says_and_never_rises(problem, solver):
    X, y, _ = bumps()
    model = LatentStructuralSVM(
        problem, C=2.0, n_restarts=3, solver=solver, tol=1e-4, random_state=1
    ).fit(X, y)
    point = model.certificate_
    assert model.converged_
    assert point.exact
    assert point.objective == pytest.approx(
        true_objective(problem, model.coef_, X, y, 2.0), rel=1e-9
    )
    values = [row["objective"] for row in model.rounds_]
    assert all(b <= a * (1 + 1e-9) for a, b in itertools.pairwise(values))
    assert point.objective == min(model.restarts_)
    assert len(model.restarts_) == 3
    assert point.inner_gap >= 0
    assert 0 <= point.bound <= 1e-4 * point.objective
    assert model.score(X, y) > -0.1


def test_it_finds_the_hidden_places():
    X, y, where = bumps(60)
    model = LatentStructuralSVM(Bump(), C=10.0, n_restarts=5).fit(X, y)
    found = model.predict_latent(X)
    near = [
        abs(h - where[i]) <= 1 for i, (z, h) in enumerate(found) if y[i] == 1 and z == 1
    ]
    assert len(near) >= 25
    assert np.mean(near) > 0.9
    kept = [
        abs(h - where[i]) <= 1 for i, h in enumerate(model.completions_) if y[i] == 1
    ]
    assert np.mean(kept) > 0.9


class OneValue(LatentProblem):
    """A hidden part with one value: nothing is hidden."""

    def joint_feature(self, x, y, h):
        return 0.5 * y * x

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [(1, None), (-1, None)]


class Signs(Problem):
    def joint_feature(self, x, y):
        return 0.5 * y * x

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [1, -1]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
def test_with_one_hidden_value_it_is_the_ordinary_machine_in_one_step(seed, C):
    rng = np.random.default_rng(seed)
    X = list(rng.normal(size=(12, 3)))
    y = np.where(rng.random(12) < 0.5, 1, -1).tolist()
    latent = LatentStructuralSVM(OneValue(), C=C, tol=1e-7).fit(X, y)
    plain = StructuralSVM(Signs(), C=C, tol=1e-7).fit(X, y)
    assert latent.n_outer_ == 1
    assert latent.certificate_.objective == pytest.approx(
        plain.certificate_.primal, rel=1e-6
    )
    np.testing.assert_allclose(latent.coef_, plain.coef_, atol=2e-3)


def test_sample_weights_count_and_zero_weights_are_as_absent():
    X, y, where = bumps(20)
    start = where.tolist()
    rest = LatentStructuralSVM(Bump(), C=1.0, tol=1e-5, init=start[:10])
    rest.fit(X[:10], y[:10])
    weighted = LatentStructuralSVM(Bump(), C=0.5, tol=1e-5, init=start)
    weighted.fit(X, y, sample_weight=[2.0] * 10 + [0.0] * 10)
    assert weighted.certificate_.objective == pytest.approx(
        rest.certificate_.objective, rel=1e-4
    )


def test_completions_move_and_lower_the_objective():
    X, y, where = bumps(40)
    model = LatentStructuralSVM(Bump(), C=1.0, init=[0] * 40).fit(X, y)
    first, last = model.rounds_[0], model.rounds_[-1]
    assert model.n_outer_ > 1
    assert first["moved"] > 0
    assert last["objective"] < 0.9 * first["objective"]
    kept = [abs(h - where[i]) <= 1 for i, h in enumerate(model.completions_) if y[i]]
    assert np.mean(kept) > 0.9


def test_starts_can_be_given():
    X, y, where = bumps(40)
    told = LatentStructuralSVM(Bump(), C=1.0, init=where.tolist()).fit(X, y)
    from_model = LatentStructuralSVM(Bump(), C=1.0, init=told).fit(X, y)
    from_weights = LatentStructuralSVM(Bump(), C=1.0, init=told.coef_).fit(X, y)
    assert from_model.n_outer_ <= 2
    value = told.certificate_.objective
    assert from_model.certificate_.objective <= value * 1.01
    assert from_weights.certificate_.objective <= value * 1.01


def test_self_paced_ends_with_everybody():
    X, y, _ = bumps(40)
    model = LatentStructuralSVM(Bump(), C=1.0, self_paced=True, n_restarts=2).fit(X, y)
    counts = [row["examples"] for row in model.rounds_]
    assert min(counts) < 40
    assert counts[-1] == 40
    assert model.converged_


def test_equal_seeds_give_equal_weights_and_files_keep_the_point(tmp_path):
    X, y, _ = bumps()
    first, second = (
        LatentStructuralSVM(Bump(), n_restarts=2, random_state=3).fit(X, y)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.coef_, second.coef_)
    save(first, tmp_path / "model")
    again = load(tmp_path / "model", structure=Bump)
    assert again.certificate_ == first.certificate_
    assert again.rounds_ == first.rounds_
    assert again.restarts_ == first.restarts_
    assert again.predict_latent(X) == first.predict_latent(X)


def changed(**methods):
    return type("Changed", (Bump,), methods)()


@pytest.mark.parametrize(
    ("problem", "settings", "words"),
    [
        (changed(argmax=lambda s, x, w: 1), {}, "must return a pair (y, h)"),
        (changed(n_features=None), {}, "set n_features"),
        (changed(n_features=2.5), {}, "whole number"),
        (
            changed(loss=lambda s, y, z, h: float(y != z or h != 3)),
            {},
            "complete for sample 0 returned",
        ),
        (
            changed(complete=lambda s, x, y, w: 1 / 0),
            {},
            "complete for sample 0 raised ZeroDivisionError",
        ),
        (Bump(), {"init": "best"}, "init='best'"),
        (Bump(), {"init": [0, 1]}, "2 hidden parts"),
        (Bump(), {"init": np.zeros(7)}, "weights of shape (7,)"),
        (Bump(), {"n_restarts": 0}, "n_restarts=0"),
        (Bump(), {"max_outer": 1.5}, "max_outer=1.5"),
        (Bump(), {"self_paced": "yes"}, "self_paced='yes'"),
        (Bump(), {"C": np.inf}, "C=inf"),
    ],
)
def test_bad_input_is_a_sentence(problem, settings, words):
    X, y, _ = bumps(6)
    with pytest.raises(ValueError, match=re.escape(words)):
        LatentStructuralSVM(problem, **settings).fit(X, y).predict(X)


def test_a_problem_without_complete_is_told_so():
    class Incomplete(Bump):
        complete = None

    X, y, _ = bumps(6)
    with pytest.raises(ValueError, match=r"has no complete\(\)"):
        LatentStructuralSVM(Incomplete()).fit(X, y)


def test_a_completion_that_gets_worse_is_noticed():
    class Worst(Bump):
        def complete(self, x, y, w):
            same = [p for p in self.pairs(x) if p[0] == y]
            return min(same, key=lambda p: w @ self.joint_feature(x, *p))[1]

    X, y, _ = bumps(10)
    with pytest.raises(ValueError, match="must return the best h for y"):
        LatentStructuralSVM(Worst()).fit(X, y)
