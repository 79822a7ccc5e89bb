"""Certificates are of what is returned, whatever precision trained it."""

from __future__ import annotations

import warnings
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from maxmargin import MulticlassSVM, SequenceTagger

COST = np.random.default_rng(0).uniform(0.3, 2.0, size=(10, 10)) * (1 - np.eye(10))


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.set_params(max_iter=30).fit(X, y)


def check(model, objective):
    proof = model.certificate_
    assert proof.primal == pytest.approx(objective, rel=1e-9)
    assert 0 <= proof.dual <= proof.primal
    assert proof.relative_gap <= model.tol or not model.converged_
    last = model.history_[-1]
    assert (last["primal"], last["dual"]) == (proof.primal, proof.dual)
    assert all(row["dual"] <= proof.dual for row in model.history_)


def of_classes(model, X, y):
    scores = X.astype(float) @ model.coef_.T + model.intercept_
    rows = np.arange(len(y))
    hinges = (scores + COST[y]).max(axis=1) - scores[rows, y]
    square = (model.coef_**2).sum() + (model.intercept_**2).sum()
    return 0.5 * square + model.C * hinges.sum()


@pytest.mark.parametrize("C", [1.0, 300.0, 1e4])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"solver": "n-slack"}, {"engine": "dask"}])
def test_classes(C, kind, options, home):
    X, y = load_digits(return_X_y=True)
    X, y = (X[:150] / 16 + 0.1).astype(kind), y[:150]
    model = fitted(MulticlassSVM(C=C, loss=COST, tol=1e-3, **options), X, y)
    check(model, of_classes(model, X, y))


def of_tags(model, X, y, log):
    parts = (model.coef_, model.transitions_, model.first_, model.last_)
    coef, steps, first, last = (np.asarray(part, float) for part in parts)

    def score(x, row):
        tokens = sum(x[t] @ coef[k] for t, k in enumerate(row))
        moves = sum(steps[a, b] for a, b in pairwise(row))
        return tokens + moves + first[row[0]] + last[row[-1]]

    risk = 0.0
    for x, row in zip(X, y, strict=True):
        every = list(product(range(3), repeat=len(row)))
        scores = np.array([score(x.astype(float), z) for z in every])
        wrong = np.array(
            [sum(a != b for a, b in zip(row, z, strict=True)) for z in every]
        )
        top = logsumexp(scores) if log else (scores + wrong).max()
        risk += top - score(x.astype(float), row)
    square = sum((part**2).sum() for part in (coef, steps, first, last))
    return 0.5 * square + model.C * risk


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"solver": "one-slack"},
        {"engine": "dask"},
        {"objective": "log"},
        {"objective": "log", "solver": "lbfgs"},
        {"objective": "log", "l1": 0.1},
    ],
)
def test_tags(C, kind, options, home):
    rng = np.random.default_rng(3)
    y = [rng.integers(3, size=rng.integers(1, 5)).tolist() for _ in range(15)]
    X = [
        (np.eye(3, 6)[row] + rng.normal(scale=0.6, size=(len(row), 6))).astype(kind)
        for row in y
    ]
    model = fitted(SequenceTagger(C=C, tol=1e-3, **options), X, y)
    objective = of_tags(model, X, y, "objective" in options)
    if "l1" in options:
        tables = (model.coef_, model.transitions_, model.first_, model.last_)
        objective += 0.1 * sum(np.abs(table).sum(dtype=float) for table in tables)
    check(model, objective)
