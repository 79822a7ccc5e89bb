"""A fit that watches held-out data: it ends early, and the best weights are kept.

From time to time, after passes 1, 2, 3, 5, 8, 12, ..., the best weights so far are
certified and scored. Training ends when ``PATIENCE`` scores in a row, each of other weights
than the last, were no better than the best one. The weights with the best score are
returned, of equals the later ones.
What is proved of them is their own exact primal and the best dual of the whole fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from maxmargin.engine.interrupts import undisturbed

PATIENCE = 3  # looks in a row without a better score
LEAST = 8  # passes before scores end a fit
PACE = 1.5  # the pass of a look, by that of the last one
STOPPED_EARLY = "stopped on held-out data"


class Scored(Protocol):
    """How good weights are on held-out data."""

    title: str
    smaller: bool  # whether that is better

    def __call__(self, w: np.ndarray) -> float: ...


@dataclass(frozen=True)
class DevScore:
    """What held-out data had to say about a fit (``fit(..., dev=...)``).

    Attributes
    ----------
    measure : str
        What was measured, as reports and tables call it.
    score : float
        That of the weights that were kept.
    iteration : int
        The pass that found these weights.
    stopped : bool
        Whether the scores ended the training, or kept weights from before its end.
    smaller : bool
        Whether a smaller score is better, as of a loss.
    """

    measure: str
    score: float
    iteration: int
    stopped: bool
    smaller: bool

    @property
    def goodness(self) -> float:
        """The score, turned so that greater is better."""
        return -self.score if self.smaller else self.score


class Watch:
    """Scores the best weights after some passes; without a ``score``, does nothing."""

    def __init__(self, score: Scored | None):
        self.score = score
        self.next = math.inf if score is None else 1  # pass of the next look
        self.kept: tuple | None = None  # (w, primal, sweep) with the best score
        self.best, self.iteration, self.worse = 0.0, 0, 0
        self.last, self.primal = 0, math.inf  # pass of the last look, objective there

    def due(self, iteration: int) -> bool:
        """Whether weights have to be certified after this pass."""
        return iteration >= self.next

    def look(self, best: Any, solver: Any, row: dict, status: str) -> str:
        """Score the best weights if it is time, or the fit ends; the row gets the score.

        Returns how the training ended, or "".
        """
        iteration = row["iteration"]
        if self.score is None or not (status or self.due(iteration)):
            return status
        self.last, self.next = (
            iteration,
            max(iteration + 1, int(PACE * iteration + 0.5)),
        )
        w, primal, sweep = best.w, best.primal, best.sweep
        if not solver.minimises:
            w = solver.candidates()[0]
            primal, _, sweep = best.objective.primal(w)
        row["dev_score"] = score = self.score(w)
        ahead = self.best - score if self.score.smaller else score - self.best
        first = self.kept is None
        if first or ahead > 0:
            self.worse = 0
        elif primal != self.primal:  # else these are the weights of the last look
            self.worse += 1
        self.primal = primal
        if first or ahead >= 0:
            with undisturbed():
                self.best, self.iteration = score, iteration
                self.kept = w.copy(), primal, sweep
        over = self.worse >= PATIENCE and iteration >= LEAST
        return status or (STOPPED_EARLY if over else "")

    def keep(self, best: Any, status: str, tol: float) -> tuple[str, DevScore | None]:
        """Put the weights with the best score back: (how training ended, that score)."""
        if self.score is None or self.kept is None:
            return status, None
        with undisturbed():
            best.w, best.primal, best.sweep = self.kept
        earlier = self.iteration < self.last
        if status == "converged" and earlier and best.relative_gap() > tol:
            status = STOPPED_EARLY
        stopped = earlier or status == STOPPED_EARLY
        found = self.score.title, self.best, self.iteration, stopped, self.score.smaller
        return status, DevScore(*found)


def scored_worse(one: DevScore | None, other: DevScore | None) -> bool:
    """Whether held-out data speak against the first of two fits."""
    return one is not None and other is not None and one.goodness < other.goodness


def by_pass(found: Any, history: list[dict]) -> Any:
    """A fit of outer steps; its scores are told by the pass that ended each of them.

    The rows of these passes get them.
    """
    ends = [row["round"]["passes"] for row in found.history]
    scores = [row.get("dev_score") for row in found.history]
    of_pass = {row["iteration"]: row for row in history}
    for end, score in zip(ends, scores, strict=True):
        if score is not None:
            of_pass[end]["dev_score"] = score
    dev = replace(found.dev, iteration=ends[found.dev.iteration - 1])
    return replace(found, dev=dev)
