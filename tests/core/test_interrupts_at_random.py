"""Ctrl-C at random moments: the best model so far or the one before."""

import functools
import signal
import time
import warnings

import numpy as np
import pytest
from interrupt_cases import (  # noqa: F401
    NEW,
    OLD,
    PLAIN,
    check,
    check_latent,
    handler,
    latent,
    press,
    primal,
    silent,
)
from sklearn.exceptions import ConvergenceWarning
from watch_cases import Classes, bumps, listed_blobs

from maxmargin import KernelSVM, MulticlassSVM, StructuralSVM

# ruff: noqa: F811  (what is imported so is a fixture)

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


def same(attributes, before):
    """Whether they are the very objects: arrays are not compared."""
    return attributes.keys() == before.keys() and all(
        value is before[name] for name, value in attributes.items()
    )


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
            if raised and same(vars(model), before):
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
