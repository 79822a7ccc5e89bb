"""The default for log-losses: exponentiated gradient, then L-BFGS where that is stuck.

Exponentiated gradient has good bounds after few passes, whatever C. With many more
sequences than weights and a large C, its blocks hinder each other, and the gap stops
halving every twenty passes. L-BFGS then goes on from the weights and from the dual point
found so far; where rounding ends its line search, the turn goes back.
"""

from __future__ import annotations

from maxmargin.core.state import require
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers.exponentiated import Exponentiated
from maxmargin.solvers.log_objective import LogObjective
from maxmargin.solvers.smooth import LBFGS
from maxmargin.solvers.solver import Solver

HALVING = 20  # passes in which the gap must halve


class Handover(Solver):
    """Delegates to a first solver, later to a second; the dual never falls."""

    begins: type = Exponentiated
    kept = ("first", "passes", "squared", "seen", "falls")

    def __init__(self, objective: LogObjective, planes=None):
        self.objective = objective
        self.first = self.now = self.begins(objective, planes)
        self.passes = 0
        self.squared = 0.0  # |w|^2 of the first candidate
        self.seen: list = []  # (pass, gap) of certificates
        self.falls = False

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
    def w(self):
        return self.now.w

    def state(self) -> dict:
        second = None if self.now is self.first else self.now.state()
        return {**super().state(), "second": second}

    def restore(self, state) -> None:
        self.now = self.first
        super().restore(state)
        if state["second"] is not None:
            self.now = LBFGS(self.objective)
            self.now.prepare()
            self.now.restore(state["second"])

    def check_restored(self) -> None:
        """Its parts check themselves; of certificates, (pass, gap) is kept."""
        for entry in self.seen:
            good = type(entry) is tuple and len(entry) == 2
            good = good and all(isinstance(v, (int, float)) for v in entry)
            require(good and 0 <= entry[0] <= self.passes, "seen", "no certificate")

    def proved(self) -> float:
        proved = self.first.proved()
        if self.now is self.first:
            return proved
        entropy = proved + 0.5 * sum_of_squares(self.first.w)
        self.now.given = self.first.w, entropy
        return self.now.proved()

    def prepare(self) -> None:
        self.first.prepare()

    def step(self) -> None:
        if self.now is self.first and self._stuck():
            self._hand_over()
        self.now.step()
        self.passes += 1
        if self.now.stationary:
            self.now, self.seen, self.falls = self.first, [], True

    def candidates(self) -> list:
        candidates = self.now.candidates()
        self.squared = min(map(sum_of_squares, candidates))
        return candidates

    def learn_from(self, sweep) -> None:
        primal = self.objective.primal_at(self.squared, sweep)
        if not self.seen or self.seen[-1][0] < self.passes:
            self.seen.append((self.passes, primal - self.dual))

    def _stuck(self) -> bool:
        """Whether the gap fell by less than half in HALVING passes, at two looks."""
        if len(self.seen) < 2 or self.passes > self.seen[-1][0]:
            return False  # no news
        now, gap = self.seen[-1]
        for before, old in reversed(self.seen):
            if now - before >= HALVING:
                return gap > old * 0.5 ** ((now - before) / HALVING)
        return False

    def _hand_over(self) -> None:
        found = self.first.candidates()
        second = LBFGS(self.objective)
        second.prepare()
        second.w = min(found, key=lambda w: self.objective.primal(w)[0]).copy()
        entropy = self.first.dual + 0.5 * sum_of_squares(self.first.w)
        second.dual = second.cuts.add(self.first.w.copy(), entropy)
        second.proof = [None], [1.0]
        self.now = second
