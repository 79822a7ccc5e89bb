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
from typing import Any

from maxmargin.core.objective import Objective
from maxmargin.core.state import Stateful, require, restored
from maxmargin.core.vectors import sum_of_squares
from maxmargin.engine.interrupts import INTERRUPTED, STOPPED
from maxmargin.engine.lost import EngineLost
from maxmargin.solvers.best import Best
from maxmargin.solvers.held_out import Watch
from maxmargin.solvers.notebook import Notebook, identity
from maxmargin.solvers.progress import Progress
from maxmargin.solvers.proofs import check_dual, check_history
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
    best, progress, watch = Best(objective), Progress(seen), Watch(limits.held_out)
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
            promising = best.guess(solver) <= PROMISING * limits.tol
            status = _limit_reached(objective, solver, limits, iteration)
            status = solver.stuck or status
            loose = getattr(objective.batch, "recalls", False) or best.search_gap() > 0
            first, later = LOOSE if loose else solver.looks
            due = small or iteration >= max(first, later * last_certified)
            due = due or watch.due(iteration)
            # A certificate costs a full pass: not more than one every tenth.
            spaced = iteration >= 1.1 * last_certified
            if status or due or solver.stationary or (promising and spaced):
                last_certified = iteration
                best.certify(solver, limits.tol)
                if best.exhausted(limits.tol) and not best.explore():
                    status = SEARCH_ENDED
            if solver.done(best.relative_gap(), limits.tol):
                status = "converged"
            row = _row(objective, solver, best, iteration, time.perf_counter() - began)
            history.append(row)
            status = watch.look(best, solver, row, status)
            if progress(row, solver.estimate, best.ratio):
                status = status or STOPPED
            if objective.hard:
                _check_separable(best, history)
            keeper.look(last_certified, status)
        if last_certified < iteration:  # a callback ended it: the last passes count too
            best.certify(solver, limits.tol)
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
    if stepping or not history:
        seconds = time.perf_counter() - began
        history.append(_row(objective, solver, best, len(history) + 1, seconds))
    status, dev = watch.keep(best, status, limits.tol)
    certificate = best.claim(solver, history)
    converged, status = status == "converged", progress.end(status)
    return Solution(
        w=best.w,
        certificate=certificate,
        history=history,
        converged=converged,
        status=status,
        search_gap=best.search_gap(),
        dev=dev,
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


# the checkpoint -----------------------------------------------------------------------

STEPS = 3  # in which what was stationary must be so again


class Keeper:
    """Keeps a run of the driver in a checkpoint; without a place for it, does nothing.

    It holds the state (``core/state.py``) of solver, objective, best weights and history,
    so that the passes after it are those of a fit that never stopped, to the last bit. It
    says of which fit it is: what the data, masses C_i, formulation, solver, precision and
    random numbers were at the start. Limits (tol, max_iter, max_time), threads and what is
    shown may be others when the fit goes on. What the file claims is proved anew before it
    is believed (``proofs.py``).
    """

    def __init__(self, limits, objective, solver, best, history: list[dict]):
        self.history, self.last_certified = history, 0
        self.most = math.inf  # that the dual of a checkpoint may be
        self.parts = {"objective": objective, "solver": solver, "best": best}
        if isinstance(objective.batch, Stateful):
            self.parts["batch"] = objective.batch
        self.notebook = None
        if limits.checkpoint is not None:
            best.spares = False
            which = identity(objective, type(solver).__name__)
            self.notebook = Notebook(limits.checkpoint, which, limits.tol)
            self.notebook.read(self._restore, limits.verbose, self._prove)

    @property
    def seconds(self) -> float:
        """Of solver time, before this run."""
        return self.history[-1]["seconds"] if self.history else 0.0

    def ended(self, tol: float) -> str:
        """How a fit ended that has nothing left to do; else empty."""
        if not self.history:
            return ""
        best, solver = self.parts["best"], self.parts["solver"]
        if solver.done(best.relative_gap(), tol):
            return "converged"
        status = self.notebook.ended(tol)
        return "" if status == "converged" else status  # its gap says whether it is

    def look(self, last_certified: int, status: str) -> None:
        """After a pass."""
        if self.notebook is not None:
            self.last_certified = last_certified
            self.notebook.note(self._state, status, self.history)

    def interrupted(self) -> None:
        if self.notebook is not None:
            self.notebook.interrupted()

    def _state(self) -> dict[str, Any]:
        state = {name: part.state() for name, part in self.parts.items()}
        return state | {"history": self.history, "last_certified": self.last_certified}

    def _restore(self, state: dict[str, Any]) -> None:
        for name in ("batch", "objective", "solver", "best"):  # planes name its outputs
            if name in self.parts:
                self.parts[name].restore(state[name])
        history = state["history"]
        require(type(history) is list, "history", "no list of rows")
        best = self.parts["best"]
        check_history(history, best.bounds(self.parts["solver"].primal))
        for row in history:
            row["dual"] = min(row["dual"], self.most)
            row["gap"] = max(row["primal"] - row["dual"], 0.0)
        best.dual, best.proved = min(best.dual, self.most), min(best.proved, self.most)
        self.history[:] = history
        self.last_certified = restored(0, state["last_certified"], "last_certified")
        require(self.last_certified <= len(history), "last_certified", "out of range")

    def _prove(self) -> None:
        """Compute anew what was proved; spoils the state."""
        solver, best = self.parts["solver"], self.parts["best"]
        claimed = solver.dual
        proved = solver.proved()
        scale = 0.5 * sum_of_squares(solver.w) + abs(proved)
        check_dual("the dual", claimed, proved, scale, solver.objective.dtype)
        if solver.falls:
            self.most = max(proved, 0.0)
            best.dual = min(best.dual, self.most)
        best.check_proofs(proved)
        if solver.stationary:  # it must be so again, not only say so
            for _ in range(STEPS):
                solver.stationary = False
                solver.step()
                if solver.stationary:
                    return
            require(False, "stationary", "not true")
