"""Training where true outputs have hidden parts: starts, restarts, the best one kept.

Parameters of an estimator that hides something (:data:`LATENT`):

init        where the first completions come from: "given" (as they were encoded; for
            labels that are not known, a model of what is known for sure), "random",
            weights (an array or a fitted model of the same features), or a list of hidden
            parts, one for each sample (problems in Python)
n_restarts  starts; those after the first are random
max_outer   outer steps of a start
self_paced  whether easy samples come first
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from maxmargin.core.completion import complete_all, complete_randomly
from maxmargin.core.encoded import C_of, masses
from maxmargin.core.partial import alternate, is_partial, ordinary, sure_part
from maxmargin.core.problems.cached_outputs import written
from maxmargin.core.warn import warn
from maxmargin.engine.interrupts import INTERRUPTED, STOPPED, whole
from maxmargin.fitting.parameters import Hidden
from maxmargin.solvers import registry
from maxmargin.solvers.driver import drive
from maxmargin.solvers.hidden.concave_convex import descend
from maxmargin.solvers.hidden.marginal_likelihood import MarginalLikelihood
from maxmargin.solvers.registry import HIDDEN_IN_SHARDS
from maxmargin.solvers.result import still_zero
from maxmargin.solvers.watching.held_out import STOPPED_EARLY

ENDED = (INTERRUPTED, STOPPED)
ALTERNATING = (
    "objective={!r} with labels that are not known is trained by several fits in turns, "
    "which held-out data cannot stop: leave dev out, or choose objective='hinge' or 'log'."
)
LATENT = {name: each.default for name, each in Hidden._own.items()}


def check_latent_parameters(model, hides: bool = True) -> None:
    """Before any work; ``hides``: whether there will be hidden parts for certain."""
    if hides and getattr(model, "engine", None) is not None:
        raise ValueError(HIDDEN_IN_SHARDS)
    if np.isinf(C_of(model)):
        raise ValueError(
            "C=inf, a hard margin, cannot be had with hidden parts: choose a finite C."
        )


def check_hidden(batch, place) -> None:
    """Hidden parts must be plain values where a checkpoint has to hold them."""
    if place is None or isinstance(batch, tuple):
        return
    for i, (_, h) in enumerate(batch.Y):
        if written(h) is None:
            raise ValueError(
                f"the hidden part of sample {i} is of type {type(h).__name__}, which a "
                "checkpoint cannot hold: use numbers, strings, arrays, lists, tuples or "
                "dicts of these, or leave checkpoint out."
            )


def train(model, encoded, make, settings) -> str:
    """Fit the model by the concave-convex procedure; returns how training ended."""
    name, limits, seed = settings.solver, settings.limits, settings.seed
    check_latent_parameters(model)
    check_hidden(encoded.batch, limits.checkpoint)
    place, turns = limits.checkpoint, itertools.count(1)

    def part(name, **also):
        kept = None if place is None else place.part(name)
        return replace(limits, checkpoint=kept, **also)

    def solve(encoded):
        own = part(f"turn-{next(turns)}", part={}, held_out=None)
        return _solve(model, make, name, own, encoded)

    first = None
    if is_partial(encoded.batch):
        if model.objective != "hinge":
            if limits.held_out is not None:
                raise ValueError(ALTERNATING.format(model.objective))
            return _finish_turns(model, encoded, solve)
        init = getattr(model, "init", LATENT["init"])
        if isinstance(init, str) and init == "given":
            first = solve(sure_part(encoded))[1]
    if first is not None:
        if first.status == INTERRUPTED:
            return _keep_first(model, encoded, first)
        if limits.max_time is not None and first.history:
            left = limits.max_time - first.history[-1]["seconds"]
            limits = replace(limits, max_time=max(left, 1e-3))
    n_restarts = getattr(model, "n_restarts", LATENT["n_restarts"])
    parameters = {
        "max_outer": getattr(model, "max_outer", LATENT["max_outer"]),
        "self_paced": bool(getattr(model, "self_paced", False)),
        "moves": _of_structure(encoded, "hidden_moves"),
    }

    def run(k, threads, beat=math.inf):
        batch = encoded.batch
        if k and not isinstance(batch, tuple):
            batch = batch.again()
        if first is not None and k == 0:
            truths = complete_all(batch, first.w, threads)
        else:
            rng = np.random.default_rng([seed, k])
            truths = _start(model, encoded, batch, k, rng)
        own = part(f"start-{k + 1}")
        own = {"limits": own, "n_jobs": threads, "beat": beat}
        return descend(make, batch, truths, name, **own, **parameters)

    threads = model._threads()
    runs, interrupted = [], False
    try:
        # later starts are compared with the first alone: so none depends on who ran when
        runs.append(run(0, threads))
        beat = runs[0].objective
        interrupted = runs[0].solution.status == INTERRUPTED
        if threads == 1 or not isinstance(encoded.batch, tuple):
            while len(runs) < n_restarts and not interrupted:
                runs.append(run(len(runs), threads, beat))
                interrupted = runs[-1].solution.status == INTERRUPTED
        elif not interrupted:
            jobs = (delayed(run)(k, 1, beat) for k in range(1, n_restarts))
            runs += Parallel(n_jobs=threads, prefer="threads")(jobs)
    except KeyboardInterrupt:
        if not runs and first is None:
            raise
        interrupted = True
    if not runs:
        return _keep_first(model, encoded, first)
    return _keep_best(model, encoded, runs, interrupted, limits.tol)


def _keep_first(model, encoded, first) -> str:
    """Ctrl-C came early: a model of what is known for sure."""
    with whole(model):
        warn(
            "Training interrupted before labels that are not known took part: the "
            "weights are those of what is known for sure.",
            ConvergenceWarning,
        )
        model._take(encoded, replace(first, status=INTERRUPTED, converged=False))
    return INTERRUPTED


def _keep_best(model, encoded, runs: list, interrupted: bool, tol: float) -> str:
    best = min(runs, key=_by_score)
    with whole(model) as late:
        if not best.solution.converged and best.solution.status != STOPPED_EARLY:
            _warn(best, tol)
        model._take(encoded, best.solution)
        model.rounds_ = best.rounds
        model.n_outer_ = len(best.rounds)
        model.restarts_ = [found.objective for found in runs]
        completed = getattr(model, "_completed", None)
        if completed is not None:
            completed(encoded, best.truths)
    return INTERRUPTED if interrupted or late.came else best.solution.status


def _by_score(run) -> tuple[float, float]:
    """What the best of several starts has least of: what held-out data say comes first."""
    dev = run.solution.dev
    return (0.0 if dev is None else -dev.goodness), run.objective


def _solve(model, make, name: str, limits, encoded):
    """(weights, solution, objective) of a problem that is not completed any further."""
    mass = masses(C_of(model, encoded), encoded.weights)
    objective = make(ordinary(encoded.batch), mass=mass)
    if is_partial(encoded.batch):
        o, name = objective, "lbfgs"
        settings = o.n_weights, o.form, mass, o.dtype, o.team.size
        objective = MarginalLikelihood(encoded.batch, *settings)
    solver = registry.make(name, objective)
    solution = drive(objective, solver, limits)
    solver.finish(solution)
    return solution.w, solution, objective


def _finish_turns(model, encoded, solve) -> str:
    """Fits and completions in turns, for losses of which nothing more is known."""
    found: list = []  # by the last solve, also if Ctrl-C comes after it

    def kept(part):
        found[:] = solve(part)
        return found

    try:
        alternate(encoded, kept, model._threads(), lambda f: f[1].status in ENDED)
    except KeyboardInterrupt:
        if not found:
            raise
        found[1] = replace(found[1], status=INTERRUPTED, converged=False)
    _, solution, objective = found
    with whole(model) as late:
        model._take(encoded, solution, objective)
    return INTERRUPTED if late.came else solution.status


def _of_structure(encoded, name: str):
    """A method that only some structures have (``core/structure.py``), or None."""
    return getattr(encoded.attributes.get("structure_"), name, None)


def _start(model, encoded, batch, k: int, rng):
    """The truths that start number k begins with."""
    init = getattr(model, "init", LATENT["init"])
    own = _of_structure(encoded, "hidden_start")
    truths = own(batch, k) if own is not None else None
    if truths is not None:
        return truths
    if k > 0 or (isinstance(init, str) and init == "random"):
        return complete_randomly(batch, encoded.n_weights, rng)
    if isinstance(init, str) and init in getattr(model, "_given", ("given",)):
        return batch.y.copy() if isinstance(batch, tuple) else list(batch.Y)
    w = getattr(init, "coef_", init)
    if w is not init and hasattr(init, "_weights"):
        w = init._weights()  # with the intercept
    if isinstance(w, np.ndarray) and w.dtype.kind in "fiu":
        if w.shape != (encoded.n_weights,) or not np.isfinite(w).all():
            raise ValueError(
                f"init has weights of shape {w.shape}, but {encoded.n_weights} finite "
                "ones are needed: give those of a model with the same features."
            )
        return complete_all(batch, w.astype(np.float64))
    if not isinstance(batch, tuple) and isinstance(init, (list, tuple)):
        return batch.with_hidden(init)
    raise ValueError(
        f"init={init!r} is not possible: it must be 'given', 'random', an array of "
        "weights, a fitted model, or (for a LatentProblem) a list of hidden parts."
    )


def _warn(run, tol: float) -> None:
    solution = run.solution
    point = solution.certificate
    warn(
        f"Training {solution.status.rstrip(',')}, before a stationary point: the last step "
        f"lowered the objective by {point.decrease:.3g} to {point.objective:.6g}, and its "
        f"convex problem could have gained {point.bound:.3g} in all (tol={tol:g}). The "
        "weights are the best found. Allow more max_outer, max_iter or max_time, or a "
        "larger tol." + still_zero(solution.w),
        ConvergenceWarning,
    )
