"""Which bases a kernel machine has, from the smallest that is wanted to the largest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse import issparse

from maxmargin.engine.interrupts import INTERRUPTED
from maxmargin.kernel_svm.pursuit import Stage, pursue, stages
from maxmargin.kernel_svm.training_points import grow_points
from maxmargin.kernels import basis
from maxmargin.kernels.basis import Basis
from maxmargin.kernels.basis_points import choose
from maxmargin.kernels.tables import toarray
from maxmargin.solvers.result import Limits
from maxmargin.solvers.watching.progress import Lines

DEFAULT_SIZE = 500  # of n_components: all samples, where there are fewer
EXACT_SAMPLES = 20_000  # up to which the exact machine takes about as long as a basis
WIDE = 1000  # columns of a sparse table that are not to be made dense
LOOSE = 0.03  # tolerance of stages on the way to the basis that was asked for


def find_bases(run, sizes: list[int], limits: Limits) -> Iterator[Stage]:
    """A basis for every size, in the order of the sizes, which do not fall.

    When time is up, the last one stands for all that are left; after Ctrl-C, for the next
    one only.
    """
    problem, n, method = run.problem, run.problem.n, run.model.method
    if sizes == [DEFAULT_SIZE]:
        sizes = [min(DEFAULT_SIZE, int((problem.mass > 0).sum()))]
    elif max(sizes) > n:
        raise ValueError(
            f"n_components={max(sizes)} is more than the {n} training samples: choose at "
            'most that, or method="exact".'
        )
    check_memory(run.model, n, max(sizes))
    if problem.given:
        if method != "nystroem":
            raise ValueError(
                f'method={method!r} needs the inputs, but kernel="precomputed" has only '
                'their kernel values: choose "exact" or "nystroem".'
            )
        yield from _precomputed(problem, sizes, run.rng)
    elif method in ("subspace-pursuit", "training-points"):
        yield from _pursued(run, sizes, limits)
    else:
        yield from _chosen(problem, method, sizes, run.rng)


def _chosen(problem, method, sizes, rng):
    basis, found = None, None
    seed = int(rng.integers(2**31))  # one, so that larger bases begin with smaller ones
    for size in sizes:
        if size != found:
            basis = choose(method, problem.kernel, problem.X, size, seed, problem.mass)
            found = size
        yield Stage(basis)


def _pursued(run, sizes, limits):
    planned, wanted, clock = stages(max(sizes), sizes), list(sizes), run.clock
    found, best = _stages(run, planned, limits), None
    show = Lines(limits.verbose, "basis")
    for size, stage in zip(planned, clock.watched(found), strict=False):
        row = {"basis": size, "seconds": clock.seconds()}
        show(row | vars(stage.solved.solution.certificate))
        # of a stage that was cut short, nobody knows
        if best is None or not clock.over() or _primal(stage) <= _primal(best):
            best = stage
        while wanted and wanted[0] == size:
            size = wanted.pop(0)
            yield replace(best, wanted=None if best is stage else size)
    for size in wanted[:1] if clock.interrupted else wanted:
        yield replace(best, wanted=size, coordinates=None)


def _primal(stage) -> float:
    return stage.solved.solution.certificate.primal


def _stages(run, planned, limits):
    """See ``pursuit.py``; a stage that Ctrl-C ended is the last."""
    problem, model = run.problem, run.model
    X, kernel = problem.X, problem.kernel
    smooth = kernel.differentiable and (issparse(X) or hasattr(X, "shape"))
    verbose = limits.verbose if limits.verbose > 1 else 0
    rough = {"tol": max(limits.tol, LOOSE), "verbose": verbose}
    loose = replace(limits, callbacks=(), part={"stage": "basis"}, **rough)
    arguments = problem.y, problem.cost, problem.mass, planned, run.rng, loose
    if model.method == "training-points" or not smooth:
        found = grow_points(kernel, X, *arguments, run.clock)
    else:
        more = model.device, run.clock, run.team
        found = pursue(kernel, toarray(X), *arguments, *more)
    for stage in found:
        run.clock.interrupted |= stage.solved.solution.status == INTERRUPTED
        yield stage


def _precomputed(problem, sizes, rng):
    """Bases of columns of the table that was given, at random."""
    K, order = problem.X, rng.permutation(problem.n)
    for size in sizes:
        chosen = np.sort(order[:size])
        gram = toarray(K[chosen][:, chosen])
        yield Stage(Basis(problem.kernel, chosen, gram))


def check_memory(model, n: int, k: int) -> None:
    """Say how much the tables take, before they are made."""
    remedy = "With n_components up to {points} it fits; or allow more."
    basis.check_memory(n, k, model.memory, "samples", remedy, name="memory")


def choose_method(problem, size: int | None) -> str:
    """All training points where they are few and no size was asked for, else a basis."""
    if size is None and problem.n <= EXACT_SAMPLES:
        return "exact"
    if problem.given:
        return "nystroem"
    X = problem.X
    wide = issparse(X) and X.shape[1] > WIDE
    smooth = problem.kernel.differentiable and hasattr(X, "shape")
    return "training-points" if wide or not smooth else "subspace-pursuit"
