"""From a problem to functions: which basis, which machine on it, what is proved."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.kernel_svm.certificate import KernelCertificate
from maxmargin.kernel_svm.input import KernelProblem
from maxmargin.kernel_svm.linear import Solved, signed
from maxmargin.kernels.basis import Basis
from maxmargin.kernels.inputs import count, is_sparse, take, toarray

METHODS = (
    "subspace-pursuit",
    "training-points",
    "nystroem",
    "nystroem-kmeans",
    "nystroem-leverage",
    "incomplete-cholesky",
    "sampling",
    "exact",
)
SMALLER = "fewer n_components, or another method than exact"
DEFAULT_SIZE = 500  # of n_components: all samples, where there are fewer
LOOSE = 0.03  # tolerance of stages on the way to the basis that was asked for


@dataclass
class Trained:
    """A kernel machine: points, coefficients by class, and what is known of it."""

    kernel: Any
    points: Any
    coefficients: np.ndarray
    certificate: KernelCertificate
    history: list
    converged: bool
    columns: np.ndarray | None = None
    seconds: float = 0.0  # since training began
    warning: str = ""  # of the machine that did not converge


def train(problem: KernelProblem, model, settings) -> Trained:
    (trained,) = train_sizes(
        problem, model, settings, "n_components", [model.n_components]
    )
    return trained


def train_sizes(problem, model, settings, name: str, values: list) -> Iterator[Trained]:
    """Machines for every value of C or of n_components, with bases that grow."""
    began = time.perf_counter()
    _, limits, _, seed, _ = settings
    rng = np.random.default_rng(seed)
    if model.method == "sampling":
        for value in values:
            trained = _sampled(problem, model, limits, rng, name, value)
            trained.seconds = time.perf_counter() - began
            yield trained
        return
    if name == "C":
        basis, start = next(
            iter(_bases(problem, model, [model.n_components], limits, rng))
        )
        Z = _coordinates(problem, basis, model)
        order, done, alpha, C = np.argsort(values), {}, start, float(model.C)
        for i in order:
            scaled = problem.with_mass(float(values[i]) / float(model.C))
            if alpha is not None:  # a feasible dual point of the new masses
                alpha = alpha * (float(values[i]) / C)
            C = float(values[i])
            done[i], alpha = _machine(scaled, basis, Z, model, limits, alpha)
            done[i].seconds = time.perf_counter() - began
        yield from (done[i] for i in range(len(values)))
        return
    order = np.argsort(values)
    done = {}
    sizes = [int(values[i]) for i in order]
    for i, (basis, alpha) in zip(
        order, _bases(problem, model, sizes, limits, rng), strict=True
    ):
        Z = _coordinates(problem, basis, model)
        done[i], _ = _machine(problem, basis, Z, model, limits, alpha)
        done[i].seconds = time.perf_counter() - began
    yield from (done[i] for i in range(len(values)))


# bases ------------------------------------------------------------------------------------


def _bases(problem, model, sizes, limits, rng) -> Iterator[tuple[Basis, Any]]:
    """(basis, dual point or None) for every size, from the smallest to the largest."""
    n, method = len(problem), model.method
    precomputed = problem.kernel.kind == "precomputed"
    if method == "exact":
        sizes = [n] * len(sizes)
    elif sizes == [DEFAULT_SIZE]:
        sizes = [min(DEFAULT_SIZE, n)]
    elif max(sizes) > n:
        raise ValueError(
            f"n_components={max(sizes)} is more than the {n} training samples: choose at "
            'most that, or method="exact".'
        )
    check_memory(model, n, max(sizes))
    if precomputed:
        yield from _precomputed(problem, method, sizes, rng)
        return
    if method in ("subspace-pursuit", "training-points"):
        yield from _pursued(problem, model, sizes, limits, rng)
        return
    from maxmargin.kernels.choosing import choose

    name = "all" if method == "exact" else method
    basis, found = None, None
    seed = int(rng.integers(2**31))  # one, so that larger bases begin with smaller ones
    for size in sizes:
        if size != found:
            basis = choose(name, problem.kernel, problem.X, size, seed, problem.mass)
            found = size
        yield basis, None


def _pursued(problem, model, sizes, limits, rng):
    from maxmargin.kernel_svm.devices import find_device
    from maxmargin.kernel_svm.pursuit import grow_points, pursue, stages

    X, kernel = problem.X, problem.kernel
    smooth = kernel.differentiable and (is_sparse(X) or hasattr(X, "shape"))
    arguments = (problem.y, problem.cost, problem.mass)
    planned = stages(max(sizes), sizes)
    loose = replace(limits, tol=max(limits.tol, LOOSE), callbacks=())
    if model.method == "training-points" or not smooth:
        found = grow_points(kernel, X, *arguments, planned, rng, loose)
    else:
        table = X.toarray() if is_sparse(X) else X
        found = pursue(
            kernel,
            table,
            *arguments,
            planned,
            rng,
            loose,
            find_device(model.device),
            model.preimage,
        )
    for size, stage in zip(planned, found, strict=True):
        for _ in range(sizes.count(size)):
            yield stage.basis, stage.solved.alpha


def _precomputed(problem, method, sizes, rng):
    """Bases of columns of the table that was given."""
    K, n = problem.X, len(problem)
    if method not in ("exact", "nystroem"):
        raise ValueError(
            f'method={method!r} needs the inputs, but kernel="precomputed" has only their '
            'kernel values: choose "exact" or "nystroem".'
        )
    order = rng.permutation(n) if method == "nystroem" else np.arange(n)
    for size in sizes:
        chosen = np.sort(order[:size])
        gram = toarray(K[chosen][:, chosen])
        yield Basis(problem.kernel, chosen, gram), None


def check_memory(model, n: int, k: int) -> None:
    """Say how much the tables take, before they are made."""
    needed = 12.0 * n * k + 24.0 * k * k  # coordinates and their places; factors
    if needed > model.memory:
        raise ValueError(
            f"{n} samples and {k} basis functions take about {needed / 1e9:.2g} GB, but "
            f"memory={model.memory:g} allows {model.memory / 1e9:.2g} GB: choose "
            f"{SMALLER}, or allow more."
        )


def _coordinates(problem, basis: Basis, model) -> np.ndarray:
    from maxmargin.kernel_svm.devices import find_device
    from maxmargin.kernels.basis import expand

    if problem.kernel.kind == "precomputed":
        return toarray(problem.X[:, basis.points]) @ basis.inverse.T
    device = find_device(model.device)
    if device.name == "cpu":
        return basis.transform(problem.X)
    kind = getattr(problem.X, "dtype", np.float64)
    scale = basis.inverse.T
    return expand(problem.kernel, problem.X, basis.points, scale, device).astype(kind)


# machines ---------------------------------------------------------------------------------


def _machine(problem, basis: Basis, Z, model, limits, alpha) -> tuple[Trained, Any]:
    """The machine on the coordinates, and its dual point."""
    single = Z.dtype == np.float32 and limits.tol >= 1e-4
    Z = Z if single else Z.astype(np.float64, copy=False)
    if problem.lines is not None:
        from maxmargin.kernel_svm.linear import solve_lines

        solved = solve_lines(Z, problem, limits)
        by_class = solved.weights @ problem.lines.T
    else:
        solved = _solved(problem, Z, model, limits, alpha)
        by_class = solved.weights
    certificate = prove(problem, basis, Z, solved, model)
    precomputed = problem.kernel.kind == "precomputed"
    trained = Trained(
        problem.kernel,
        basis.points,
        basis.coefficients(by_class),
        certificate,
        solved.solution.history,
        solved.solution.converged,
        np.asarray(basis.points) if precomputed else None,
        warning=unfinished(solved.solution, limits),
    )
    return trained, solved.alpha if problem.lines is None else None


def _solved(problem, Z, model, limits, alpha) -> Solved:
    from maxmargin.kernel_svm.device_solver import solve_on
    from maxmargin.kernel_svm.devices import find_device

    device = find_device(model.device)
    arguments = problem.y, problem.cost, problem.mass, limits, alpha
    return solve_on(device, device.put(Z, Z.dtype), *arguments)


def unfinished(solution, limits) -> str:
    """What to warn of, if anything."""
    if solution.converged:
        return ""
    return (
        f"Training {solution.status} at a relative gap of "
        f"{solution.certificate.relative_gap:.3g} within the span of the basis "
        f"(tol={limits.tol:g}). Allow more max_iter or max_time, or a larger tol."
    )


def prove(problem, basis, Z, solved: Solved, model) -> KernelCertificate:
    """See ``certificate.py``."""
    from maxmargin.kernel_svm.bounds import best_multiple, exact_dual

    found = solved.solution.certificate
    span = found.primal, found.dual, found.gap, found.relative_gap
    open_end = KernelCertificate(*span, False, found.dual, float("nan"))
    if problem.lines is not None:
        return open_end
    y, mass = problem.y, problem.mass
    a = signed(solved.alpha, y, mass)
    live = np.abs(a).max(axis=1) > 1e-12 * mass.max()
    if live.sum() > model.max_terms:
        return open_end
    linear = float((solved.alpha * problem.cost[y]).sum())
    rows = np.flatnonzero(live)
    a = a[rows]
    if problem.kernel.kind == "precomputed":
        gram = toarray(problem.X[rows][:, rows]).astype(np.float64)
        square = float(np.einsum("ik,ij,jk->", a, gram, a, optimize=True))
        bound = best_multiple(linear, square)
    else:
        inputs = take(problem.X, rows)
        bound, square = exact_dual(problem.kernel, inputs, a, linear, model.memory)
    inside = Z[rows].astype(np.float64).T @ a
    residual = float(np.sqrt(max(square - float((inside**2).sum()), 0.0)))
    dual = min(bound, found.primal)
    gap = found.primal - dual
    share = gap / found.primal if found.primal > 0 else 0.0
    return KernelCertificate(found.primal, dual, gap, share, True, found.dual, residual)


def _sampled(problem, model, limits, rng, name, value) -> Trained:
    """Algorithm 6.2: cuts made of samples."""
    from maxmargin.kernel_svm.sampling import sample_cuts

    if problem.kernel.kind == "precomputed" or problem.lines is not None:
        raise ValueError(
            'method="sampling" needs inputs and plain classes: choose another method for '
            "a precomputed table or a taxonomy."
        )
    size = model.n_components
    if name == "C":
        problem = problem.with_mass(float(value) / float(model.C))
    else:
        size = int(value)
    n = count(problem.X)
    check_memory(model, n, 2 * len(problem.cost))
    cuts = sample_cuts(
        problem.kernel,
        problem.X,
        problem.y,
        problem.cost,
        problem.mass,
        min(size, n),
        limits.tol,
        rng,
        limits.max_iter or 200,
    )
    certificate = KernelCertificate(
        cuts.primal, 0.0, cuts.primal, 1.0, False, cuts.dual, float("nan")
    )
    points = take(problem.X, cuts.points)
    return Trained(
        problem.kernel,
        points,
        cuts.coefficients,
        certificate,
        cuts.history,
        cuts.converged,
    )
