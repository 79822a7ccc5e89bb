"""The default for hinges: who gets the turn when, and what goes along."""

from __future__ import annotations

import numpy as np
import pytest
from checkpoint_cases import ROWS, SIGNS, Rows
from conftest import random_chain

from maxmargin import GraphLabeler, StructuralSVM
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers import handover, registry
from maxmargin.solvers.block_coordinate import BlockCoordinate
from maxmargin.solvers.cutting_planes.one_slack import OneSlack
from maxmargin.solvers.driver import drive
from maxmargin.solvers.result import Limits


def objective_on(C, form=("margin", "linear"), seed=3):
    batch, n_weights = random_chain(seed)
    mass = np.full(len(batch.start) - 1, C)
    return Objective(batch, n_weights, make_form(*form, 0.01), mass, np.float64)


def handed_over(objective, passes=3):
    solver = registry.make("auto", objective)
    for _ in range(passes):
        solver.step()
    solver._hand_over()
    return solver


def test_the_dual_point_goes_along():
    objective = objective_on(2.0)
    solver = handed_over(objective)
    first, second = solver.first, solver.now
    assert isinstance(second, OneSlack)
    assert second.dual >= first.dual * (1 - 1e-12)
    (index, values), offset = second.cuts[1], second.offsets[1]
    for w in np.random.default_rng(0).normal(size=(20, objective.n_weights)):
        risk = objective.primal(w)[0] - 0.5 * sum_of_squares(w)
        assert offset - values @ w[index] <= risk + 1e-9 * (1 + risk)
    before = solver.dual
    for _ in range(20):
        solver.step()
        assert solver.dual >= before
        before = solver.dual
    assert before <= min(objective.primal(w)[0] for w in solver.candidates()) + 1e-9


def test_signs_go_along():
    objective = objective_on(2.0)
    objective.nonnegative = np.arange(0, objective.n_weights, 3)
    solver = handed_over(objective)
    assert solver.now.dual >= solver.first.dual * (1 - 1e-12)
    solution = drive(objective, solver, Limits(tol=1e-3))
    assert solution.converged
    assert (solution.w[objective.nonnegative] >= 0).all()


def test_a_turn_in_vain_goes_back(monkeypatch):
    monkeypatch.setattr(handover, "PATIENCE", 1)
    objective = objective_on(2.0)
    solver = handed_over(objective)
    solver.last_gap = solver.calls = 0  # nothing is good enough
    solver.step()
    assert solver.now is solver.first
    assert solver.falls
    before = solver.dual
    for _ in range(70):  # no second turn
        solver.step()
        assert solver.now is solver.first
    assert solver.dual >= before


def test_ordinary_fits_are_those_of_block_coordinate():
    ends = []
    for name in ("auto", "block-coordinate"):
        objective = objective_on(0.1)
        solver = registry.make(name, objective)
        ends.append(drive(objective, solver, Limits(tol=0.01)))
    assert isinstance(registry.make("block-coordinate", objective), BlockCoordinate)
    assert ends[0].converged
    assert ends[0].w.tobytes() == ends[1].w.tobytes()


def points(scale, n=60):
    """Graphs of one node: classes that overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    rows = (np.eye(3)[y] + rng.normal(0, 0.6, (n, 3))) * scale
    nobody = np.zeros((0, 2), int)
    return [(row[None], nobody) for row in rows], [[int(k)] for k in y]


@pytest.mark.parametrize("scale", [0.01, 1.0, 1000.0])
@pytest.mark.parametrize("C", [0.1, 1000.0])
def test_few_weights_at_any_scale_and_C(scale, C):
    model = GraphLabeler(C=C).fit(*points(scale))
    assert model.converged_
    assert model.n_iter_ < 300
    duals = [row["dual"] for row in model.history_]
    assert duals == sorted(duals)


def test_checkpoints_on_either_side_of_the_handover(tmp_path):
    """Stopped before it, at it and after it, the fit goes on to the last bit."""
    settings = {"C": 1000.0, "tol": 1e-4}
    whole = GraphLabeler(**settings).fit(*points(1.0))
    assert whole.n_iter_ > 12
    for passes in (7, 8, 9, 12):
        place = tmp_path / f"after-{passes}"
        more = settings | {"checkpoint": str(place)}
        with pytest.warns(Warning, match="max_iter"):
            GraphLabeler(max_iter=passes, **more).fit(*points(1.0))
        resumed = GraphLabeler(**more).fit(*points(1.0))
        assert resumed.coef_.tobytes() == whole.coef_.tobytes()


def test_python_problems_hand_over_too():
    rows = [1000.0 * x for x in ROWS]
    model = StructuralSVM(Rows(), C=100.0).fit(rows, SIGNS)
    assert model.converged_
    monkey = StructuralSVM(Rows(), C=100.0, solver="one-slack").fit(rows, SIGNS)
    assert model.certificate_.primal == pytest.approx(
        monkey.certificate_.primal, rel=0.02
    )
