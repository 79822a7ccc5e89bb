"""Hard margins where blocks are solved in closed form: a finite C that grows.

With C = inf the dual is  max sum alpha c - 1/2 |w|^2  over alpha >= 0, so that every dual
point of a finite C is one of the hard margin, and so is each of its multiples. The best of
these proves

    1/2 |w*|^2 >= 1/2 (sum alpha c / |w|)^2                                      (*)

Finite C are solved in turn, each from the last one, by the solver that they have anyway
(``exact_blocks.py``). Once C is larger than all alpha, its weights separate the data, up to
a multiple that the certificate finds. Where no weights do, (*) grows without end; when any
that did would need more digits than numbers have, the data are not separable.
"""

from __future__ import annotations

import copy
import math

import numpy as np

from maxmargin.core.by_label import by_label
from maxmargin.core.state import require, restored
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers.by_label.exact_blocks import ExactBlocks
from maxmargin.solvers.driver import NotSeparable, not_separable
from maxmargin.solvers.solver import Solver
from maxmargin.solvers.warm_start import copied, feasible

GROWTH = 10.0  # of C ...
SOLVED = 0.02  # ... once the relative gap of the last one is estimated below this,
MAX_PASSES = 20  # or after so many passes
LONGEST = 1e7  # |w| |x| of separating weights


class HardMargin(Solver):
    """See the module."""

    kept = ("C", "stage", "dual", "now")
    falls = True  # what is proved at one C need not be at the next

    def __init__(self, objective, planes=None):
        super().__init__(objective)
        norms = by_label(objective.batch).norms
        self.size = math.sqrt(max(float(np.max(norms, initial=0.0)), 1e-300))
        self.C = 1.0 / max(float(np.mean(norms)), 1e-300)
        self.dual, self.stage = 0.0, 0
        self._begin(planes)

    @staticmethod
    def soft(objective, C: float):
        """The same with finite masses."""
        soft = copy.copy(objective)
        soft.mass = np.where(objective.mass > 0, C, 0.0)
        soft.hard = False
        return soft

    @classmethod
    def applies(cls, objective) -> bool:
        return objective.hard and ExactBlocks.applies(cls.soft(objective, 1.0))

    @property
    def planes(self):
        return self.now.planes._replace(mass=self.objective.mass)

    def prepare(self) -> None:
        self.now.prepare()

    def step(self) -> None:
        if self.stage >= MAX_PASSES or self._solved():
            self.C *= GROWTH
            self._begin(self.now.planes)
        soft = self.now.objective
        soft.deadline, calls = self.objective.deadline, soft.oracle_calls
        self.now.step()
        self.objective.oracle_calls += soft.oracle_calls - calls
        self.stage += 1
        squared = sum_of_squares(self.now.w)
        linear = self.now.dual + 0.5 * squared
        self.dual = self._bound()
        longest = math.sqrt(2 * self.dual) * self.size
        if longest > LONGEST or (squared == 0 and linear > 0):
            raise NotSeparable(
                not_separable(
                    "weights that separate them would have to be longer than "
                    f"{longest / self.size:.3g}"
                )
            )
        self.estimate = self.dual  # a certificate tells whether the weights separate

    def _bound(self) -> float:
        """(*) of the module."""
        squared = sum_of_squares(self.now.w)
        linear = self.now.dual + 0.5 * squared
        return 0.5 * linear * linear / squared if squared > 0 < linear else 0.0

    def proved(self) -> float:
        self.now.proved()
        return self._bound()

    def candidates(self) -> list:
        found = self.now.candidates()[::-1]
        if self.objective.team.size > 1:  # w is anew what the dual variables say
            self.dual = self._bound()
        return found

    def _solved(self) -> bool:
        estimate, dual = self.now.estimate, self.now.dual
        return self.stage > 0 and estimate - dual <= SOLVED * estimate < math.inf

    def _begin(self, planes) -> None:
        soft = self.soft(self.objective, self.C)
        if planes is not None:
            planes = feasible(copied(planes), soft)
        self.now, self.stage = ExactBlocks(soft, planes), 0

    def restore(self, state) -> None:
        self.C = restored(self.C, state["C"], "C")
        require(0 < self.C < math.inf, "C", "out of range")
        self._begin(None)
        super().restore(state)
