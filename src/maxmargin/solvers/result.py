"""What goes into the driver and what comes out of it: limits, certificate, solution.

No numba here: fitted models keep these objects, and loading a model must be quick.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from maxmargin.solvers.checkpoints.checkpoint import Place
from maxmargin.solvers.watching.held_out import DevScore, Scored
from maxmargin.solvers.watching.progress import guarded


@dataclass
class Limits:
    """When a fit ends, and who watches it (``progress.py``).

    ``callbacks`` get every history row and may return True to stop the fit. ``part`` is
    for one of several fits that are one to the user: what its rows are to say beside their
    own, with the passes and seconds before it under "iteration" and "seconds".
    ``checkpoint`` is where the state of the fit is kept (``checkpoint.py``), ``held_out``
    what scores weights that may be the ones to keep (``held_out.py``).
    """

    tol: float
    max_iter: int | None = None
    max_time: float | None = None
    verbose: int = 0
    callbacks: tuple = ()
    part: dict | None = None
    checkpoint: Place | None = None
    held_out: Scored | None = None

    def __post_init__(self):
        if self.callbacks:
            self.callbacks = guarded(self.callbacks)


@dataclass(frozen=True)
class Certificate:
    """What is proved about a fit: the optimum lies between ``dual`` and ``primal``.

    ``relative_gap`` is gap / primal. ``exact`` is False where nothing is proved: the
    search is only approximate, so that the primal is a lower estimate; or the objective
    has no lower bound to compare with, so that ``dual`` is 0 and the gap is the primal.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    exact: bool

    @classmethod
    def of(cls, primal: float, dual: float, exact: bool) -> Certificate:
        primal, dual, exact = float(primal), float(dual), bool(exact)
        gap = primal - dual
        if math.isinf(primal):
            return cls(primal, dual, math.inf, 1.0, exact)
        # Rounding of two nearly equal sums must not look like a negative gap.
        gap = max(gap, 0.0)
        return cls(primal, dual, gap, gap / primal if primal > 0 else 0.0, exact)


@dataclass(frozen=True)
class StationaryPoint:
    """What is known of a fit with hidden parts: that steps no longer pay, not an optimum.

    objective   f(w) of the weights that were returned (``concave_convex.py``)
    decrease    what the last outer step gained
    inner_gap   primal - dual of its convex problem
    bound       what another convex step can gain at most: objective - dual
    exact       False where the search, or the completion, is only approximate

    Other starts may end lower. ``primal``, ``dual``, ``gap`` and ``relative_gap`` are
    those of the last convex problem, for code that knows other fits.
    """

    objective: float
    decrease: float
    inner_gap: float
    bound: float
    exact: bool

    @property
    def primal(self) -> float:
        return self.objective

    @property
    def dual(self) -> float:
        return self.objective - self.bound

    @property
    def gap(self) -> float:
        return self.bound

    @property
    def relative_gap(self) -> float:
        return self.bound / self.objective if self.objective > 0 else 0.0


@dataclass
class Solution:
    """What the driver returns.

    ``search_gap`` is the part of the gap that is left open by a search that only bounds
    the largest violation (``best.py``): no further pass can close it. ``dev`` is the score
    on held-out data for which these weights were kept.
    """

    w: np.ndarray
    certificate: Certificate
    history: list[dict] = field(default_factory=list)
    converged: bool = False
    status: str = ""
    search_gap: float = 0.0
    dev: DevScore | None = None


# Beside what is said of a fit that ended early, which may be why.
STILL_ZERO = " All weights are still zero: every output scores the same."


def still_zero(w) -> str:
    return "" if np.any(w) else STILL_ZERO
