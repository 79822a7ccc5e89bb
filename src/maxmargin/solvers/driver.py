"""The one loop around every solver: limits, history, certificate, progress, Ctrl-C.

What it asks of a solver stands in ``solver.py``. The driver alone decides when to stop:
when (primal - dual) / primal <= tol, where the primal is exact at the weights that are
returned and the dual is exact at the best dual point reached. The two need not be the
same iterate.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from maxmargin.core.objective import Objective
from maxmargin.engine.interrupts import INTERRUPTED, STOPPED
from maxmargin.engine.lost import EngineLost
from maxmargin.solvers.best import Best
from maxmargin.solvers.keeper import Keeper
from maxmargin.solvers.progress import Progress
from maxmargin.solvers.result import Limits, Solution
from maxmargin.solvers.solver import Solver


class NotSeparable(ValueError):
    """No weights satisfy a hard margin."""


DEFAULT_MAX_ITER = 1000
# Solver.looks where the search leaves a gap open, to see when it is all that is left:
LOOSE = 4, 1.2
SMALL = 1_000  # slots: a certificate after every pass, which plots well, costs nothing
# (unless it is one of many problems with hidden parts, where a slot may be long to fill)
SEARCH_ENDED = "ended, as the search for violated outputs can prove no more,"
LOST = "lost its cluster"
PROMISING = 1.2  # a certificate is worth its price when the guess is this near tol
GROWTH_PASSES = 400  # before growth of the dual is judged


def drive(objective: Objective, solver: Solver, limits: Limits) -> Solution:
    """Run ``solver`` until its certificate is good enough or a limit is reached."""
    with objective.team.at_work():
        return _drive(objective, solver, limits)


def _drive(objective: Objective, solver: Solver, limits: Limits) -> Solution:
    objective.prepare()
    solver.prepare()
    seen = replace(limits, verbose=0, callbacks=()) if solver.silent else limits
    best, progress = Best(objective), Progress(seen)
    history: list[dict] = []
    keeper = Keeper(limits, objective, solver, best, history)
    began = time.perf_counter() - keeper.seconds
    if limits.max_time is not None:
        objective.deadline = began + limits.max_time
    last_certified, iteration = keeper.last_certified, len(history)
    status = keeper.ended(limits.tol)
    if history and not status:
        status = solver.stuck or _limit_reached(objective, solver, limits, iteration)
    small = objective.slots <= SMALL and isinstance(objective.batch, tuple)
    small = small and not limits.part
    stepping = False
    try:
        while not status:
            stepping = True
            solver.step()
            iteration += 1
            stepping = False
            best.see_dual(solver.dual)
            status = _limit_reached(objective, solver, limits, iteration)
            status = solver.stuck or status
            promising = best.guess(solver.estimate) <= PROMISING * limits.tol
            loose = getattr(objective.batch, "recalls", False) or best.search_gap() > 0
            first, later = LOOSE if loose else solver.looks
            due = small or iteration >= max(first, later * last_certified)
            # A certificate costs a full pass: not more than one every tenth.
            spaced = iteration >= 1.1 * last_certified
            if status or due or solver.stationary or (promising and spaced):
                last_certified = iteration
                best.certify(solver, limits.tol)
                best.see_dual(solver.dual)
                if best.exhausted(limits.tol) and not best.explore():
                    status = SEARCH_ENDED
            if solver.done(best.relative_gap(), limits.tol):
                status = "converged"
            row = _row(objective, solver, best, iteration, time.perf_counter() - began)
            history.append(row)
            if progress(row, solver.estimate, best.ratio):
                status = status or STOPPED
            if objective.hard:
                _check_separable(best, history)
            keeper.look(last_certified, status)
        if last_certified < iteration:  # a callback ended it: the last passes count too
            best.certify(solver, limits.tol)
            best.see_dual(solver.dual)
        if status != "converged":
            best.settle()
        best.ask_again()
    except (KeyboardInterrupt, EngineLost) as error:
        lost = isinstance(error, EngineLost)
        status = LOST if lost else INTERRUPTED
        keeper.interrupted()
        if best.w is None:
            if lost:
                objective.come_home()  # or EngineLost again
            best.certify(solver, limits.tol)
            best.see_dual(solver.dual)  # the steps of an unfinished pass count too
    best.check(best.primal)
    best.claim(solver, history)
    if stepping or not history:
        seconds = time.perf_counter() - began
        history.append(_row(objective, solver, best, len(history) + 1, seconds))
    history[-1].update(best.bounds())
    converged, status = status == "converged", progress.end(status)
    return Solution(
        w=best.w,
        certificate=best.certificate(),
        history=history,
        converged=converged,
        status=status,
        search_gap=best.search_gap(),
    )


def _limit_reached(objective, solver: Solver, limits: Limits, iteration: int) -> str:
    """Which limit ends the fit after so many passes, as its status; none if empty."""
    max_iter = DEFAULT_MAX_ITER if limits.max_iter is None else limits.max_iter
    if iteration >= max_iter:
        return f"stopped after max_iter={max_iter} {solver.unit}"
    if time.perf_counter() >= objective.deadline:
        return f"stopped after max_time={limits.max_time:g} seconds"
    return ""


def _check_separable(best: Best, history: list[dict]) -> None:
    """With a hard margin, give up when it seems that no weights separate the data.

    If weights exist the dual is bounded, and its growth flattens; if not, it grows for
    ever, about in proportion to the passes. That is a sign, not a proof.
    """
    if best.primal < math.inf:
        return
    passes = len(history)
    dual, half = history[-1]["dual"], history[passes // 2]["dual"]
    if passes >= GROWTH_PASSES and dual > 1.8 * half:
        raise NotSeparable(
            f"There are no separating weights after {passes} passes, and the dual keeps "
            "growing: most likely the data cannot be separated with a hard margin. "
            + REMEDY
        )


REMEDY = (
    "Choose a finite C, or look for examples with equal inputs and different outputs."
)


def not_separable(reason: str) -> str:
    """The sentence for a proof that no weights separate the data."""
    return f"The data cannot be separated with a hard margin: {reason}. {REMEDY}"


def _row(objective, solver, best, iteration, seconds) -> dict:
    """One line of history: the certified state after this pass.

    ``primal`` is the exact primal of the best weights certified so far and ``dual`` the
    best dual so far, so ``gap`` is a proved bound in every row. ``primal_estimate`` is the
    solver's guess of the primal at its present weights: it costs nothing and proves
    nothing, but shows the way between certificates.
    """
    # a user's Python oracle is timed call by call; compiled passes are timed whole
    timed, guess = getattr(objective.batch, "seconds", None), solver.estimate
    update = solver.update_seconds if timed is None else seconds - timed
    return {
        "iteration": iteration,
        "seconds": seconds,
        **best.bounds(solver.primal),
        "primal_estimate": float(guess) if math.isfinite(guess) else None,
        "oracle_calls": objective.oracle_calls,
        "oracle_seconds": seconds - update,
        "update_seconds": update,
        **solver.columns(),
    }
