"""The checkpoint of a run of the driver.

It holds the state (``core/state.py``) of solver, objective, best weights and history, so
that the passes after it are those of a fit that never stopped, to the last bit. It says of
which fit it is: what the data, masses C_i, formulation, solver, precision and random
numbers were at the start. Limits (tol, max_iter, max_time), threads and what is shown may
be others when the fit goes on. What the file claims is proved anew before it is believed
(``proofs.py``).
"""

from __future__ import annotations

import math
from typing import Any

from maxmargin.core.state import Stateful, require, restored
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers.notebook import Notebook, identity
from maxmargin.solvers.proofs import check_dual, check_history

STEPS = 3  # in which what was stationary must be so again


class Keeper:
    """Keeps a run of the driver; without a place for it, does nothing."""

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
