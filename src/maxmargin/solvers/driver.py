"""The one loop around every solver: limits, history, certificate, progress, Ctrl-C.

What it asks of a solver stands in ``solver.py``. The driver alone decides when to stop:
when (primal - dual) / primal <= tol, where the primal is exact at the weights that are
returned and the dual is exact at the best dual point reached. The two need not be the
same iterate.
"""

from __future__ import annotations

import math
import time
from typing import Any

from maxmargin.core.objective import Objective
from maxmargin.core.state import Stateful, require, restored
from maxmargin.core.vectors import sum_of_squares
from maxmargin.engine.interrupts import INTERRUPTED, STOPPED
from maxmargin.engine.lost import EngineLost
from maxmargin.solvers.best import Best
from maxmargin.solvers.checkpoints.notebook import Notebook, identity
from maxmargin.solvers.checkpoints.proofs import check_dual, check_history
from maxmargin.solvers.result import Limits, Solution
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.watching.held_out import Watch
from maxmargin.solvers.watching.progress import Progress


class NotSeparable(ValueError):
    """No weights satisfy a hard margin."""


DEFAULT_MAX_ITER = 1000
SMALL = 1_000  # slots: a certificate after every pass, which plots well, costs nothing
# (unless it is one of many problems with hidden parts, where a slot may be long to fill)
LOST = "lost its cluster"
GROWTH_PASSES = 400  # before growth of the dual is judged


def drive(objective: Objective, solver: Solver, limits: Limits) -> Solution:
    """Run ``solver`` until its certificate is good enough or a limit is reached."""
    with objective.team.at_work():
        return _drive(objective, solver, limits)


def _drive(objective: Objective, solver: Solver, limits: Limits) -> Solution:
    objective.prepare()
    (solver.deputy or solver).prepare()
    watched = not solver.silent and (limits.verbose or limits.callbacks)
    progress = Progress(limits) if watched else None
    held_out = Watch(limits.held_out) if limits.held_out is not None else None
    small = objective.slots <= SMALL and isinstance(objective.batch, tuple)
    small = small and not limits.part
    best, dev = Best(objective), None
    history: list[dict] = []
    keeper = Keeper(limits, objective, solver, best, history)
    began = time.perf_counter() - keeper.seconds
    if limits.max_time is not None:
        objective.deadline = began + limits.max_time
    iteration = len(history)
    status = keeper.ended(limits.tol)
    if history and not status:
        status = solver.stuck or _limit_reached(objective, solver, limits, iteration)
    stepping = False
    try:
        while not status:
            stepping = True
            solver.step()
            iteration += 1
            stepping = False
            status = _limit_reached(objective, solver, limits, iteration)
            wanted = small or (held_out is not None and held_out.due(iteration))
            status = solver.stuck or status
            status = best.look(solver, limits.tol, iteration, status, wanted)
            row = best.row(solver, iteration, time.perf_counter() - began)
            history.append(row)
            if held_out is not None:
                status = held_out.look(best, solver, row, status)
            if progress is not None and progress(row, best.estimate, best.ratio):
                status = status or STOPPED
            if objective.hard:
                _check_separable(best, history)
            keeper.look(status)
        best.end(solver, limits.tol, iteration, status)
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
        history.append(best.row(solver, len(history) + 1, seconds))
    if held_out is not None:
        status, dev = held_out.keep(best, status, limits.tol)
    solution = best.solution(solver, history, status)
    solution.dev = dev
    if progress is not None:
        solution.status = progress.end(status)
    return solution


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
        self.history = history
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

    def look(self, status: str) -> None:
        """After a pass."""
        if self.notebook is not None:
            self.notebook.note(self._state, status, self.history)

    def interrupted(self) -> None:
        if self.notebook is not None:
            self.notebook.interrupted()

    def _state(self) -> dict[str, Any]:
        state = {name: part.state() for name, part in self.parts.items()}
        last = self.parts["best"].last_certified
        return state | {"history": self.history, "last_certified": last}

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
        best.last_certified = restored(0, state["last_certified"], "last_certified")
        require(best.last_certified <= len(history), "last_certified", "out of range")

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
