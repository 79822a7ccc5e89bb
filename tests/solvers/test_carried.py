"""Convex problems that follow each other: old cuts and planes with new truths."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from checkpoint_cases import fitted
from watch_cases import Bump

from maxmargin import LatentStructuralSVM, MotifFinder
from maxmargin.core.completion import complete_randomly, with_truths
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.core.problems.latent_functions import LatentBatch, Paired
from maxmargin.solvers import registry
from maxmargin.solvers.hidden.carried import carry, follow
from maxmargin.solvers.warm_start import copied, feasible


def series(n=20):
    rng = np.random.default_rng(0)
    return list(rng.normal(size=(n, 9))), [k % 2 for k in range(n)]


def sequences(n=30):
    rng = np.random.default_rng(1)
    X = ["".join(rng.choice(list("ACGT"), 20)) for _ in range(n)]
    y = [k % 2 == 0 for k in range(n)]
    return [
        "TTACG".join((x[:7], x[12:])) if z else x for x, z in zip(X, y, strict=True)
    ], y


def motifs():
    encoded = MotifFinder(4, order=1)._encode(*sequences(), None)
    return encoded.batch, encoded.n_weights


def windows():
    X, y = series()
    return LatentBatch.begin(Paired(Bump()), X, y, None), 4


def objective_of(batch, size, weights, form=("margin", "linear")):
    n = len(batch.start) - 1
    return Objective(batch, size, make_form(*form, 0.01), weights(n), np.float64)


def alike(n):
    return np.full(n, 3.0)


def uneven(n):
    return np.linspace(0.0, 5.0, n)


@pytest.mark.parametrize("weights", [alike, uneven])
@pytest.mark.parametrize("make", [motifs, windows])
@pytest.mark.parametrize("name", ["one-slack", "proximal-bundle"])
def test_old_cuts_bound_the_risk_of_new_truths(make, name, weights):
    batch, size = make()
    rng = np.random.default_rng(2)
    batch = with_truths(batch, complete_randomly(batch, size, rng))
    first = registry.make(name, objective_of(batch, size, weights))
    for _ in range(8):
        first.step()
    kept = carry(first)
    batch = with_truths(batch, complete_randomly(batch, size, rng))
    objective = objective_of(batch, size, weights)
    solver = registry.make(name, objective)
    follow(solver, kept, first.w)
    assert len(solver.cuts) == len(kept["cuts"]) + 1 > 2
    for w in rng.normal(size=(20, size)):
        risk = objective.primal(w)[0] - 0.5 * w @ w
        for (index, values), offset in zip(solver.cuts, solver.offsets, strict=True):
            assert offset - values @ w[index] <= risk + 1e-9 * (1 + risk)
    start = solver.dual
    assert start > 0
    for _ in range(30):
        solver.step()
    best = min(objective.primal(w)[0] for w in solver.candidates())
    assert start <= solver.dual <= best * (1 + 1e-9)


@pytest.mark.parametrize("form", [("slack", "linear"), ("margin", "quadratic")])
def test_cuts_that_would_move_apart_are_not_carried(form):
    batch, size = motifs()
    solver = registry.make("one-slack", objective_of(batch, size, alike, form))
    solver.step()
    assert carry(solver) is None


def test_cuts_of_other_masses_are_left():
    batch, size = motifs()
    first = registry.make("one-slack", objective_of(batch, size, alike))
    first.step()
    solver = registry.make("one-slack", objective_of(batch, size, uneven))
    follow(solver, carry(first), None)
    assert len(solver.cuts) == 1


@pytest.mark.parametrize("make", [motifs, windows])
def test_planes_rise_before_the_first_search(make):
    batch, size = make()
    rng = np.random.default_rng(3)
    batch = with_truths(batch, complete_randomly(batch, size, rng))
    first = registry.make("block-coordinate", objective_of(batch, size, alike))
    for _ in range(8):
        first.step()
    batch = with_truths(batch, complete_randomly(batch, size, rng))
    objective = objective_of(batch, size, alike)
    planes = feasible(copied(first.planes), objective)
    if isinstance(batch, tuple):
        planes.labels.reshape(objective.n, -1)[:, 0] = batch.y
    solver = registry.make("block-coordinate", objective, planes)
    start = solver.dual
    follow(solver, None, None)
    raised = solver.dual
    assert raised > start
    assert objective.oracle_calls == 0
    solver.rebuild()
    assert solver.dual == pytest.approx(raised, rel=1e-9)
    assert raised <= objective.primal(solver.w)[0]


@pytest.mark.parametrize("name", ["block-coordinate", "one-slack"])
def test_an_outer_step_begins_near_the_end_of_the_last(name):
    X, y = sequences()
    finder = MotifFinder(5, order=0, C=1, solver=name, init="random", random_state=0)
    model = finder.fit(X, y)
    assert model.converged_
    assert model.n_outer_ >= 3
    runs = [list(rows) for _, rows in groupby(model.history_, lambda r: r["outer"])]
    assert runs[-1][0]["dual"] > 0.5 * runs[-1][-1]["dual"]


@pytest.mark.filterwarnings("ignore:Training ended with weights that are all zero")
def test_python_problems_too():
    X, y = series()
    settings = {"C": 5.0, "tol": 1e-3, "init": "random", "random_state": 0}
    for name in ("auto", "one-slack", "proximal-bundle"):
        model = LatentStructuralSVM(Bump(), solver=name, **settings).fit(X, y)
        assert model.converged_
        assert model.certificate_.dual <= model.certificate_.primal


def test_passes_of_outer_steps_are_counted_in_all(tmp_path, capsys):
    first = fitted(
        "hidden, listed", n_restarts=1, max_outer=2, checkpoint=str(tmp_path)
    )
    assert len(first.history_) > first.n_outer_
    fitted(
        "hidden, listed",
        n_restarts=1,
        checkpoint=str(tmp_path),
        resume=True,
        verbose=1,
    )
    assert f": {len(first.history_)} passes, " in capsys.readouterr().err
