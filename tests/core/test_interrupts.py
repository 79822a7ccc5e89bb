"""Ctrl-C anywhere: the best model so far or the one before, never half of one."""

import functools
import itertools
import signal
import sys
import threading
import time
import types
import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from watch_cases import Bump, Classes, blobs, bumps, listed_blobs

from maxmargin import KernelSVM, LatentStructuralSVM, MulticlassSVM, StructuralSVM
from maxmargin.core import latent_training, partial
from maxmargin.core.interrupts import Undisturbed, Whole
from maxmargin.core.objective import Objective
from maxmargin.solvers import concave_convex, exact_blocks
from maxmargin.solvers.best import Best
from maxmargin.solvers.smooth import LBFGS


def ctrl_c(*_):
    raise KeyboardInterrupt


@pytest.fixture(autouse=True)
def handler():
    """Ctrl-C raises, also where it is ignored (in the background)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    signal.raise_signal(signal.SIGINT)


# blocks that are not disturbed --------------------------------------------------------


def test_ctrl_c_waits_for_the_end_of_the_block():
    done = []

    def work():
        with Undisturbed():
            press()
            press()
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_blocks_within_blocks():
    done = []

    def work():
        with Undisturbed():
            with Undisturbed(raising=False) as inner:
                press()
            done.append(inner.came)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [True]


def test_a_block_may_keep_it_to_itself():
    with Undisturbed(raising=False) as block:
        press()
    assert block.came


def test_whoever_handled_it_before_is_told():
    told = []
    signal.signal(signal.SIGINT, lambda *_: told.append(1))
    with Undisturbed():
        press()
        assert told == []
    assert told == [1]


def test_ignored_stays_ignored_and_other_threads_are_left_alone():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Undisturbed() as block:
        press()
    assert not block.came
    signal.signal(signal.SIGINT, signal.default_int_handler)
    entered = []

    def work():
        with Undisturbed():
            entered.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert entered == [signal.default_int_handler]


def test_all_attributes_change_or_none():
    class Thing:
        def __init__(self):
            self.a, self.b = 1, 2

        def fail(self):
            with Whole(self):
                self.a, self.c = 3, 4
                del self.b
                raise ZeroDivisionError

    thing = Thing()
    with pytest.raises(ZeroDivisionError):
        thing.fail()
    assert vars(thing) == {"a": 1, "b": 2}
    with Whole(thing) as late:
        thing.a = 3
        press()
        thing.b = 4
    assert late.came
    assert vars(thing) == {"a": 3, "b": 4}


# chosen places ------------------------------------------------------------------------


def at_call(monkeypatch, where, name, numbers, action=ctrl_c):
    """At calls with these numbers, counted from 1, something happens first."""
    original, count = getattr(where, name), itertools.count(1)

    def watched(*arguments, **more):
        if next(count) in numbers:
            action()
        return original(*arguments, **more)

    monkeypatch.setattr(where, name, watched)


def primal(W, X, y, C=1.0, objective="hinge", rescaling="margin"):
    """What MulticlassSVM minimises, in plain numpy."""
    scores = X @ W.T
    truth = scores[np.arange(len(y)), y]
    if objective == "log":
        return 0.5 * np.sum(W**2) + C * np.sum(logsumexp(scores, axis=1) - truth)
    return 0.5 * np.sum(W**2) + C * np.sum(
        (scores + (np.arange(len(W)) != y[:, None])).max(axis=1) - truth
    )


OLD, NEW = blobs(seed=1), blobs(distance=0.7)
PLAIN = {"C": 1.0, "fit_intercept": False, "max_iter": 3000}


@pytest.fixture(scope="module")
def optimum():
    return MulticlassSVM(tol=1e-8, **PLAIN).fit(*NEW).certificate_.primal


def fitted(**more):
    return MulticlassSVM(tol=1e-6, **PLAIN, **more).fit(*OLD)


def check(model, optimum):
    """A whole model of the new data with a true certificate."""
    proof = model.certificate_
    assert proof.primal == pytest.approx(primal(model.coef_, *NEW), rel=1e-5)
    assert proof.dual <= optimum * (1 + 1e-6)
    assert model.history_[-1]["primal"] == proof.primal
    assert model.n_iter_ == len(model.history_)


def interrupted(call, *arguments, **more):
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        return call(*arguments, **more)


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize(
    ("where", "name"),
    [
        (exact_blocks.ExactBlocks, "step"),
        (exact_blocks.ExactBlocks, "_dual"),
        (Best, "certify"),
        (Objective, "primal"),
        (Best, "see_dual"),
        (Best, "_best_multiple"),
    ],
)
def test_a_pass_or_a_certificate(where, name, number, monkeypatch, optimum):
    model = fitted()
    if name == "_dual":
        number += 1  # one is for the start
    at_call(monkeypatch, where, name, [number])
    interrupted(model.fit, *NEW)
    assert not model.converged_
    check(model, optimum)


@pytest.mark.parametrize("name", ["settle", "ask_again"])
def test_the_last_look(name, monkeypatch, optimum):
    model = fitted().set_params(callbacks=[lambda row: row["iteration"] == 3])
    at_call(monkeypatch, Best, name, [1])
    interrupted(model.fit, *NEW)
    check(model, optimum)


def state(model):
    return {name: id(value) for name, value in vars(model).items()}


@pytest.mark.parametrize(
    ("where", "name", "numbers"),
    [
        (MulticlassSVM, "_encode", [1]),
        (exact_blocks.ExactBlocks, "prepare", [1]),
        (Objective, "primal", [1, 2]),  # in the first certificate, and once more
        (MulticlassSVM, "_install", [1]),
    ],
)
def test_where_there_is_nothing_to_keep_nothing_changes(
    where, name, numbers, monkeypatch
):
    model = fitted(warm_start=True)
    before, weights = state(model), model.coef_.copy()
    at_call(monkeypatch, where, name, numbers)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*NEW)
    assert state(model) == before
    np.testing.assert_array_equal(model.coef_, weights)
    monkeypatch.undo()
    assert model.fit(*NEW).converged_


def test_attributes_are_set_together(monkeypatch, optimum):
    model = fitted()
    at_call(monkeypatch, MulticlassSVM, "_install", [1], press)
    assert model.fit(*NEW) is model
    assert model.converged_
    check(model, optimum)


def test_the_best_weights_are_those_of_the_best_primal(monkeypatch, optimum):
    """A Ctrl-C between the two would pair the old weights with the new primal."""
    model, done = fitted(), []

    def watched(self, name, value):
        object.__setattr__(self, name, value)
        if name == "primal" and not done and getattr(self, "w", None) is not None:
            done.append(value)
            press()

    monkeypatch.setattr(Best, "__setattr__", watched, raising=False)
    interrupted(model.fit, *NEW)
    check(model, optimum)


def test_a_bound_of_the_first_objective_is_none_of_the_second():
    """L-BFGS begins with another objective where the one asked for is not convex."""
    calls, duals = itertools.count(1), []

    def value_and_gradient(w):
        duals.append(solver.dual)
        if next(calls) == 4:
            raise KeyboardInterrupt
        return 1.0 + 0.5 * float(np.sum((w - [3, 40]) ** 2)), w - [3, 40]

    plain = {"l1": 0.0, "convex": True, "first": None}
    first = types.SimpleNamespace(**plain, value_and_gradient=value_and_gradient)
    weights = functools.partial(np.zeros, 2)
    asked = types.SimpleNamespace(l1=0.0, convex=False, first=first, weights=weights)
    solver = LBFGS(asked)
    with pytest.raises(KeyboardInterrupt):
        solver.step()
    assert max(duals) > 0
    assert (solver.objective, solver.dual) == (asked, 0.0)


def test_last_words_of_a_callback(optimum):
    class Slow:
        def __call__(self, row):
            pass

        def end(self):
            press()

    model = fitted()
    model.set_params(callbacks=[Slow()])
    model.fit(*NEW)
    assert model.converged_
    check(model, optimum)
    (only,) = model.path(*NEW, [1.0, 10.0])
    assert only.C == 1.0


@pytest.mark.parametrize(
    ("where", "name"),
    [(exact_blocks.ExactBlocks, "prepare"), (MulticlassSVM, "_install")],
)
def test_a_path_keeps_the_models_it_has(where, name, monkeypatch):
    at_call(monkeypatch, where, name, [2])
    models = MulticlassSVM(**PLAIN).path(*NEW, [10.0, 0.1, 1.0])
    assert [model.C for model in models] == [0.1]
    monkeypatch.undo()
    at_call(monkeypatch, where, name, [1])
    with pytest.raises(KeyboardInterrupt):
        MulticlassSVM(**PLAIN).path(*NEW, [10.0, 0.1])


# hidden parts -------------------------------------------------------------------------


def latent_primal(w, X, y, C):
    problem, total = Bump(), 0.5 * w @ w
    for x, truth in zip(X, y, strict=True):
        pairs = [(p, w @ problem.joint_feature(x, *p)) for p in problem.outputs(x)]
        best = max(s + problem.loss(truth, *p) for p, s in pairs)
        total += C * (best - max(s for p, s in pairs if p[0] == truth))
    return total


def latent(**more):
    return LatentStructuralSVM(Bump(), C=2.0, tol=1e-4, **more)


def check_latent(model):
    X, y = bumps()
    wanted = latent_primal(model.coef_, X, y, 2.0)
    assert model.certificate_.objective == pytest.approx(wanted, rel=1e-9)
    assert model.rounds_[-1]["objective"] == model.certificate_.objective
    assert model.n_outer_ == len(model.rounds_)
    assert len(model.history_) == model.n_iter_


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


# at random moments --------------------------------------------------------------------

HINGE = [{"solver": s} for s in ("auto", "n-slack", "one-slack", "proximal-bundle")]
HINGE += [{"rescaling": "slack"}, {"solver": "one-slack", "warm_start": True}]
LOG = [{"solver": s} for s in ("auto", "exponentiated", "lbfgs")]
CASES = HINGE + [{"objective": "log", **settings} for settings in LOG]


def struck(seconds, call):
    """Ctrl-C after so many seconds, if the call is not over by then; did it raise?"""
    armed = [True]

    def strike(*_):
        if armed:
            press()

    before = signal.signal(signal.SIGALRM, strike)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
        call()
        armed.clear()
    except KeyboardInterrupt:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return False


@pytest.fixture(autouse=True)
def silent(monkeypatch):
    """What Python cannot raise, in a destructor, is lost: whoever waits presses again."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)


def strike_often(make, fit, check, times):
    """Fits that are struck at moments all over their time leave whole models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make()
        began = time.perf_counter()
        fit(model)
        length = time.perf_counter() - began
        ends = {"raised": 0, "kept": 0, "converged": 0}
        for moment in np.random.default_rng(0).random(times):
            model = make()
            before = vars(model).copy()
            raised = struck(moment * length, functools.partial(fit, model))
            if raised and vars(model) == before:
                ends["raised"] += 1
            else:
                check(model)
                ends["converged" if model.converged_ else "kept"] += 1
    return ends


@pytest.mark.parametrize(
    "settings", CASES, ids=lambda s: "-".join(map(str, s.values()))
)
def test_random_moments(settings):
    kind = {k: settings[k] for k in ("objective", "rescaling") if k in settings}
    best = MulticlassSVM(tol=1e-7, **PLAIN, **kind).fit(*NEW).certificate_.primal
    params = {"tol": 1e-5, **PLAIN, **settings}

    def check(model):
        proof = model.certificate_
        if "rescaling" not in kind:
            found = primal(model.coef_, *NEW, objective=kind.get("objective", "hinge"))
            assert proof.primal == pytest.approx(found, rel=1e-5)
        assert proof.dual <= best * (1 + 1e-6)
        assert proof.primal >= best * (1 - 1e-6)
        assert len(model.history_) == model.n_iter_

    ends = strike_often(
        lambda: MulticlassSVM(**params).fit(*OLD), lambda m: m.fit(*NEW), check, 15
    )
    assert ends["kept"] > 0


def test_random_moments_of_a_problem_in_python():
    X, y = listed_blobs()
    best = StructuralSVM(Classes(), tol=1e-6).fit(X, y).certificate_.primal

    def check(model):
        proof = model.certificate_
        found = primal(model.coef_.reshape(3, 5), np.array(X), np.array(y))
        assert proof.primal == pytest.approx(found, rel=1e-6)
        assert proof.dual <= best * (1 + 1e-6)

    ends = strike_often(
        lambda: StructuralSVM(Classes(), tol=1e-4), lambda m: m.fit(X, y), check, 15
    )
    assert ends["kept"] > 0


def test_random_moments_of_a_fit_with_hidden_parts():
    ends = strike_often(
        lambda: latent(n_restarts=2), lambda m: m.fit(*bumps()), check_latent, 8
    )
    assert ends["kept"] + ends["converged"] > 0


@pytest.mark.parametrize("method", ["exact", "training-points", "subspace-pursuit"])
def test_random_moments_of_a_kernel_machine(method):
    X, y = NEW

    def check(model):
        scores = model.decision_function(X)
        assert scores.shape == (len(y), 3)
        assert np.isfinite(scores).all()
        proof = model.certificate_
        assert proof.dual <= proof.primal * (1 + 1e-6)
        assert len(model.basis_) == len(model.dual_coef_)

    strike_often(
        lambda: KernelSVM(method=method, n_components=20, tol=1e-5),
        lambda m: m.fit(X, y),
        check,
        10,
    )
