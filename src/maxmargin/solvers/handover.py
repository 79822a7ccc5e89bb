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
from maxmargin.solvers.log_objective import LogObjective, norm1, shrunk
from maxmargin.solvers.smooth import LBFGS
from maxmargin.solvers.solver import Relay

HALVING = 20  # passes in which the gap must halve


class Handover(Relay):
    """The dual never falls."""

    begins = Exponentiated
    kept = (*Relay.kept, "squared", "seen")

    def __init__(self, objective: LogObjective, planes=None):
        super().__init__(objective, planes)
        self.squared = 0.0  # |w|^2 + 2 l1 |w|_1, of the best candidate in that
        self.seen: list = []  # (pass, gap) of certificates

    def successor(self) -> LBFGS:
        return LBFGS(self.objective)

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
        self.now.given = self._point()
        return self.now.proved()

    def step(self) -> None:
        if self.now is self.first and self._stuck():
            self._hand_over()
        self.now.step()
        self.passes += 1
        if self.now.stationary:
            self.now, self.seen, self.returned = self.first, [], True
        self.follow()

    def candidates(self) -> list:
        candidates = super().candidates()
        l1 = self.objective.l1
        self.squared = min(sum_of_squares(w) + 2 * l1 * norm1(w) for w in candidates)
        return candidates

    def learn_from(self, sweep) -> None:
        primal = self.objective.primal_at(self.squared, sweep)
        if not self.seen or self.seen[-1][0] < self.passes:
            self.seen.append((self.passes, primal - self.dual))

    def _stuck(self) -> bool:
        """Whether the gap fell by less than half in HALVING passes, at two looks."""
        if len(self.seen) < 2 or self.passes > self.seen[-1][0]:
            return False  # nothing new is known
        now, gap = self.seen[-1]
        for before, old in reversed(self.seen):
            if now - before >= HALVING:
                return gap > old * 0.5 ** ((now - before) / HALVING)
        return False

    def _point(self) -> tuple:
        """The dual point of the first solver, and its entropy."""
        return self.first.exact_point()

    def _hand_over(self) -> None:
        found = self.first.candidates()
        second = self.successor()
        second.prepare()
        second.w = min(found, key=lambda w: self.objective.primal(w)[0]).copy()
        point, entropy = self._point()
        l1 = self.objective.l1
        second.dual = entropy - 0.5 * sum_of_squares(shrunk(point, l1))
        if l1 == 0:
            second.cuts.add(point, entropy)
        second.proof = [None], [1.0]
        self.now = second
        self.follow()
