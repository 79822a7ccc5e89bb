"""Small problems for kernel machines, and what they should come out at."""

from types import SimpleNamespace

import numpy as np

from maxmargin.kernel_svm import sampling
from maxmargin.kernel_svm.input import KernelProblem
from maxmargin.kernel_svm.training import terms
from maxmargin.kernels.inputs import double
from maxmargin.solvers.result import Limits

BASES = (
    "subspace-pursuit",
    "training-points",
    "nystroem",
    "nystroem-kmeans",
    "nystroem-leverage",
    "incomplete-cholesky",
)


def random_data(seed=0, n=40, n_classes=3):
    """Points whose class is no linear function of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = ((X[:, 0] * X[:, 1] > 0) * 1 + (X[:, 2] > 0.5)) % n_classes
    y[:n_classes] = range(n_classes)
    return X, y


def random_strings(n=40):
    """Strings of two kinds, some of them copies of others."""
    rng = np.random.default_rng(0)
    letters = ["aacc", "acgt"]
    X = ["".join(rng.choice(list(letters[i % 2]), 12)) for i in range(n - 4)]
    return X + X[:4], np.arange(n) % 2


def primal_of(model, X, y, C, cost=None):
    """The objective of what the model predicts with, in double precision."""
    m = len(model.classes_)
    cost = 1.0 - np.eye(m) if cost is None else cost
    numbers = np.searchsorted(model.classes_, y)
    beta = model.dual_coef_
    points = double(model.basis_)
    gram = model.kernel_(points)
    scores = model.kernel_(double(X), points) @ beta
    truth = scores[np.arange(len(y)), numbers]
    hinges = (scores + cost[numbers]).max(axis=1) - truth
    mass = C / 2 if m == 2 else C
    return 0.5 * np.einsum("ik,ij,jk->", beta, gram, beta) + mass * hinges.sum()


def box_optimum(Q, C, seed=0):
    """min 1/2 a'Qa - sum a over 0 <= a <= C, by another's solver; negated."""
    from scipy.optimize import minimize

    n = len(Q)
    found = minimize(
        lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
        np.full(n, C / 2),
        jac=True,
        bounds=[(0, C)] * n,
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    return -found.fun


def sample_cuts(kernel, X, y, cost, mass, r, tol, seed, most, *callbacks):
    """``sampling.sample_cuts``: what it found, in few words."""
    problem = KernelProblem(X, np.asarray(y), cost, mass, kernel)
    limits = Limits(tol, most, callbacks=callbacks)
    solution = sampling.sample_cuts(problem, r, np.random.default_rng(seed), limits)
    points, coefficients = terms(solution.w, problem)
    return SimpleNamespace(
        points=points,
        coefficients=coefficients,
        primal=solution.certificate.primal,
        dual=solution.certificate.dual,
        history=solution.history,
        converged=solution.converged,
    )
