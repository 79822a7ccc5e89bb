"""From a problem to functions: which basis, which machine on it, what is proved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.core.compiling import announce, say_on_stderr
from maxmargin.core.data_weight import C_of
from maxmargin.core.estimator import SINGLE_PRECISION_TOL
from maxmargin.kernel_svm.bases import Found, check_memory, find_bases
from maxmargin.kernel_svm.certificate import KernelCertificate
from maxmargin.kernel_svm.clock import INTERRUPTED, Clock, Progress
from maxmargin.kernel_svm.input import KernelProblem
from maxmargin.kernel_svm.linear import Solved
from maxmargin.kernel_svm.proofs import prove, prove_sampled
from maxmargin.kernels.basis import NOTHING, Basis
from maxmargin.kernels.inputs import count, take, toarray
from maxmargin.solvers.result import Certificate

METHODS = (
    "auto",
    "subspace-pursuit",
    "training-points",
    "nystroem",
    "nystroem-kmeans",
    "nystroem-leverage",
    "incomplete-cholesky",
    "sampling",
    "exact",
)
SAMPLED_CUTS = 200  # where max_iter says nothing else
FULL_TABLE = 2**27  # bytes of a kernel's table of double precision that do not hurt
SLACK = 0.1  # share of tol that scores may be off by, with rows of single precision


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
    ((_, trained),) = train_sizes(
        problem, model, settings, "n_components", [model.n_components]
    )
    return trained


def train_sizes(problem, model, settings, name: str, values: list) -> list[tuple]:
    """(number of a value, machine) for the values of C or of n_components, in order.

    Bases grow. Ctrl-C leaves out the values that were not begun.
    """
    _, limits, _, seed, _ = settings
    if limits.verbose == 1:
        announce(say_on_stderr)
    rng, clock = np.random.default_rng(seed), Clock(limits.max_time)
    if limits.checkpoint is not None and (
        model.method == "sampling" or model.device != "cpu"
    ):
        raise ValueError(
            'method="sampling" and other devices than "cpu" keep no checkpoint: leave '
            "checkpoint out."
        )
    if model.method == "sampling":
        machines = _sampled(problem, model, limits, rng, clock, name, values)
    elif model.method == "exact":
        machines = _exactly(problem, model, limits, rng, clock, name, values)
    elif name == "C":
        machines = _along_C(problem, model, limits, rng, clock, values)
    else:
        machines = _along_sizes(problem, model, limits, rng, clock, values)
    done = {}
    try:
        for i, trained in machines:
            trained.seconds = clock.seconds()
            done[i] = trained
            if clock.interrupted:
                break
    except KeyboardInterrupt:  # before there is a machine of this value
        if not done:
            raise
    return sorted(done.items(), key=lambda item: item[0])


def _along_C(problem, model, limits, rng, clock, values):
    """One basis, found at model.C; machines start from that of the next smaller C."""
    sizes = [model.n_components]
    (found,) = find_bases(problem, model, sizes, limits, rng, clock)
    Z = _coordinates(problem, found.basis, model)
    alpha, C = found.alpha, C_of(model)
    for i in np.argsort(values).tolist():
        scaled = problem.with_mass(float(values[i]) / C_of(model))
        if alpha is not None:  # a feasible dual point of the new masses
            alpha = alpha * (float(values[i]) / C)
        C = float(values[i])
        solved = _solved(scaled, Z, model, clock.within(limits), alpha)
        alpha = solved.alpha if problem.lines is None else None
        yield i, _machine(scaled, found, Z, solved, model, limits, clock)


def _along_sizes(problem, model, limits, rng, clock, values):
    order = np.argsort(values, kind="stable").tolist()
    sizes = [int(values[i]) for i in order]
    searching = replace(limits, checkpoint=None)  # it is made again, in the same way
    bases = find_bases(problem, model, sizes, searching, rng, clock)
    for i, found in zip(order, bases, strict=False):
        start = found.solved if problem.lines is None else None  # it knows no lines
        Z, solved = None, start
        if start is None or not clock.over():
            try:
                Z, solved = _trained(problem, found, model, limits, clock)
            except KeyboardInterrupt:  # before it has weights: the stage is the machine
                if start is None:
                    raise
                clock.interrupted, Z, solved = True, None, start
        yield i, _machine(problem, found, Z, solved, model, limits, clock)


def _trained(problem, found: Found, model, limits, clock) -> tuple:
    """(coordinates, machine on them), from that of the search for the basis."""
    Z, start = found.coordinates, found.solved
    if Z is None or limits.tol < 1e-4:
        Z = _coordinates(problem, found.basis, model)
    solved = _solved(problem, Z, model, clock.within(limits), found.alpha)
    if start is not None and not solved.solution.converged:
        solved = _better(problem, start, solved)
    return Z, solved


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


def _solved(problem, Z, model, limits, alpha) -> Solved:
    """The machine on the coordinates."""
    from maxmargin.kernel_svm.device_solver import solve_on
    from maxmargin.kernel_svm.devices import find_device
    from maxmargin.kernel_svm.linear import solve_lines

    single = Z.dtype == np.float32 and limits.tol >= 1e-4 and problem.lines is None
    Z = Z if single else Z.astype(np.float64, copy=False)
    if problem.lines is not None:
        return solve_lines(Z, problem, limits)
    device = find_device(model.device)
    arguments = problem.y, problem.cost, problem.mass, limits, alpha
    return solve_on(device, device.put(Z, Z.dtype), *arguments)


def _better(problem, start: Solved, solved: Solved) -> Solved:
    """Of a machine and the one it began with, the one with the smaller objective."""
    if problem.lines is not None:  # which a stage does not know
        return solved
    before, after = (s.solution.certificate.primal for s in (start, solved))
    if after <= before:
        return solved
    solution = replace(start.solution, status=solved.solution.status, converged=False)
    return replace(start, solution=solution)


def _machine(problem, found: Found, Z, solved, model, limits, clock) -> Trained:
    """What is known of the machine; without Z, time was up before its own training."""
    basis, solution = found.basis, solved.solution
    clock.saw(solution.status)  # of Ctrl-C, the proof must know
    certificate = prove(problem, basis, Z, solved, model, clock)
    status = clock.saw(solution.status)
    converged = solution.converged and Z is not None and not clock.interrupted
    warning = ""
    if not converged:
        where = "within the span of the basis"
        if found.wanted is not None:
            where = f"{where}, {len(basis)} points where {found.wanted} were asked for"
        gap = solution.certificate.relative_gap
        warning = unfinished(gap, where, status, limits)
    by_class = solved.weights
    if problem.lines is not None:
        by_class = by_class @ problem.lines.T
    precomputed = problem.kernel.kind == "precomputed"
    return Trained(
        problem.kernel,
        basis.points,
        basis.coefficients(by_class),
        certificate,
        solution.history,
        converged,
        np.asarray(basis.points) if precomputed else None,
        warning=warning,
    )


def unfinished(gap: float, where: str, status: str, limits) -> str:
    """What to warn of."""
    return (
        f"Training {status} at a relative gap of {gap:.3g} {where} (tol={limits.tol:g}). "
        "Allow more max_iter or max_time, or a larger tol."
    )


# all training points ------------------------------------------------------------------


def _exactly(problem, model, limits, rng, clock, name, values):
    """One machine for all sizes; along C, each starts from that of the next smaller."""
    from maxmargin.kernel_svm.devices import find_device
    from maxmargin.kernel_svm.exact import Ascent, solve_exact
    from maxmargin.kernel_svm.rows import Table

    device, given = find_device(model.device), problem.kernel.kind == "precomputed"
    lengths = problem.X.diagonal() if given else problem.kernel.diagonal(problem.X)
    if np.max(lengths) <= 0:
        raise ValueError(NOTHING)
    largest = float(np.max(problem.mass)) * (
        max(values) / C_of(model) if name == "C" else 1
    )
    rounding = largest * np.sqrt(len(problem)) * float(np.max(lengths)) * 2.0**-24
    large = 8.0 * len(problem) ** 2 > FULL_TABLE
    single = large and limits.tol >= SINGLE_PRECISION_TOL
    single = single and rounding <= SLACK * limits.tol
    table = Table(problem, device, model.memory)
    ascent, C = Ascent(problem, table, rng, single), C_of(model)
    order = np.argsort(values, kind="stable").tolist() if name == "C" else [0]
    for i in order:
        if name == "C":
            ascent.scale(float(values[i]) / C)
            C = float(values[i])
        trained = _of_all(problem, solve_exact(ascent, limits, clock), limits, clock)
        yield i, trained
    if name != "C":
        yield from ((i, replace(trained)) for i in range(1, len(values)))


def _of_all(problem, machine, limits, clock: Clock) -> Trained:
    """Terms of the support vectors, copies of a point together."""
    clock.saw(machine.status)
    rows = np.flatnonzero(machine.a.any(axis=1))
    rows = rows if len(rows) else np.zeros(1, np.int64)
    a, precomputed = machine.a[rows], problem.kernel.kind == "precomputed"
    if problem.lines is not None:
        a = a @ (problem.lines @ problem.lines.T)
    points = rows if precomputed else take(problem.X, rows)
    if not precomputed and isinstance(points, np.ndarray) and points.ndim == 2:
        points, places = np.unique(points, axis=0, return_inverse=True)
        total = np.zeros((len(points), a.shape[1]))
        np.add.at(total, places.ravel(), a)
        a = total
    proof = Certificate.of(machine.primal, machine.dual, machine.proved)
    converged = machine.status == "converged" and not clock.interrupted
    warning = ""
    if not converged:
        status = clock.saw(machine.status)
        where = "within the span of all training points"
        warning = unfinished(proof.relative_gap, where, status, limits)
    return Trained(
        problem.kernel,
        points,
        a,
        KernelCertificate(**vars(proof), within=proof.dual),
        machine.history,
        converged,
        rows if precomputed else None,
        warning=warning,
    )


# sampling ---------------------------------------------------------------------------------


def _sampled(problem, model, limits, rng, clock, name, values):
    """Algorithm 6.2: cuts made of samples."""
    if problem.kernel.kind == "precomputed" or problem.lines is not None:
        raise ValueError(
            'method="sampling" needs inputs and plain classes: choose another method for '
            "a precomputed table or a taxonomy."
        )
    check_memory(model, count(problem.X), 2 * len(problem.cost))
    for i, value in enumerate(values):
        if name == "C":
            scaled = problem.with_mass(float(value) / C_of(model))
            yield i, _cuts(scaled, model.n_components, model, limits, rng, clock)
        else:
            yield i, _cuts(problem, int(value), model, limits, rng, clock)


def _cuts(problem, size, model, limits, rng, clock) -> Trained:
    from maxmargin.kernel_svm.sampling import sample_cuts

    size, most = min(size, count(problem.X)), limits.max_iter or SAMPLED_CUTS
    arguments = problem.kernel, problem.X, problem.y, problem.cost, problem.mass
    progress = Progress(limits, clock)
    cuts = sample_cuts(*arguments, size, limits.tol, rng, most, progress)
    progress.end()
    converged = cuts.converged and not clock.interrupted
    certificate = prove_sampled(problem, cuts, model, clock)
    warning = ""
    if not converged:
        status = progress.status or f"stopped after {most} cuts"
        status = clock.saw(INTERRUPTED if cuts.interrupted else status)
        gap = max(cuts.primal - cuts.dual, 0.0) / cuts.primal if cuts.primal else 0.0
        warning = unfinished(gap, "to the model of its cuts", status, limits)
    return Trained(
        problem.kernel,
        take(problem.X, cuts.points),
        cuts.coefficients,
        certificate,
        cuts.history,
        converged,
        warning=warning,
    )
