"""Certificates against what is returned: primals of public attributes, and dual <= primal.

    python benchmarks/certificates.py

Small fits over many C, whose primal is computed anew in double precision from ``coef_``,
``intercept_``, ``dual_coef_`` and ``basis_``. Ends with 1 if a claimed primal is off by
more than 1e-6, relative, or a bound is above it.
"""

from __future__ import annotations

import warnings

import numpy as np
from common import machine, start, table
from sklearn.datasets import load_digits, make_moons
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelSVM, MulticlassSVM

COSTS = 10.0 ** np.arange(-3, 8, 2)
METHODS = (
    "exact",
    "subspace-pursuit",
    "training-points",
    "nystroem",
    "incomplete-cholesky",
    "sampling",
)
ALLOWED = 1e-6
SECONDS = 2.0  # for one fit: a certificate is true whenever training ends


def main() -> int:
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("Certificates against the objective of public attributes")
    print(machine())
    rows = []
    for kind in (np.float32, np.float64):
        X, y = load_digits(return_X_y=True)
        X, y = (X[:300] / 16).astype(kind), y[:300]
        fits = [(C, _fit(MulticlassSVM(C=C), X, y)) for C in COSTS]
        rows.append(_row(f"MulticlassSVM, {kind.__name__}", fits, linear, X, y))
        X, y = make_moons(n_samples=150, noise=0.3, random_state=0)
        X = X.astype(kind)
        for method in METHODS:
            size = {} if method == "exact" else {"n_components": 20}
            make = KernelSVM(method=method, gamma=3.0, random_state=0, **size)
            fits = [(C, _fit(make.set_params(C=C), X, y)) for C in COSTS]
            rows.append(
                _row(f"KernelSVM, {method}, {kind.__name__}", fits, kernel, X, y)
            )
    table(["estimator", "fits", "primal is off by", "dual / primal", ""], rows)
    good = all(row[-1] == "pass" for row in rows)
    print(f"\n{'pass: all' if good else 'FAIL: not all'} certificates hold")
    return 0 if good else 1


def _fit(model, X, y):
    from sklearn.base import clone

    return clone(model).set_params(max_iter=100, max_time=SECONDS).fit(X, y)


def _row(name, fits, objective, X, y) -> list[str]:
    off, ratios = [], []
    for C, model in fits:
        proof = model.certificate_
        off.append(abs(proof.primal / objective(model, X.astype(float), y, C) - 1))
        ratios.append(max(proof.dual, getattr(proof, "within", 0.0)) / proof.primal)
    good = max(off) <= ALLOWED and max(ratios) <= 1
    numbers = [f"{max(off):.1e}", f"{max(ratios):.9f}"]
    return [name, str(len(fits)), *numbers, "pass" if good else "FAIL"]


def linear(model, X, y, C) -> float:
    """The intercept is a weight like the others."""
    coef, intercept = (
        np.asarray(model.coef_, float),
        np.asarray(model.intercept_, float),
    )
    square = (coef**2).sum() + (intercept**2).sum()
    return 0.5 * square + C * _hinges(X @ coef.T + intercept, y)


def kernel(model, X, y, C) -> float:
    points, beta = model.basis_.astype(float), model.dual_coef_
    square = (beta * (model.kernel_(points) @ beta)).sum()
    mass = C / 2 if len(model.classes_) == 2 else C
    return 0.5 * square + mass * _hinges(model.kernel_(X, points) @ beta, y)


def _hinges(scores, y) -> float:
    rows = np.arange(len(y))
    augmented = scores + 1.0
    augmented[rows, y] -= 1.0
    return float((augmented.max(axis=1) - scores[rows, y]).sum())


if __name__ == "__main__":
    start(main)
