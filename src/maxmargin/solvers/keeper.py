"""The checkpoint of a run of the driver.

It holds the state (``core/state.py``) of solver, objective, best weights and history, so
that the passes after it are those of a fit that never stopped, to the last bit. It says of
which fit it is: what the data, masses C_i, formulation, solver, precision and random
numbers were at the start. Limits (tol, max_iter, max_time), threads and what is shown may
be others when the fit goes on.
"""

from __future__ import annotations

from typing import Any

from maxmargin.core.state import Stateful
from maxmargin.solvers.notebook import Notebook, identity


class Keeper:
    """Keeps a run of the driver; without a place for it, does nothing."""

    def __init__(self, limits, objective, solver, best, history: list[dict]):
        self.history, self.last_certified = history, 0
        self.parts = {"objective": objective, "solver": solver, "best": best}
        if isinstance(objective.batch, Stateful):
            self.parts["batch"] = objective.batch
        self.notebook = None
        if limits.checkpoint is not None:
            best.spares = False
            which = identity(objective, type(solver).__name__)
            self.notebook = Notebook(limits.checkpoint, which, limits.tol)
            self.notebook.read(self._restore, limits.verbose)

    @property
    def seconds(self) -> float:
        """Of solver time, before this run."""
        return self.history[-1]["seconds"] if self.history else 0.0

    def ended(self, tol: float) -> str:
        """How a fit ended that has nothing left to do; else empty."""
        if not self.history:
            return ""
        best, solver = self.parts["best"], self.parts["solver"]
        if best.relative_gap() <= tol or solver.stationary:
            return "converged"
        return self.notebook.ended(tol)

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
        for name, part in self.parts.items():
            part.restore(state[name])
        self.history[:] = state["history"]
        self.last_certified = int(state["last_certified"])
