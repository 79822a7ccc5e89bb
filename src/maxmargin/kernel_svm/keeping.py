"""The checkpoint of an exact kernel machine (``exact.py``), between its rounds.

It holds alpha, the best mixture of dual points, the examples that stay for the next round,
random numbers and history. Scores are not in it: they are computed anew, in double
precision, from alpha and the best point, and with them all that is said of both. So a fit
that goes on believes nothing that a file claims; as its scores are rounded in another way,
it reaches the same certificate, not the same bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.core.state import require, require_within, restored
from maxmargin.kernels.inputs import is_sparse
from maxmargin.solvers.fingerprint import fingerprint
from maxmargin.solvers.notebook import Notebook

ROW = ("iteration", "seconds", "primal", "dual", "gap", "rows")
ROUNDING = 1e-9  # of dual variables, as a share of the mass
SLACK = 1e-3  # of bounds in rows of the history, which single precision may have


class AscentKeeper:
    """Keeps the rounds of an ascent; without a place for it, does nothing."""

    def __init__(self, limits, ascent, best, history: list[dict]):
        self.ascent, self.best, self.history = ascent, best, history
        self.notebook, self.proved = None, {}
        if limits.checkpoint is not None:
            which = identity(ascent)
            self.notebook = Notebook(limits.checkpoint, which, limits.tol)
            self.notebook.read(self._restore, limits.verbose, self._prove)
            vars(best).update(self.proved)  # and not what was restored after the proof

    @property
    def seconds(self) -> float:
        """Before this run."""
        return self.history[-1]["seconds"] if self.history else 0.0

    def ended(self, tol: float) -> str:
        """How a fit ended that has nothing left to do; else empty."""
        if not self.history:
            return ""
        if self.best.reached(tol):
            return "converged"
        status = self.notebook.ended(tol)
        return "" if status == "converged" else status

    def look(self, status: str) -> None:
        """After a round."""
        if self.notebook is not None:
            self.notebook.note(self._state, status, self.history)

    def interrupted(self) -> None:
        if self.notebook is not None:
            self.notebook.interrupted()

    def _state(self) -> dict[str, Any]:
        ascent = self.ascent
        return {
            "alpha": ascent.alpha,
            "best": self.best.a,
            "working": ascent.working,
            "random": ascent.rng.bit_generator.state,
            "single": ascent.single,
            "history": self.history,
        }

    def _restore(self, state: dict[str, Any]) -> None:
        ascent, n = self.ascent, len(self.ascent.y)
        alpha = restored(ascent.alpha, state["alpha"], "alpha")
        a = restored(self.best.a, state["best"], "best")
        _check_point(alpha, ascent.mass, "alpha")
        mixed = -a
        mixed[np.arange(n), ascent.y] += ascent.mass
        _check_point(mixed, ascent.mass, "best")
        working = restored(ascent.working, state["working"], "working", grows=True)
        require_within(working, 0, n - 1, "working")
        require(len(np.unique(working)) == len(working), "working", "not distinct")
        single = restored(True, state["single"], "single")
        history = state["history"]
        _check_rows(history)
        ascent.rng = restored(ascent.rng, state["random"], "random")
        ascent.alpha, ascent.working, self.best.a = alpha, working, a
        if ascent.single and not single:
            ascent.sharpen()
        self.history[:] = history

    def _prove(self) -> None:
        """Scores and bounds anew; no row of the history may claim more."""
        best = self.best
        self.ascent.prove(best)
        self.proved = dict(vars(best))
        slack = SLACK * max(best.primal, 1e-300)
        for row in self.history:
            require(row["dual"] <= best.primal + slack, "history", "more than is true")
            require(row["primal"] >= best.dual - slack, "history", "less than is true")


def identity(ascent) -> dict[str, str]:
    """What must be equal for a state to be that of this fit."""
    problem = ascent.table.problem
    X, kernel = problem.X, problem.kernel
    if is_sparse(X):
        X = X.data, X.indices, X.indptr, X.shape
    try:
        formula: Any = kernel.state()
    except (TypeError, ValueError):  # a function of the user's
        formula = str(kernel)
    described = {
        "data": (X, problem.y, problem.cost, problem.lines),
        "masses": ascent.mass,
        "kernel": formula,
        "solver": "exact",
        "random": ascent.rng.bit_generator.state,
    }
    return {name: fingerprint(value) for name, value in described.items()}


def _check_point(alpha: np.ndarray, mass: np.ndarray, name: str) -> None:
    """Dual variables of an example are not negative and add up to its mass."""
    slack = ROUNDING * mass[:, None]
    require((alpha >= -slack).all(), name, "negative")
    off = np.abs(alpha.sum(axis=1) - mass)
    require((off <= slack[:, 0]).all(), name, "not what adds up to C")


def _check_rows(history: Any) -> None:
    require(type(history) is list and history, "history", "no list of rows")
    seconds = 0.0
    for number, row in enumerate(history, 1):
        require(type(row) is dict, "history", "no list of rows")
        values = [row.get(name) for name in ROW]
        good = all(type(v) in (int, float) and math.isfinite(v) for v in values)
        require(good, "history", "not complete")
        require(row["iteration"] == number, "history", "not counted on")
        require(seconds <= row["seconds"], "history", "not in time")
        seconds = row["seconds"]
