"""Ctrl-C while parts are hidden, and in kernel machines."""

import pytest
from interrupt_cases import (  # noqa: F401
    NEW,
    OLD,
    PLAIN,
    at_call,
    check_latent,
    handler,
    interrupted,
    latent,
    silent,
    state,
)
from watch_cases import bumps

from maxmargin import KernelSVM, MulticlassSVM
from maxmargin.core import partial
from maxmargin.fitting import latent_training
from maxmargin.solvers.hidden import concave_convex

# hidden parts -------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [[2], [3], [2, 3]])
@pytest.mark.parametrize("name", ["_complete", "_value_at", "_convex"])
def test_between_convex_problems(name, numbers, monkeypatch):
    model = latent()
    at_call(monkeypatch, concave_convex._Run, name, numbers)
    interrupted(model.fit, *bumps())
    check_latent(model)


def test_before_the_first_value_there_is_nothing(monkeypatch):
    model = latent()
    at_call(monkeypatch, concave_convex._Run, "_value_at", [1])
    with pytest.raises(KeyboardInterrupt):
        model.fit(*bumps())
    assert not hasattr(model, "coef_")


def test_a_restart_that_did_not_begin_is_no_loss(monkeypatch):
    models, whole = latent(n_restarts=4), latent().fit(*bumps())
    at_call(monkeypatch, concave_convex._Run, "run", [3])
    models.fit(*bumps())
    check_latent(models)
    assert len(models.restarts_) == 2
    assert models.certificate_.objective <= whole.certificate_.objective


def test_a_path_ends_with_an_interrupted_restart(monkeypatch):
    at_call(monkeypatch, concave_convex._Run, "run", [2])
    (only,) = latent(n_restarts=2).path(*bumps(), [1.0, 2.0])
    assert only.C == 1.0


def some_unknown():
    X, y = NEW
    return X, [None if k % 4 == 1 else int(label) for k, label in enumerate(y)]


def test_what_is_known_for_sure_is_kept(monkeypatch):
    model = MulticlassSVM(**PLAIN)
    at_call(monkeypatch, latent_training, "complete_all", [1])
    interrupted(model.fit, *some_unknown())
    assert model.coef_.shape == (3, 5)
    assert model.certificate_.relative_gap <= model.tol
    assert not model.converged_
    assert not hasattr(model, "rounds_")


@pytest.mark.parametrize("objective", ["perceptron", "passive-aggressive"])
@pytest.mark.parametrize(
    ("name", "number"), [("complete_all", 1), ("complete_all", 2), ("_solve", 2)]
)
def test_fits_and_completions_in_turns(objective, name, number, monkeypatch):
    model = MulticlassSVM(objective=objective, **PLAIN)
    where = partial if name == "complete_all" else latent_training
    at_call(monkeypatch, where, name, [number])
    (only,) = model.path(*some_unknown(), [1.0, 2.0])
    assert only.n_iter_ == len(only.history_)
    monkeypatch.undo()
    at_call(monkeypatch, latent_training, "_solve", [1])
    with pytest.raises(KeyboardInterrupt):
        model.fit(*some_unknown())
    assert not hasattr(model, "coef_")


def test_a_callback_ends_all_turns():
    rows = []
    model = MulticlassSVM(
        objective="perceptron", callbacks=[lambda row: rows.append(row) or True]
    )
    model.fit(*some_unknown())
    assert len(rows) == 1


# kernels ------------------------------------------------------------------------------


def test_a_path_of_machines_keeps_those_it_has(monkeypatch):
    from maxmargin.kernel_svm import training

    model = KernelSVM(method="nystroem", n_components=10, tol=1e-4)
    at_call(monkeypatch, training, "_machine", [2])
    models = model.path(*NEW, Cs=[0.1, 1.0, 10.0])
    assert [model.C for model in models] == [0.1]


def test_a_kernel_machine_is_set_together(monkeypatch):
    model = KernelSVM(n_components=10, tol=1e-4).fit(*OLD)
    before = state(model)
    at_call(monkeypatch, KernelSVM, "_take", [1])
    with pytest.raises(KeyboardInterrupt):
        model.fit(*NEW)
    assert state(model) == before
