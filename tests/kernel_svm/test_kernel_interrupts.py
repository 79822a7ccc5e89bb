"""Ctrl-C in every method and stage: the best machine so far, which is not converged."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_cases import primal_of, random_data
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelSVM
from maxmargin.kernel_svm import exact, proofs, pursuit, sampling, training
from maxmargin.solvers import driver


@pytest.fixture(scope="module")
def data():
    return random_data(0, 120)


@pytest.fixture
def ctrl_c(monkeypatch):
    """Ctrl-C before call so many of a function, counted from 1; the calls made."""

    def arm(owner, name, number):
        original, calls = getattr(owner, name), []

        def watched(*arguments, **more):
            calls.append(name)
            if len(calls) == number:
                raise KeyboardInterrupt
            return original(*arguments, **more)

        monkeypatch.setattr(owner, name, watched)
        return calls

    return arm


PURSUIT = {"method": "subspace-pursuit", "n_components": 30}  # stages: 10, 20, 30
STAGES = [
    # parameters, (where, number of the call), whether its certificate is proved
    (PURSUIT, (pursuit, "_rough", 2), True),
    (PURSUIT, (pursuit, "descend", 3), True),
    (PURSUIT, (training, "_coordinates", 1), True),
    (PURSUIT, (training, "_solved", 1), True),
    (PURSUIT, (proofs, "exact_dual", 1), False),
    ({"method": "nystroem", "n_components": 20}, (proofs, "exact_dual", 1), False),
    ({"method": "training-points", "n_components": 20}, (training, "_solved", 1), True),
    ({"method": "exact"}, (exact.Exact, "prove", 1), True),
    ({"method": "exact"}, (exact.Exact, "round", 2), True),
    ({"method": "sampling", "n_components": 20}, (sampling, "sampled_cut", 4), None),
]


@pytest.mark.parametrize(("given", "where", "proved"), STAGES)
def test_the_best_machine_so_far_is_kept(data, given, where, proved, ctrl_c):
    calls = ctrl_c(*where)
    model = KernelSVM(C=1.0, tol=1e-4, **given)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(*data)
    assert len(calls) >= where[2]
    assert model.converged_ is False
    assert model.n_iter_ == len(model.history_) > 0
    primal = model.certificate_.primal
    assert primal == pytest.approx(primal_of(model, *data, 1.0), rel=1e-4)
    if proved is not None:
        assert model.certificate_.exact is proved


@pytest.mark.parametrize("inner", ["_rough", "stage"])
def test_the_driver_takes_ctrl_c_and_the_fit_hears_of_it(data, inner, monkeypatch):
    """A driver answers Ctrl-C itself; what follows must not run on as if nothing was."""
    usual, calls = driver.Best.see_dual, []

    def see_dual(self, dual):
        calls.append(self)
        drivers = list(dict.fromkeys(map(id, calls)))
        # the first stage has the drivers 0 (rough) and 1, the second 2 (rough) and 3
        number = 2 if inner == "_rough" else 3
        if len(drivers) == number + 1 and calls.count(self) == 1:
            raise KeyboardInterrupt
        return usual(self, dual)

    monkeypatch.setattr(driver.Best, "see_dual", see_dual)
    model = KernelSVM(C=1.0, **PURSUIT)
    with pytest.warns(ConvergenceWarning, match="interrupted.*points where 30"):
        model.fit(*data)
    assert not model.converged_
    assert len(model.basis_) in (10, 20)
    assert len({id(best) for best in calls}) <= 4  # no other training was begun


def test_a_second_ctrl_c_leaves_a_machine_without_a_proof(data, monkeypatch):
    def prove(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(exact.Exact, "prove", prove)
    model = KernelSVM(C=1.0, method="exact")
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(*data)
    proof = model.certificate_
    assert not proof.exact
    assert proof.dual == model.history_[-1]["dual"] == 0.0
    assert proof.primal == pytest.approx(primal_of(model, *data, 1.0), rel=1e-4)


def test_a_taxonomy_is_not_trained_to_the_end_after_ctrl_c(ctrl_c):
    X, y = random_data(0, 120)
    y = np.array(["x", "y", "z"])[y]
    tree = {"x": "a", "y": "b", "z": "a", "a": None, "b": None}
    model = KernelSVM(C=1.0, taxonomy=tree, tol=1e-6, **PURSUIT)
    ctrl_c(pursuit, "descend", 2)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 1  # one pass, for weights of its nodes


NOTHING = [
    (PURSUIT, (pursuit, "_rough", 1)),
    ({"method": "nystroem", "n_components": 20}, (training, "_coordinates", 1)),
    ({"method": "exact"}, (exact.Exact, "round", 1)),
    ({"method": "sampling", "n_components": 20}, (sampling, "sampled_cut", 1)),
    ({"method": "exact"}, (exact.Exact, "mix", 1)),
]


@pytest.mark.parametrize(("given", "where"), NOTHING)
def test_before_anything_is_there_the_estimator_stays_as_it_was(
    data, given, where, ctrl_c
):
    model = KernelSVM(C=1.0, method="exact", tol=0.5).fit(*data)
    before, proof = model.dual_coef_, model.certificate_
    model.set_params(**given)
    ctrl_c(*where)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    assert model.dual_coef_ is before
    assert model.certificate_ is proof
