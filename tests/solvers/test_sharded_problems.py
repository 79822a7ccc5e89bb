"""Users' Python problems over shards: the optimum of one process, whoever does the work."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import Problem, StructuralSVM
from maxmargin.core.cutting import cut
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.core.pieces.totals import Totals
from maxmargin.solvers.shards.sharded_training import over_shards

COST = np.array([[0.0, 1.0, 2.0], [1.5, 0.0, 0.5], [3.0, 1.0, 0.0]])
FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "quadratic")]


class Classes(Problem):
    """Multiclass classification, with a search."""

    smallest_loss = 0.5

    def joint_feature(self, x, y):
        table = np.zeros((3, len(x)))
        table[y] = x
        return table.ravel()

    def loss(self, y, y_hat):
        return COST[y][y_hat]

    def scores(self, x, w):
        return w.reshape(3, -1) @ x

    def argmax(self, x, w):
        return int(self.scores(x, w).argmax())

    def loss_augmented_argmax(self, x, y, w):
        return int((self.scores(x, w) + COST[y]).argmax())


class Searched(Classes):
    """With the most violated output of every formulation."""

    def most_violated(self, x, y, w, rescaling, penalty):
        c = np.sqrt(COST[y]) if penalty == "quadratic" else COST[y]
        margins = (scores := self.scores(x, w))[y] - scores
        scale = c if rescaling == "slack" else 1.0
        return int((c - scale * margins).argmax())


class SparseVector(Classes):
    """With all outputs."""

    loss_augmented_argmax = argmax = None  # not asked

    def outputs(self, x):
        return [0, 1, 2]


class Lazy(Classes):
    """Misses the maximum now and then, and says so."""

    exact = False

    def loss_augmented_argmax(self, x, y, w):
        values = self.scores(x, w) + COST[y]
        return y if values.max() < values[y] + 0.05 else int(values.argmax())


class Blind(Classes):
    """Misses it always, and does not say so."""

    def loss_augmented_argmax(self, x, y, w):
        return y


class Pairs(Problem):
    """Two classes each: outputs are many enough to be numbered in any order."""

    def joint_feature(self, x, y):
        table = np.zeros((2, 4, len(x)))
        table[0, y[0]], table[1, y[1]] = x, x
        return table.ravel()

    def loss(self, y, y_hat):
        return float(y[0] != y_hat[0]) + float(y[1] != y_hat[1])

    def loss_augmented_argmax(self, x, y, w):
        scores = w.reshape(2, 4, -1) @ x
        return max(
            itertools.product(range(4), range(4)),
            key=lambda p: scores[0, p[0]] + scores[1, p[1]] + self.loss(y, p),
        )

    def argmax(self, x, w):
        return tuple((w.reshape(2, 4, -1) @ x).argmax(axis=1).tolist())


pytestmark = pytest.mark.usefixtures("home")


def blobs(n=24, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return list(rng.normal(size=(n, d)) + np.eye(3, d)[y]), y.tolist()


def pairs(n=24, seed=0):
    rng = np.random.default_rng(seed)
    X = list(rng.normal(size=(n, 4)))
    return X, [(int(x.argmax()), int(rng.integers(4))) for x in X]


def overlap(alone, apart, tol):
    """Both certificates hold of one optimum."""
    alone, apart = alone.certificate_, apart.certificate_
    assert apart.relative_gap <= tol
    assert apart.dual <= alone.primal * (1 + 1e-9)
    assert alone.dual <= apart.primal * (1 + 1e-9)


def fitted(problem, data, **more):
    return StructuralSVM(problem, **{"tol": 0.02, "C": 0.3} | more).fit(*data)


@pytest.mark.parametrize("form", FORMS, ids="-".join)
@pytest.mark.parametrize("problem", [Searched, SparseVector])
def test_every_form_ends_at_the_optimum_of_one_process(problem, form):
    more = {"rescaling": form[0], "penalty": form[1]}
    alone = fitted(problem(), blobs(), **more)
    apart = fitted(problem(), blobs(), engine="dask", **more)
    overlap(alone, apart, 0.02)
    assert apart.certificate_.exact


@pytest.mark.parametrize(("problem", "data"), [(Classes, blobs), (Pairs, pairs)])
def test_the_search_by_loss_augmented_argmax_too(problem, data):
    alone = fitted(problem(), data())
    overlap(alone, fitted(problem(), data(), engine="dask"), 0.02)


@pytest.mark.parametrize("form", FORMS[1:], ids="-".join)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_searches_that_only_bound_are_as_good_as_in_one_process(form):
    more = {"rescaling": form[0], "penalty": form[1]}
    best = fitted(SparseVector(), blobs(), tol=1e-4, **more).certificate_
    apart = fitted(Classes(), blobs(), engine="dask", **more).certificate_
    assert apart.dual <= best.primal * (1 + 1e-9)
    assert best.dual <= apart.primal * (1 + 1e-9)
    assert apart.dual >= 0.95 * best.dual


def test_shards_look_around_for_outputs_that_their_search_does_not_see():
    """The risk over the outputs met grows, and never beyond that of all outputs."""
    X, y = pairs()
    batch = StructuralSVM(Pairs())._encode(X, y, None).batch
    form, mass = make_form("slack", "linear", 1e-3), np.ones(len(X))
    w = np.random.default_rng(1).normal(size=32)

    def make(batch, mass=mass):
        return Objective(batch, 32, form, mass, np.float64)

    with over_shards("dask", batch, make, "auto", mass) as (objective, _):
        nothing = objective.met(w, Totals(0.0, 0.0, 0.0, 1.0, 0))
        assert objective.explore(w, 3)
        found = objective.met(w, Totals(0.0, 0.0, 0.0, 1.0, 0))
    total = 0.5 * w @ w
    assert nothing == pytest.approx(total)
    for x, truth in zip(X, y, strict=True):
        scores = {
            p: w @ Pairs().joint_feature(x, p)
            for p in itertools.product(range(4), range(4))
        }
        losses = {p: Pairs().loss(truth, p) for p in scores}
        total += max(losses[p] * (1 - scores[truth] + scores[p]) for p in scores)
    assert nothing + 0.1 * (total - nothing) < found <= total + 1e-9


def test_approximate_problems():
    alone = fitted(Lazy(), blobs())
    apart = fitted(Lazy(), blobs(), engine="dask")
    assert not apart.certificate_.exact
    assert apart.converged_
    assert apart.certificate_.primal == pytest.approx(
        alone.certificate_.primal, rel=0.05
    )


def test_an_oracle_that_misses_the_maximum_is_found_out_in_shards():
    with pytest.raises(ValueError, match="returned an output that is not the maximum"):
        fitted(Blind(), blobs(), engine="dask")


def test_pieces_number_their_outputs_alone():
    batch = StructuralSVM(Pairs())._encode(*pairs(), None).batch
    first, second, other = cut(batch, 0, 4), cut(batch, 0, 4), cut(batch, 4, 8)
    first._number(0, (3, 2))
    first._number(0, (1, 0))
    assert second._number(0, (1, 0)) == 1
    assert first._number(0, (1, 0)) == 2
    assert len(batch.known[0].entries) == 1
    assert len(other.known[0].entries) == 1
    first.answers.seconds += 5.0
    assert second.answers.seconds < 5.0


def test_a_fit_over_shards_goes_on_from_its_checkpoint(tmp_path):
    more = {"engine": "dask", "tol": 0.01}
    place = {"checkpoint": str(tmp_path / "kept")}
    whole = fitted(Pairs(), pairs(), **more)

    def give_up(row):
        if row["iteration"] == 2:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        fitted(Pairs(), pairs(), callbacks=[give_up], **more, **place)
    resumed = fitted(Pairs(), pairs(), resume=True, **more, **place)
    assert np.array_equal(resumed.coef_, whole.coef_)


class Forgetful(Classes):
    """Its search answers nothing where the first number of x says so."""

    def loss_augmented_argmax(self, x, y, w):
        return 7 if x[0] == 99.0 else super().loss_augmented_argmax(x, y, w)

    def joint_feature(self, x, y):
        if y == 7:
            raise ValueError("there is no class 7")
        return super().joint_feature(x, y)


@pytest.mark.parametrize("wrong", [3, 17, 28])
def test_a_sample_has_the_users_number_in_every_shard(wrong):
    """Samples are dealt to shards; errors count them as the user does."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    X[wrong, 0] = 99.0
    model = StructuralSVM(Forgetful(), engine="dask")
    with pytest.raises(ValueError, match=rf"\b{wrong}\b"):
        model.fit(list(X), [i % 3 for i in range(30)])
