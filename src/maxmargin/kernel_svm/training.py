"""From a problem to functions: which basis, which machine on it, what is proved."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.core.compile.compiling import announce, say_on_stderr
from maxmargin.core.encoded import SINGLE_PRECISION_TOL, C_of
from maxmargin.engine.interrupts import INTERRUPTED, undisturbed
from maxmargin.engine.threads import Team
from maxmargin.kernel_svm.bases import (
    DEFAULT_SIZE,
    check_memory,
    choose_method,
    find_bases,
)
from maxmargin.kernel_svm.certificate import KernelCertificate
from maxmargin.kernel_svm.devices import find_device
from maxmargin.kernel_svm.exact import MAX_ROUNDS, AllSamples, Exact, train_exact
from maxmargin.kernel_svm.input import KernelProblem
from maxmargin.kernel_svm.linear import Solved, solve_lines, solve_on
from maxmargin.kernel_svm.proofs import prove, prove_sampled
from maxmargin.kernel_svm.pursuit import Stage
from maxmargin.kernel_svm.rows import Table
from maxmargin.kernel_svm.sampling import sample_cuts
from maxmargin.kernels.basis import NOTHING, Basis, expand
from maxmargin.kernels.inputs import take
from maxmargin.kernels.tables import toarray
from maxmargin.solvers.clock import Clock
from maxmargin.solvers.result import Limits, Solution

SAMPLED_CUTS = 200  # where max_iter says nothing else
FULL_TABLE = 2**27  # bytes of a kernel's table of double precision that do not hurt
SLACK = 0.1  # share of tol that scores may be off by, with rows of single precision


@dataclass
class Trained(Solution):
    """A kernel machine: ``w`` are coefficients of its points, by class."""

    points: Any = None
    method: str = ""
    seconds: float = 0.0  # since training began
    warning: str = ""  # of the machine that did not converge


class Run:
    """What all trainings of a run share: their limits, random numbers, time, threads.

    ``model`` is the estimator with its method, size and device, as training reads them.
    """

    def __init__(self, problem: KernelProblem, model, settings, size: int | None):
        self.problem, self.limits = problem, settings.limits
        self.rng = np.random.default_rng(settings.seed)
        self.clock, self.team = Clock(self.limits.max_time), Team(settings.n_jobs)
        self.model = model = copy(model)
        model.device = find_device(model.device)
        if model.method == "auto":
            model.method = choose_method(problem, size)
        if model.n_components is None:
            model.n_components = DEFAULT_SIZE

    def within(self) -> Limits:
        """The limits of a training that begins now."""
        return self.clock.within(self.limits)


def machines(
    model, encoded, settings, name: str = "n_components", values: list | None = None
) -> Iterator[tuple[int, Trained]]:
    """(number of a value, machine) for the values of C or of n_components, in one run.

    Bases grow. After Ctrl-C, the best machine so far is the last one.
    """
    if settings.limits.verbose == 1:
        announce(say_on_stderr)
    along_C = name == "C"
    size = model.n_components if along_C or values is None else max(values)
    run = Run(encoded.batch, model, settings, size)
    method = run.model.method
    if run.limits.checkpoint is not None and (
        method == "sampling" or run.model.device.name != "cpu"
    ):
        raise ValueError(
            'method="sampling" and other devices than "cpu" keep no checkpoint: leave '
            "checkpoint out."
        )
    values = values or [run.model.n_components]
    if method in ("sampling", "exact"):
        found = (_sampled if method == "sampling" else _exactly)(run, along_C, values)
    else:
        found = (_along_C if along_C else _along_sizes)(run, values)
    with run.team.at_work():
        yield from found


def _along_C(run: Run, values):
    """One basis, found at model.C; machines start from that of the next smaller C."""
    problem, C = run.problem, C_of(run.model)
    (found,) = find_bases(run, [run.model.n_components], run.limits)
    Z, alpha = _coordinates(problem, found.basis, run.model), found.alpha
    for i in np.argsort(values).tolist():
        scaled = problem.with_mass(float(values[i]) / C_of(run.model))
        if alpha is not None:  # a feasible dual point of the new masses
            alpha = alpha * (float(values[i]) / C)
        C = float(values[i])
        solved = _solved(scaled, Z, run.model, run.within(), alpha)
        alpha = solved.alpha if problem.lines is None else None
        yield i, _machine(run, scaled, found, Z, solved)


def _along_sizes(run: Run, values):
    order = np.argsort(values, kind="stable").tolist()
    sizes = [int(values[i]) for i in order]
    searching = replace(run.limits, checkpoint=None)  # it is made again, the same way
    for i, found in zip(order, find_bases(run, sizes, searching), strict=False):
        start = found.solved if run.problem.lines is None else None  # knows no lines
        Z, solved = None, start
        if start is None or not run.clock.over():
            try:
                Z, solved = _trained(run, found)
            except KeyboardInterrupt:  # before it has weights: the stage is the machine
                if start is None:
                    raise
                run.clock.interrupted, Z, solved = True, None, start
        yield i, _machine(run, run.problem, found, Z, solved)


def _trained(run: Run, found: Stage) -> tuple:
    """(coordinates, machine on them), from that of the search for the basis."""
    problem, Z, start = run.problem, found.coordinates, found.solved
    if Z is None or run.limits.tol < 1e-4:
        Z = _coordinates(problem, found.basis, run.model)
    solved = _solved(problem, Z, run.model, run.within(), found.alpha)
    if start is not None and not solved.solution.converged:
        solved = _better(problem, start, solved)
    return Z, solved


def _coordinates(problem, basis: Basis, model) -> np.ndarray:
    if problem.given:
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


def _machine(run: Run, problem, found: Stage, Z, solved: Solved) -> Trained:
    """What is known of the machine; without Z, time was up before its own training."""
    basis, solution = found.basis, solved.solution
    run.clock.saw(solution.status)  # of Ctrl-C, the proof must know
    certificate = prove(problem, basis, Z, solved, run.model, run.clock)
    where = "within the span of the basis"
    if found.wanted is not None:
        where = f"{where}, {len(basis)} points where {found.wanted} were asked for"
    by_class = solved.weights
    if problem.lines is not None:
        by_class = by_class @ problem.lines.T
    if Z is None:
        solution = replace(solution, converged=False)
    expansion = basis.points, basis.coefficients(by_class)
    return _ended(run, expansion, certificate, solution, where)


def _ended(run: Run, expansion, certificate, solution, where: str) -> Trained:
    """The machine of these (points, coefficients), and what to warn of."""
    points, coefficients = expansion
    clock, limits, warning = run.clock, run.limits, ""
    status, converged = clock.saw(solution.status), solution.converged
    converged = converged and not clock.interrupted
    if not converged:
        gap = solution.certificate.relative_gap
        warning = (
            f"Training {status} at a relative gap of {gap:.3g} {where} "
            f"(tol={limits.tol:g}). Allow more max_iter or max_time, or a larger tol."
        )
    return Trained(
        coefficients,
        certificate,
        solution.history,
        converged,
        status,
        points=points,
        method=run.model.method,
        seconds=clock.seconds(),
        warning=warning,
    )


# all training points ------------------------------------------------------------------


def _exactly(run: Run, along_C: bool, values):
    """One machine for all sizes; along C, each starts from that of the next smaller."""
    problem, model, tol = run.problem, run.model, run.limits.tol
    lengths = (
        problem.X.diagonal() if problem.given else problem.kernel.diagonal(problem.X)
    )
    if np.max(lengths) <= 0:
        raise ValueError(NOTHING)
    C = C_of(model)
    largest = float(np.max(problem.mass)) * (max(values) / C if along_C else 1)
    rounding = largest * np.sqrt(problem.n) * float(np.max(lengths)) * 2.0**-24
    large = 8.0 * problem.n**2 > FULL_TABLE
    single = large and tol >= SINGLE_PRECISION_TOL and rounding <= SLACK * tol
    table = Table(problem, model.device, model.memory, run.team)
    solver = Exact(AllSamples(problem, table, tol, run.rng, single))
    for i in np.argsort(values, kind="stable").tolist() if along_C else [0]:
        if along_C:
            solver.scale(float(values[i]) / C)
            C = float(values[i])
        limits = run.within()
        limits = replace(limits, max_iter=limits.max_iter or MAX_ROUNDS)
        solution = train_exact(solver, limits)
        with undisturbed(raising=False) as late:  # there are weights: they are kept
            trained = _of_all(run, solution)
        if late.came:
            run.clock.interrupted, trained.status = True, INTERRUPTED
        yield i, trained
    if not along_C:
        yield from ((i, replace(trained)) for i in range(1, len(values)))


def _of_all(run: Run, solution) -> Trained:
    """Terms of the support vectors, copies of a point together."""
    problem = run.problem
    rows, a = terms(solution.w, problem)
    if not len(rows):
        rows, a = np.zeros(1, np.int64), np.zeros((1, len(problem.cost)))
    if problem.lines is not None:
        a = a @ (problem.lines @ problem.lines.T)
    points = problem.samples(rows)
    if getattr(points, "ndim", 0) == 2 and isinstance(points, np.ndarray):
        points, places = np.unique(points, axis=0, return_inverse=True)
        total = np.zeros((len(points), a.shape[1]))
        np.add.at(total, places.ravel(), a)
        a = total
    proof, where = solution.certificate, "within the span of all training points"
    proof = KernelCertificate(**vars(proof), within=proof.dual)
    return _ended(run, (points, a), proof, solution, where)


# sampling ---------------------------------------------------------------------------------


def _sampled(run: Run, along_C: bool, values):
    """Algorithm 6.2: cuts made of samples."""
    problem, model = run.problem, run.model
    if problem.given or problem.lines is not None:
        raise ValueError(
            'method="sampling" needs inputs and plain classes: choose another method for '
            "a precomputed table or a taxonomy."
        )
    check_memory(model, problem.n, 2 * len(problem.cost))
    for i, value in enumerate(values):
        if along_C:
            scaled = problem.with_mass(float(value) / C_of(model))
            yield i, _cuts(run, scaled, model.n_components)
        else:
            yield i, _cuts(run, problem, int(value))


def _cuts(run: Run, problem, size: int) -> Trained:
    limits = run.within()
    limits = replace(limits, max_iter=limits.max_iter or SAMPLED_CUTS)
    solution = sample_cuts(problem, min(size, problem.n), run.rng, limits)
    run.clock.saw(solution.status)
    rows, a = terms(solution.w, problem)
    primal = solution.certificate.primal
    proof = prove_sampled(problem, rows, a, primal, run.model, run.clock)
    expansion, where = (take(problem.X, rows), a), "to the model of its cuts"
    return _ended(run, expansion, proof, solution, where)


def terms(w: np.ndarray, problem) -> tuple[np.ndarray, np.ndarray]:
    """(samples, coefficients) of those that have any."""
    a = w.reshape(problem.n, -1)
    rows = np.flatnonzero(a.any(axis=1))
    return rows, a[rows]
