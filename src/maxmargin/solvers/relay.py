"""One solver after another: what defaults share that hand over where the first is stuck."""

from __future__ import annotations

from typing import Any

from maxmargin.solvers.solver import Solver


class Relay(Solver):
    """Delegates to ``now``, the first solver or later a second one.

    ``begins`` is the class of the first, ``successor()`` makes a second one, still empty.
    """

    begins: type
    kept: tuple[str, ...] = ("first", "passes", "returned")

    def __init__(self, objective, planes=None):
        self.objective = objective
        self.first = self.now = self.begins(objective, planes)
        self.passes = 0
        self.returned = False  # whether the turn has gone back, to a lower dual

    def successor(self) -> Solver:
        raise NotImplementedError(f"{type(self).__name__} must define successor().")

    @property
    def dual(self) -> float:
        return self.now.dual

    @property
    def estimate(self) -> float:
        return self.now.estimate

    @property
    def update_seconds(self) -> float:
        return self.first.update_seconds

    @property
    def falls(self) -> bool:
        return self.returned or self.first.falls

    @property
    def w(self):
        return self.now.w

    def state(self) -> dict[str, Any]:
        second = None if self.now is self.first else self.now.state()
        return {**super().state(), "second": second}

    def restore(self, state) -> None:
        self.now = self.first
        super().restore(state)
        if state["second"] is not None:
            self.now = self.successor()
            self.now.prepare()
            self.now.restore(state["second"])

    def prepare(self) -> None:
        self.first.prepare()

    def candidates(self) -> list:
        return self.now.candidates()

    @property
    def drifts(self) -> bool:
        return self.now.drifts

    def exact_dual(self) -> float:
        return self.now.exact_dual()
