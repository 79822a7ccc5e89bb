"""The objective of outer steps, where true outputs have hidden parts."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class Completed(NamedTuple):
    """In place of a sweep: f at some weights."""

    objective: float


class HiddenObjective:
    """f(w), whose completions are those at w itself, for the driver of outer steps.

    All else is asked of ``inner``, the objective of the convex problem of the first truths.
    Its searches are checked, and compiled, by the drivers of the convex problems.
    """

    answer, slots = Completed, math.inf

    def __init__(self, run: Any):
        self.run, self.inner = run, run.make(run.batch, None)
        own = {name: getattr(self.inner, name, None) for name in ("l1", "kind")}
        self.named = {"objective": (type(self.inner).__name__, own), "solver": run.name}

    def __getattr__(self, name: str):
        return getattr(self.inner, name)

    def prepare(self) -> None:
        """Nothing to compile."""

    def primal(self, w, multiple=1.0):
        run = self.run
        value = run.value
        if w is not run.w:
            value = run._value_at(w, run._complete(w)[1])
        return value, multiple, Completed(float(value))

    def along(self, w, point: tuple, dual: float, tol: float, share: float) -> tuple:
        """Multiples of w are not tried."""
        return point, share

    def left_open(self, answer: Completed) -> float:
        return 0.0

    def pull(self, answer: Completed) -> float:
        return answer.objective

    def check_maxima(self, w, answer: Completed) -> None:
        """Done where the searches are."""
