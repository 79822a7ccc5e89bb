"""Checks of batches whose truths are only partly known, by enumeration."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from maxmargin.core import contract
from maxmargin.core.completion import complete_all
from maxmargin.core.formulation import make_form
from maxmargin.solvers.hidden.marginal_likelihood import MarginalLikelihood


def scores_of(batch, i, w):
    theta = np.zeros(contract.shape(batch), w.dtype)
    contract.score(batch, i, w, theta)
    return theta


def consistent(batch, i, outputs):
    """Which of these labellings agree with what is known of example i."""
    first, last = batch.start[i : i + 2]
    known, truth = batch.known[first:last], batch.y[first:last]
    return [bool((y[known] == truth[known]).all()) for y in outputs]


def check_completion(batch, w, outputs_of, agrees=consistent):
    """complete_all() is as good as the best output that agrees with what is known."""
    truths = complete_all(batch, w)
    for i in range(len(batch.start) - 1):
        first, last = batch.start[i : i + 2]
        if first == last:
            continue
        outputs = list(outputs_of(batch, i))
        theta = scores_of(batch, i, w)
        values = np.array([contract.value(batch, i, theta, y) for y in outputs])
        values[~np.array(agrees(batch, i, outputs))] = -np.inf
        found = truths[first:last]
        assert agrees(batch, i, [found]) == [True]
        value = contract.value(batch, i, theta, found)
        np.testing.assert_allclose(value, values.max(), rtol=1e-6, atol=1e-6)


def check_likelihood(batch, w, outputs_of, agrees=consistent):
    """Value against enumeration, gradient against differences of values."""
    n = len(batch.start) - 1
    mass = np.linspace(0.5, 1.5, n)
    form = make_form("margin", "linear", 0.1)
    objective = MarginalLikelihood(batch, len(w), form, mass, np.float64)
    wanted = 0.5 * float(w @ w)
    for i in range(n):
        outputs = list(outputs_of(batch, i))
        theta = scores_of(batch, i, w)
        values = np.array([contract.value(batch, i, theta, y) for y in outputs])
        good = np.array(agrees(batch, i, outputs))
        wanted += mass[i] * (_log_sum(values) - _log_sum(values[good]))
    value, gradient = objective.value_and_gradient(w)
    np.testing.assert_allclose(value, wanted, rtol=1e-8)
    np.testing.assert_allclose(objective.primal(w)[0], wanted, rtol=1e-8)
    direction = np.cos(np.arange(len(w)))
    step = 1e-5
    up, down = (
        objective.value_and_gradient(w + sign * step * direction)[0] for sign in (1, -1)
    )
    np.testing.assert_allclose(
        gradient @ direction, (up - down) / (2 * step), rtol=1e-5, atol=1e-7
    )


def _log_sum(values):
    top = values.max()
    return top + np.log(np.exp(values - top).sum())


def check_descent(model):
    """The objective never rises, and what is reported is a stationary point."""
    values = [row["objective"] for row in model.rounds_]
    assert all(b <= a * (1 + 1e-6) for a, b in pairwise(values))
    assert model.certificate_.objective == values[-1]
    assert model.certificate_.bound <= model._tolerance() * values[-1]
    assert model.converged_
