"""Ctrl-C anywhere: the best model so far or the one before, never half of one."""

import functools
import itertools
import signal
import threading
import types

import numpy as np
import pytest
from interrupt_cases import (  # noqa: F401
    NEW,
    OLD,
    PLAIN,
    at_call,
    check,
    handler,
    interrupted,
    press,
    silent,
    state,
)

from maxmargin import MulticlassSVM
from maxmargin.core.objective import Objective
from maxmargin.engine.interrupts import undisturbed, whole
from maxmargin.solvers.best import Best
from maxmargin.solvers.by_label import exact_blocks
from maxmargin.solvers.log.smooth import LBFGS

# blocks that are not disturbed --------------------------------------------------------


def test_ctrl_c_waits_for_the_end_of_the_block():
    done = []

    def work():
        with undisturbed():
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
        with undisturbed():
            with undisturbed(raising=False) as inner:
                press()
            done.append(inner.came)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [True]


def test_a_block_may_keep_it_to_itself():
    with undisturbed(raising=False) as block:
        press()
    assert block.came


def test_whoever_handled_it_before_is_told():
    told = []
    signal.signal(signal.SIGINT, lambda *_: told.append(1))
    with undisturbed():
        press()
        assert told == []
    assert told == [1]


def test_ignored_stays_ignored_and_other_threads_are_left_alone():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with undisturbed() as block:
        press()
    assert not block.came
    signal.signal(signal.SIGINT, signal.default_int_handler)
    entered = []

    def work():
        with undisturbed():
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
            with whole(self):
                self.a, self.c = 3, 4
                del self.b
                raise ZeroDivisionError

    thing = Thing()
    with pytest.raises(ZeroDivisionError):
        thing.fail()
    assert vars(thing) == {"a": 1, "b": 2}
    with whole(thing) as late:
        thing.a = 3
        press()
        thing.b = 4
    assert late.came
    assert vars(thing) == {"a": 3, "b": 4}


# chosen places ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def optimum():
    return MulticlassSVM(tol=1e-8, **PLAIN).fit(*NEW).certificate_.primal


def fitted(**more):
    return MulticlassSVM(tol=1e-6, **PLAIN, **more).fit(*OLD)


@pytest.mark.parametrize("number", [1, 2, 4])
@pytest.mark.parametrize(
    ("where", "name"),
    [
        (exact_blocks.ExactBlocks, "step"),
        (exact_blocks.ExactBlocks, "_dual"),
        (Best, "certify"),
        (Objective, "primal"),
        (Best, "see_dual"),
        (Objective, "along"),
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


@pytest.mark.parametrize(
    ("where", "name"), [(Best, "_settle"), (Objective, "check_maxima")]
)
def test_the_last_look(where, name, monkeypatch, optimum):
    model = fitted().set_params(callbacks=[lambda row: row["iteration"] == 3])
    at_call(monkeypatch, where, name, [1])
    interrupted(model.fit, *NEW)
    check(model, optimum)


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
