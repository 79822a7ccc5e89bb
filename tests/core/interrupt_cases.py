"""Ctrl-C at chosen places, and fits that it strikes."""

import itertools
import signal
import sys

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from watch_cases import Bump, blobs, bumps

from maxmargin import LatentStructuralSVM


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


def state(model):
    return {name: id(value) for name, value in vars(model).items()}


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


@pytest.fixture(autouse=True)
def silent(monkeypatch):
    """What Python cannot raise, in a destructor, is lost: whoever waits presses again."""
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
