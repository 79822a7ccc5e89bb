"""From a problem to functions: which basis, which machine on it, what is proved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.core.compiling import announce, say_on_stderr
from maxmargin.core.encoded import SINGLE_PRECISION_TOL, C_of
from maxmargin.engine.interrupts import undisturbed
from maxmargin.engine.threads import Team
from maxmargin.kernel_svm.bases import Found, check_memory, find_bases
from maxmargin.kernel_svm.certificate import KernelCertificate
from maxmargin.kernel_svm.exact import MAX_ROUNDS, AllSamples, Exact, train_exact
from maxmargin.kernel_svm.input import KernelProblem
from maxmargin.kernel_svm.linear import Solved, solve_lines, solve_on
from maxmargin.kernel_svm.proofs import prove, prove_sampled
from maxmargin.kernel_svm.rows import Table
from maxmargin.kernel_svm.sampling import sample_cuts
from maxmargin.kernels.basis import NOTHING, Basis, expand
from maxmargin.kernels.inputs import count, take, toarray
from maxmargin.solvers.clock import Clock
from maxmargin.solvers.result import Solution

SAMPLED_CUTS = 200  # where max_iter says nothing else
FULL_TABLE = 2**27  # bytes of a kernel's table of double precision that do not hurt
SLACK = 0.1  # share of tol that scores may be off by, with rows of single precision


@dataclass
class Trained(Solution):
    """A kernel machine: ``w`` are coefficients of its points, by class."""

    kernel: Any = None
    points: Any = None
    columns: np.ndarray | None = None
    method: str = ""
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
    limits, seed, threads = settings.limits, settings.seed, settings.n_jobs
    if limits.verbose == 1:
        announce(say_on_stderr)
    rng, clock = np.random.default_rng(seed), Clock(limits.max_time)
    team = Team(threads)
    if limits.checkpoint is not None and (
        model.method == "sampling" or model.device.name != "cpu"
    ):
        raise ValueError(
            'method="sampling" and other devices than "cpu" keep no checkpoint: leave '
            "checkpoint out."
        )
    if model.method == "sampling":
        machines = _sampled(problem, model, limits, rng, clock, name, values)
    elif model.method == "exact":
        machines = _exactly(problem, model, limits, rng, clock, name, values, team)
    elif name == "C":
        machines = _along_C(problem, model, limits, rng, clock, values)
    else:
        machines = _along_sizes(problem, model, limits, rng, clock, values)
    done = {}
    try:
        with team.at_work():
            for i, trained in machines:
                trained.seconds, trained.method = clock.seconds(), model.method
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
    if problem.kernel.kind == "precomputed":
        return toarray(problem.X[:, basis.points]) @ basis.inverse.T
    device = model.device
    if device.name == "cpu":
        return basis.transform(problem.X)
    kind = getattr(problem.X, "dtype", np.float64)
    scale = basis.inverse.T
    return expand(problem.kernel, problem.X, basis.points, scale, device).astype(kind)


# machines ---------------------------------------------------------------------------------


def _solved(problem, Z, model, limits, alpha) -> Solved:
    """The machine on the coordinates."""
    single = Z.dtype == np.float32 and limits.tol >= 1e-4 and problem.lines is None
    Z = Z if single else Z.astype(np.float64, copy=False)
    if problem.lines is not None:
        return solve_lines(Z, problem, limits)
    device = model.device
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
    where = "within the span of the basis"
    if found.wanted is not None:
        where = f"{where}, {len(basis)} points where {found.wanted} were asked for"
    by_class = solved.weights
    if problem.lines is not None:
        by_class = by_class @ problem.lines.T
    expansion = basis.points, basis.coefficients(by_class)
    if Z is None:
        solution = replace(solution, converged=False)
    return _ended(problem, expansion, certificate, solution, where, limits, clock)


def _ended(problem, expansion, certificate, solution, where, limits, clock) -> Trained:
    """The machine of these (points, coefficients), and what to warn of."""
    points, coefficients = expansion
    converged, warning = solution.converged and not clock.interrupted, ""
    if not converged:
        status, gap = clock.saw(solution.status), solution.certificate.relative_gap
        warning = (
            f"Training {status} at a relative gap of {gap:.3g} {where} "
            f"(tol={limits.tol:g}). Allow more max_iter or max_time, or a larger tol."
        )
    return Trained(
        coefficients,
        certificate,
        solution.history,
        converged,
        kernel=problem.kernel,
        points=points,
        columns=np.asarray(points) if problem.kernel.kind == "precomputed" else None,
        warning=warning,
    )


# all training points ------------------------------------------------------------------


def _exactly(problem, model, limits, rng, clock, name, values, team: Team):
    """One machine for all sizes; along C, each starts from that of the next smaller."""
    device, given = model.device, problem.kernel.kind == "precomputed"
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
    table = Table(problem, device, model.memory, team)
    solver, C = Exact(AllSamples(problem, table, limits.tol, rng, single)), C_of(model)
    limits = replace(limits, max_iter=limits.max_iter or MAX_ROUNDS)
    order = np.argsort(values, kind="stable").tolist() if name == "C" else [0]
    for i in order:
        if name == "C":
            solver.scale(float(values[i]) / C)
            C = float(values[i])
        solution = train_exact(solver, clock.within(limits))
        with undisturbed(raising=False) as late:  # there are weights: they are kept
            trained = _of_all(problem, solution, limits, clock)
        clock.interrupted |= late.came
        yield i, trained
    if name != "C":
        yield from ((i, replace(trained)) for i in range(1, len(values)))


def _of_all(problem, solution, limits, clock: Clock) -> Trained:
    """Terms of the support vectors, copies of a point together."""
    clock.saw(solution.status)
    rows, a = terms(solution.w, problem)
    if not len(rows):
        rows, a = np.zeros(1, np.int64), np.zeros((1, len(problem.cost)))
    precomputed = problem.kernel.kind == "precomputed"
    if problem.lines is not None:
        a = a @ (problem.lines @ problem.lines.T)
    points = rows if precomputed else take(problem.X, rows)
    if not precomputed and isinstance(points, np.ndarray) and points.ndim == 2:
        points, places = np.unique(points, axis=0, return_inverse=True)
        total = np.zeros((len(points), a.shape[1]))
        np.add.at(total, places.ravel(), a)
        a = total
    proof, where = solution.certificate, "within the span of all training points"
    proof = KernelCertificate(**vars(proof), within=proof.dual)
    return _ended(problem, (points, a), proof, solution, where, limits, clock)


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
    limits = replace(limits, max_iter=limits.max_iter or SAMPLED_CUTS)
    size = min(size, count(problem.X))
    solution = sample_cuts(problem, size, rng, clock.within(limits))
    clock.saw(solution.status)
    rows, a = terms(solution.w, problem)
    primal = solution.certificate.primal
    proof = prove_sampled(problem, rows, a, primal, model, clock)
    expansion, where = (take(problem.X, rows), a), "to the model of its cuts"
    return _ended(problem, expansion, proof, solution, where, limits, clock)


def terms(w: np.ndarray, problem) -> tuple[np.ndarray, np.ndarray]:
    """(samples, coefficients) of those that have any."""
    a = w.reshape(len(problem), -1)
    rows = np.flatnonzero(a.any(axis=1))
    return rows, a[rows]
