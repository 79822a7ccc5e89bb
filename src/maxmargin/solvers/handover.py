"""The defaults, one solver after another: the second takes over where the first is stuck.

For hinges: block-coordinate ascent, then one-slack cuts.

Blocks that pull hard at the same few weights (a large C, large features, many examples per
weight) hinder each other, and each pass gains little. Cutting planes see all examples at
once, and with few weights few cuts are enough, whatever C and the scales of the features.

The gap that block-coordinate itself estimates says whether it is stuck. It is looked at
after 8, 16, 32, ... passes:

    pass 8 and 16       with few weights, more than half of the primal is still open
    pass 32, 64, ...    the gap is more than SLOW of what it was at half as many passes

Passes are counted, not timed. The dual point goes along: with A_i = sum_p alpha_ip,

    R(w) >= sum alpha c - [quadratic] sum_i A_i^2 / (2 C_i) - w.sum alpha r psi

is a cut whose dual value is the one reached, so the bound never falls. If many cuts do not
halve the gap either, the turn goes back, for good.

For log-losses: exponentiated gradient, then L-BFGS.

Exponentiated gradient has good bounds after few passes, whatever C. With many more
sequences than weights and a large C, its blocks hinder each other, and the gap stops
halving every twenty passes. L-BFGS then goes on from the weights and from the dual point
found so far; where rounding ends its line search, the turn goes back.
"""

from __future__ import annotations

import math
from typing import Any

from maxmargin.core.state import require
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers.block_coordinate import BlockCoordinate
from maxmargin.solvers.cutting_planes.one_slack import Cut, OneSlack
from maxmargin.solvers.log.exponentiated import Exponentiated
from maxmargin.solvers.log.log_objective import LogObjective, norm1, shrunk
from maxmargin.solvers.log.smooth import LBFGS
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.warm_start import copied

FIRST_LOOK = 8  # passes
OPEN = 0.5  # relative gap that is too much then ...
FEW_WEIGHTS = 256  # ... with so many weights at most
LATER_LOOK = 32  # passes
SLOW = 0.4  # share of the gap after twice the passes: with 1/2 it falls as 1 / passes
MOST_WEIGHTS = 4096  # beyond, cuts are too many
PATIENCE = 100  # rounds of the second solver after which it is judged, and again
HALVING = 20  # passes in which the gap of a log-loss must halve


class Relay(Solver):
    """Delegates to ``now``, the first solver or, where that is stuck, a second one.

    ``begins`` is the class of the first, ``successor()`` makes a second one, still empty.
    Subclasses say whether the first is ``_stuck``, how to ``_hand_over``, and whether the
    second is in ``_vain``.
    """

    begins: type
    kept: tuple[str, ...] = ("first", "passes", "returned")
    finite = ()  # its parts check themselves

    def __init__(self, objective, planes=None):
        self.objective = objective
        self.first = self.begins(objective, planes)
        self.passes = 0
        self.returned = False  # whether the turn has gone back, to a lower dual
        self.turn(self.first)

    def successor(self) -> Solver:
        raise NotImplementedError(f"{type(self).__name__} must define successor().")

    def turn(self, solver: Solver) -> None:
        """It is this solver's from now on."""
        self.now = solver

    def step(self) -> None:
        if self.now is self.first and self._stuck():
            self._hand_over()
        self.now.step()
        self.passes += 1
        if self.now is not self.first and self._vain():
            self.returned = True
            self.turn(self.first)

    @property
    def dual(self) -> float:
        return self.now.dual

    @property
    def estimate(self) -> float:
        return self.now.estimate

    @property
    def drifts(self) -> bool:
        return self.now.drifts

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
        self.turn(self.first)
        super().restore(state)
        if state["second"] is not None:
            second = self.successor()
            second.prepare()
            second.restore(state["second"])
            self.turn(second)

    def prepare(self) -> None:
        self.first.prepare()

    def candidates(self) -> list:
        return self.now.candidates()

    def exact_dual(self) -> float:
        return self.now.exact_dual()


class HingeHandover(Relay):
    """For hinges. The first solver is kept as it was, in case that the turn returns.

    The driver asks the one whose turn it is.
    """

    begins = BlockCoordinate
    kept = (*Relay.kept, "last_gap", "lowest", "calls", "rounds")

    def __init__(self, objective, planes=None):
        super().__init__(objective, planes)
        self.last_gap = math.inf  # relative, at the last look
        self.lowest = math.inf  # primal at a point of the second solver
        self.calls = 0  # of the oracle, until the handover
        self.rounds = 0  # of the second solver

    @staticmethod
    def applies(objective) -> bool:
        """Whether a handover may help: few weights, and linear slacks of plain margins."""
        plain = not (objective.form.slack or objective.form.quadratic)
        small = objective.n_weights <= MOST_WEIGHTS
        return small and plain and not objective.hard

    @property
    def planes(self):
        """Those of the first solver, unless outputs that they name are forgotten."""
        return (self.now if self.objective.in_python else self.first).planes

    @property
    def update_seconds(self) -> float:
        later = 0.0 if self.now is self.first else self.now.update_seconds
        return self.first.update_seconds + later

    def turn(self, solver: Solver) -> None:
        self.now = self.deputy = solver

    def successor(self) -> OneSlack:
        return OneSlack(self.objective, copied(self.first.planes))

    def proved(self) -> float:
        proved = self.first.proved()
        return proved if self.now is self.first else self.now.proved()

    def _gap(self, primal: float) -> float:
        """The relative gap at this primal, as the present solver estimates it."""
        if not 0 < primal < math.inf:
            return 0.0 if primal == 0 else 1.0
        return max(primal - self.now.dual, 0.0) / primal

    def _stuck(self) -> bool:
        passes, size = self.passes, self.objective.n_weights
        if self.returned or passes < FIRST_LOOK or passes & (passes - 1):
            return False
        gap, before = self._gap(self.now.estimate), self.last_gap
        self.last_gap = gap
        if passes < LATER_LOOK:
            return size <= FEW_WEIGHTS and gap > OPEN
        return gap > SLOW * before

    def _vain(self) -> bool:
        """Whether cuts do no better; a Python batch has forgotten the way back."""
        self.rounds += 1
        self.lowest = min(self.lowest, self.now.estimate)
        spent = self.objective.oracle_calls - self.calls
        early = self.rounds % PATIENCE or spent < self.calls
        if early or self.objective.in_python:
            return False
        gap, before = self._gap(self.lowest), self.last_gap
        self.last_gap = gap
        return gap > 0.5 * before

    def _hand_over(self) -> None:
        first = self.first
        gradient = first.rebuild()
        offset = first.dual + 0.5 * sum_of_squares(gradient)
        gradient[first.signs.at] -= first.signs.push
        second = self.successor()
        second.prepare()
        second._add(Cut(gradient, offset, 0.0))
        second.alpha[:] = 0.0, 1.0
        second.gap = self.last_gap * first.estimate
        second._solve()
        second.estimate = first.estimate
        self.calls = self.objective.oracle_calls
        self.turn(second)


class Handover(Relay):
    """For log-losses: the dual never falls."""

    begins = Exponentiated
    kept = (*Relay.kept, "squared", "seen")

    def __init__(self, objective: LogObjective, planes=None):
        super().__init__(objective, planes)
        self.squared = 0.0  # |w|^2 + 2 l1 |w|_1, of the best candidate in that
        self.seen: list = []  # (pass, gap) of certificates

    def successor(self) -> LBFGS:
        return LBFGS(self.objective)

    def check_restored(self) -> None:
        """Of certificates, (pass, gap) is kept."""
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

    def _vain(self) -> bool:
        if self.now.stationary:
            self.seen = []
        return self.now.stationary

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
        self.turn(second)
