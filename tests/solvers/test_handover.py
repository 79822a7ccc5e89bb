"""Weak regularisation: the start, the bounds and the handover of the log objective."""

import numpy as np
import pytest
from conftest import random_chain

from maxmargin.core.expectations import places
from maxmargin.core.formulation import make_form
from maxmargin.solvers import handover, registry
from maxmargin.solvers.driver import drive
from maxmargin.solvers.log import exponentiated, log_objective
from maxmargin.solvers.log.log_objective import LogObjective
from maxmargin.solvers.log.smooth import CUTS, LBFGS, Cuts
from maxmargin.solvers.result import Limits
from maxmargin.tags.chain_gradients import LARGEST, ChainObjective
from maxmargin.tags.input import LONG, warn_of_length


def objective_on(seed, C, make=LogObjective, dtype=np.float64, **more):
    batch, n_weights = random_chain(seed)
    batch = batch._replace(
        **{
            name: getattr(batch, name).astype(dtype)
            for name in ("values", "cost", "barrier")
        }
    )
    mass = np.full(len(batch.start) - 1, C)
    form = make_form("margin", "linear", 1e-5)
    return make(batch, n_weights, form, mass, dtype, **more)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0, 1e4])
def test_the_dual_starts_near_zero_and_never_falls(C):
    solver = registry.make("exponentiated", objective_on(3, C))
    solver.step()
    assert solver.dual >= 0.0
    for _ in range(20):
        before = solver.dual
        solver.step()
        assert solver.dual >= before


@pytest.mark.parametrize("C", [0.01, 100.0])
def test_the_default_is_certified_at_any_C(C):
    objective = objective_on(4, C)
    solution = drive(objective, registry.make("auto", objective), Limits(tol=0.01))
    assert solution.converged
    assert solution.certificate.relative_gap <= 0.01


def test_handover_keeps_the_best_of_both(monkeypatch):
    """Handed over at once: bounds never get worse, and the optimum is that of others."""
    monkeypatch.setattr(handover, "HALVING", 1e-3)
    objective = objective_on(5, 10.0)
    solver = registry.make("auto", objective)
    solution = drive(objective, solver, Limits(tol=1e-5))
    assert isinstance(solver.now, LBFGS)
    assert solution.converged
    duals = [row["dual"] for row in solution.history]
    primals = [row["primal"] for row in solution.history]
    assert duals == sorted(duals)
    assert primals == sorted(primals, reverse=True)
    other = objective_on(5, 10.0)
    peer = drive(other, registry.make("exponentiated", other), Limits(tol=1e-5))
    assert solution.certificate.primal == pytest.approx(
        peer.certificate.primal, rel=3e-5
    )


@pytest.mark.parametrize("l1", [0.0, 0.4])
def test_the_best_weights_and_the_dual_point_go_along(l1):
    objective = objective_on(5, 10.0, l1=l1)
    solver = registry.make("auto", objective)
    for _ in range(3):
        solver.step()
    before, primals = solver.dual, [objective.primal(w)[0] for w in solver.candidates()]
    assert len(primals) > 1
    solver._hand_over()
    assert solver.dual >= before * (1 - 1e-9)
    assert objective.primal(solver.w)[0] == min(primals) < max(primals)
    if l1 == 0:  # it is mixed with those of the second solver
        value, gradient = objective.value_and_gradient(solver.w)
        point, alone = solver.w - gradient, value - 0.5 * gradient @ gradient
        mixed = solver.now.cuts.add(point, alone + 0.5 * point @ point)
        assert mixed > max(before, alone) * (1 + 1e-3)


def test_a_line_search_that_fails_hands_back(monkeypatch):
    monkeypatch.setattr(handover, "HALVING", 1e-3)

    def fail(self):
        self.stationary = True

    monkeypatch.setattr(LBFGS, "step", fail)
    objective = objective_on(6, 1.0)
    solver = registry.make("auto", objective)
    solution = drive(objective, solver, Limits(tol=1e-3))
    assert solution.converged
    assert solution.certificate.relative_gap <= 1e-3


def test_mixtures_of_dual_points_bound_the_optimum():
    """Better than each point alone, and never above the optimum."""
    objective = objective_on(7, 1.0)
    best = drive(objective, LBFGS(objective), Limits(tol=1e-9)).certificate.primal
    rng = np.random.default_rng(0)
    cuts, alone = Cuts(), -np.inf
    for _ in range(2 * CUTS):
        w = rng.normal(size=objective.n_weights)
        value, gradient = objective.value_and_gradient(w)
        bound = value - 0.5 * gradient @ gradient
        point = w - gradient
        found = cuts.add(point, bound + 0.5 * point @ point)
        alone = max(alone, bound)
        assert len(cuts.points) <= CUTS
        assert bound - 1e-9 * abs(bound) <= found <= best
    assert found > alone


def test_the_exponential_loss_is_finite_and_smooth_where_it_is_cut():
    objective = objective_on(8, 1.0, ChainObjective, kind="exponential")
    truth = LogObjective(
        objective.batch, objective.n_weights, objective.form, objective.mass, np.float64
    )
    w = -truth.value_and_gradient(objective.weights())[1]
    w *= -40.0 / np.abs(w).max()  # as wrong as can be
    losses, _ = truth.losses_and_pull(w)
    assert losses.max() > 2 * LARGEST
    value, gradient = objective.value_and_gradient(w)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()
    h = 1e-5 * gradient / np.linalg.norm(gradient)
    up, down = (objective.value_and_gradient(w + s * h)[0] for s in (1, -1))
    assert up - down == pytest.approx(2 * h @ gradient, rel=1e-4)


def test_a_file_without_blank_lines_is_noticed():
    with pytest.warns(UserWarning, match="sequence 1 has 6000 tokens.*blank line"):
        warn_of_length(np.array([0, 3, 6003]))
    warn_of_length(np.array([0, LONG]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distributions_too_certain_to_feel_a_step_come_loose(monkeypatch, dtype):
    monkeypatch.setattr(exponentiated, "CERTAIN", 60.0)
    objective = objective_on(9, 10.0, dtype=dtype)
    solver = registry.make("exponentiated", objective)
    solution = drive(objective, solver, Limits(tol=1e-3))
    assert solution.converged


def test_distributions_are_kept_where_l_bfgs_takes_more_memory(monkeypatch):
    objective = objective_on(3, 1.0)
    parts = places(objective.batch)[-1]
    for per_weight, name in ((0, "lbfgs"), (parts / objective.n_weights, "handover")):
        monkeypatch.setattr(log_objective, "MOST_PARTS", 1)
        monkeypatch.setattr(log_objective, "MORE_PARTS", per_weight)
        assert objective.solver == name
