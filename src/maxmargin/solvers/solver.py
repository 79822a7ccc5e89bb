"""The protocol between a solver and the driver.

A solver improves weights pass by pass. The driver (``driver.py``) owns everything else:
limits, certificates, history, progress, Ctrl-C. What it asks of a solver stands here,
with the defaults that serve a solver without a dual.
"""

from __future__ import annotations

import math

from maxmargin.core.objective import Objective, Sweep
from maxmargin.core.state import Stateful, require


class Solver(Stateful):
    """Base class of solvers; ``step`` is all that must be written.

    dual            value of the best dual point; 0 is a bound without any
    estimate        its own guess of the primal, by which a certificate falls due
    primal          that of the weights it offers, where its steps add that up
    stationary      True ends the fit where no dual bound can
    stuck           why no further pass can help, if none can
    update_seconds  time spent outside the oracle so far
    planes          the dual point for a later fit to start from (``warm_start.py``)
    kept            attributes that a checkpoint needs: all that change in ``step`` and
                    outlast it (``core/state.py``)
    """

    kept = ("w", "dual", "estimate", "stationary", "update_seconds", "falls")
    finite = "w", "dual"
    ends = False  # whether it is ever stationary
    drifts = False  # whether ``dual`` is that but for the rounding of single precision
    # passes until a certificate is made in any case, and how many times later the next
    looks = 20, 2.0
    falls = False  # whether a dual may have been higher than what can be proved now
    unit = "passes"  # what its steps are called
    minimises = True  # if not, held-out data judge its last weights, not the best
    silent = False  # whether others show what it does: drivers that its steps run

    deputy: Solver | None = None  # who answers for it at present, where it is another

    dual: float = 0.0
    estimate: float = math.inf
    primal: float = math.inf
    stuck: str = ""
    stationary: bool = False
    update_seconds: float = 0.0
    planes = None

    def __init__(self, objective: Objective, planes=None):
        """``planes`` continues from the dual point of an earlier fit."""
        self.objective = objective
        self.w = objective.weights()

    @classmethod
    def applies(cls, objective: Objective) -> bool:
        """Whether it can minimise this objective; else the next of its record does."""
        return True

    def prepare(self) -> None:
        """Compile (or load) its kernels, before the clock starts."""

    def step(self) -> None:
        """One pass over the data; may raise KeyboardInterrupt anywhere."""
        raise NotImplementedError(f"{type(self).__name__} must define step().")

    def columns(self) -> dict:
        """What a row of the history says beside bounds and times."""
        return {}

    def reconsider(self, w) -> None:
        """Before the first step, where the truths of the dual point are new: raise it
        without a search. ``w`` are the best weights known, or None."""

    def candidates(self) -> list:
        """Weight vectors worth a certificate, the most promising first."""
        return [self.w]

    def exact_dual(self) -> float:
        """The dual after :meth:`candidates`, in double precision: what may be claimed."""
        return self.dual

    def done(self, relative_gap: float, tol: float) -> bool:
        """Whether no more is wanted."""
        return self.stationary or relative_gap <= tol

    def learn_from(self, sweep: Sweep) -> None:
        """The outputs that a certificate at one of the candidates has found."""

    def check_restored(self) -> None:
        require(self.ends or not self.stationary, "stationary", "not possible")
        require(0 <= self.update_seconds < math.inf, "update_seconds", "no time")

    def proved(self) -> float:
        """The dual that a restored state proves, computed anew (``proofs.py``).

        ValueError where the state contradicts itself. It may spoil the state, which is
        restored once more afterwards.
        """
        return 0.0

    def finish(self, solution) -> None:
        """Last words, once the driver is done: may change the solution or warn."""
