"""Time and Ctrl-C: a fit ends with the best machine it has."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_cases import primal_of, random_data
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelSVM
from maxmargin.kernel_svm import descent, linear, sampling, training_points
from maxmargin.kernel_svm.descent import Examples, Gaussians, Terms, descend
from maxmargin.kernel_svm.devices import Cpu
from maxmargin.kernel_svm.objective import KernelObjective
from maxmargin.solvers import clock as clocks
from maxmargin.solvers.clock import Clock

SIZES = [5, 15, 30]  # the stages on the way are 5, 10, 15, 20, 30


@pytest.fixture(scope="module")
def data():
    return random_data(0, 120)


def at_call(monkeypatch, module, name, number, action):
    """Before call so many of a function, counted from 1, something happens."""
    original, calls = getattr(module, name), []

    def watched(*arguments, **more):
        calls.append(name)
        if len(calls) == number:
            action()
        return original(*arguments, **more)

    monkeypatch.setattr(module, name, watched)
    return calls


def ctrl_c():
    raise KeyboardInterrupt


def no_time_left(monkeypatch):
    def over():
        monkeypatch.setattr(Clock, "left", lambda self: 0.0)
        past = property(lambda self: 0.0, lambda self, value: None)
        monkeypatch.setattr(KernelObjective, "deadline", past)

    return over


def interrupted(call, *arguments, **more):
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        return call(*arguments, **more)


# where each method finds its basis
WORK = {
    "subspace-pursuit": (descent, "_draw"),
    "training-points": (training_points, "best_of"),
}


@pytest.mark.parametrize(
    ("method", "end"),
    [(method, "Ctrl-C") for method in WORK] + [("subspace-pursuit", "time")],
)
def test_a_fit_ends_with_its_last_stage(data, method, end, monkeypatch):
    model = KernelSVM(C=1.0, method=method, n_components=30, max_time=1e6)
    action = ctrl_c if end == "Ctrl-C" else no_time_left(monkeypatch)
    calls = at_call(monkeypatch, *WORK[method], 3, action)  # after 10 and 20
    says = "interrupted" if end == "Ctrl-C" else "stopped after max_time=1e.06 seconds"
    with pytest.warns(ConvergenceWarning, match=f"{says}.* 20 points where 30"):
        model.fit(*data)
    assert len(calls) == 3
    assert len(model.basis_) == len(model.dual_coef_) == 20
    assert not model.converged_
    proof = model.certificate_
    assert proof.exact
    assert proof.dual <= proof.within <= proof.primal
    assert proof.primal == pytest.approx(primal_of(model, *data, 1.0), rel=1e-4)


def test_time_ends_the_growth_of_training_points(data, monkeypatch):
    calls = at_call(
        monkeypatch, training_points, "best_of", 2, no_time_left(monkeypatch)
    )
    model = KernelSVM(C=1.0, method="training-points", n_components=30, max_time=1e6)
    with pytest.warns(
        ConvergenceWarning, match="stopped after max_time=1e.06 .* 30 were"
    ):
        model.fit(*data)
    assert len(calls) == 2
    assert len(model.basis_) in (10, 20)  # the better one: one pass was left for 20
    primal = model.certificate_.primal
    assert primal == pytest.approx(primal_of(model, *data, 1.0), rel=1e-4)


def test_without_a_machine_there_is_nothing_to_keep(data, monkeypatch):
    model = KernelSVM(C=1.0, n_components=30)
    at_call(monkeypatch, descent, "_draw", 1, ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    assert not hasattr(model, "basis_")


def test_the_first_stage_is_finished_in_any_case(data):
    model = KernelSVM(C=1.0, n_components=30, max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_time=1e-09 .* 10 points where 30"):
        model.fit(*data)
    assert len(model.basis_) == 10
    assert np.isfinite(model.dual_coef_).all()


@pytest.mark.parametrize("end", ["Ctrl-C", "time"])
def test_a_path_of_sizes_keeps_what_it_has(data, end, monkeypatch):
    action = ctrl_c if end == "Ctrl-C" else no_time_left(monkeypatch)
    at_call(monkeypatch, descent, "_draw", 4, action)  # 5, 10, 15 are there
    with pytest.warns(ConvergenceWarning):
        models = KernelSVM(C=1.0, max_time=1e6).path(*data, n_components=SIZES)
    # after Ctrl-C the next size has the last machine, and nothing follows
    assert [len(model.basis_) for model in models] == [5, 15, 15]
    assert [model.converged_ for model in models] == [True, True, False]
    again = 4 if end == "time" else 3
    at_call(monkeypatch, descent, "_draw", 2, action)
    with pytest.warns(ConvergenceWarning):
        models = KernelSVM(C=1.0, max_time=1e6).path(
            *data, n_components=[5, 15, 15, 30]
        )
    sizes = [5] * 4 if end == "time" else [5, 5]
    assert [len(model.basis_) for model in models] == sizes[:again]


@pytest.mark.parametrize("number", [1, 2])
def test_a_path_of_C_leaves_out_what_was_not_begun(data, number, monkeypatch):
    from maxmargin.solvers.by_label import exact_blocks

    model = KernelSVM(C=1.0, method="nystroem", n_components=10, tol=1e-6)
    solves = at_call(monkeypatch, linear, "solve", number, lambda: arm())

    def arm():
        at_call(monkeypatch, exact_blocks.ExactBlocks, "step", 3, ctrl_c)

    models = interrupted(model.path, *data, Cs=[10.0, 1.0, 0.1])
    assert [m.C for m in models] == [1.0, 0.1][2 - number :]
    assert len(solves) == number
    assert [m.converged_ for m in models] == [False, True][:number]


@pytest.mark.parametrize("where", ["stage", "last", "proof"])
def test_ctrl_c_during_a_training_and_a_proof(data, where, monkeypatch):
    from maxmargin.kernel_svm import proofs
    from maxmargin.solvers.by_label import exact_blocks

    model = KernelSVM(C=1.0, method="training-points", n_components=20, tol=1e-8)
    if where == "proof":
        at_call(monkeypatch, proofs, "exact_dual", 1, ctrl_c)
        interrupted(model.fit, *data)
        assert not model.converged_
        assert not model.certificate_.exact
        return
    module = training_points if where == "stage" else linear

    def arm():
        at_call(monkeypatch, exact_blocks.ExactBlocks, "step", 1, ctrl_c)

    at_call(monkeypatch, module, "solve", 1, arm)
    interrupted(model.fit, *data)
    assert len(model.basis_) == (10 if where == "stage" else 20)
    assert not model.converged_
    primal = model.certificate_.primal
    assert primal == pytest.approx(primal_of(model, *data, 1.0), rel=1e-4)


def test_sampled_cuts_end_with_the_best(data, monkeypatch):
    model = KernelSVM(C=1.0, method="sampling", n_components=10, tol=1e-4, max_time=1e6)
    at_call(monkeypatch, sampling, "sampled_cut", 5, ctrl_c)
    (kept,) = interrupted(model.path, *data, Cs=[1.0, 2.0])
    primal = kept.certificate_.primal
    assert primal == pytest.approx(primal_of(kept, *data, 1.0), rel=1e-6)
    at_call(monkeypatch, sampling, "sampled_cut", 3, no_time_left(monkeypatch))
    with pytest.warns(ConvergenceWarning, match="stopped after max_time=1e.06 seconds"):
        model.fit(*data)
    assert model.n_iter_ == 4
    model.set_params(callbacks=[lambda row: row["iteration"] == 2])
    monkeypatch.undo()
    with pytest.warns(ConvergenceWarning, match="stopped by a callback"):
        model.fit(*data)
    assert model.n_iter_ == 2


def test_descent_looks_at_the_clock_between_rounds(data, monkeypatch):
    X, y = data
    examples = Examples.on(
        Cpu(), X.astype(np.float32), y, 1.0 - np.eye(3), np.ones(120)
    )
    terms = Terms(X[:4].astype(np.float32), np.ones((4, 3), np.float32))
    draws = at_call(monkeypatch, descent, "_draw", 0, None)
    arguments = Gaussians(0.5), examples, terms, 1000, np.random.default_rng(0)
    descend(*arguments)
    rounds = len(draws)
    assert rounds > 1
    descend(*arguments, Clock(1e-9))  # one round is made in any case
    assert len(draws) == rounds + 1


def test_compiling_takes_none_of_the_time(monkeypatch):
    now, compiled = [0.0], [5.0]
    monkeypatch.setattr(clocks.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(clocks, "compile_seconds", lambda: compiled[0])
    clock = Clock(10.0)
    now[0], compiled[0] = 12.0, 11.0
    assert clock.left() == 4.0
    assert not clock.over()
    now[0] = 16.0
    assert clock.over()
    assert clock.saw("converged") == "stopped after max_time=10 seconds"


def test_a_line_per_stage(data, capsys):
    KernelSVM(C=1.0, n_components=30, verbose=1).fit(*data)
    lines = capsys.readouterr().err.splitlines()
    stages = [line.split()[1] for line in lines if line.startswith("basis")]
    assert stages == ["10", "20", "30"]
    assert any(line.startswith("pass") for line in lines)
