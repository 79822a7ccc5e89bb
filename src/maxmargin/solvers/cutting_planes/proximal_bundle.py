"""One-slack cutting planes with a proximal term: steps that stay near the best point.

The minimiser of a few cuts may lie far away, and at a large C plain cutting planes jump
about for many rounds. Here the next point minimises

    1/2 |w|^2 + max_t (offset_t - w.g_t) + rho/2 |w - center|^2

whose dual is the same small program with the matrix G / (1 + rho) and the offsets
offset_t - rho / (1 + rho) center.g_t, at w = (sum_t a_t g_t + rho center) / (1 + rho). The
center moves there (a serious step) if the objective falls by a fair share of what the cuts
promised; else the new cut alone is kept (a null step). The bound is that of the cuts
without the proximal term, as in ``one_slack.py``. (Kiwiel 1990; Do & Artieres 2009; the
inner solver of Yu & Joachims 2009.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.state import require
from maxmargin.solvers.checkpoints.cut_proofs import check_shares
from maxmargin.solvers.cutting_planes.one_slack import (
    INNER,
    ROUNDING,
    OneSlack,
)
from maxmargin.solvers.cutting_planes.simplex import solve_simplex

SERIOUS = 0.1  # share of the promised decrease that a serious step must reach
FIRST_RHO = 1.0
CLOSER, FARTHER = 2.0, 0.5  # factors of rho after null steps in a row, and serious ones
NULL_STEPS = 3  # in a row, before rho grows
RHO = 1e-4, 1e4  # the smallest and the largest


class ProximalBundle(OneSlack):
    """See the module. ``w`` is the next point to ask about, ``center`` the best one."""

    kept = (*OneSlack.kept, "center", "far", "center_value", "promised")
    kept = (*kept, "rho", "null_steps", "near")
    finite = (*OneSlack.finite, "center", "far")
    grows = (*OneSlack.grows, "near")

    def __init__(self, objective, planes=None):
        super().__init__(objective, planes)
        self.start_near(self.w)

    def start_near(self, w) -> None:
        """Begin with this center, and nothing promised."""
        self.center = w.copy()
        self.far = w  # the minimiser of the cuts, wherever it is
        self.center_value, self.promised = np.inf, 0.0
        self.rho, self.null_steps = FIRST_RHO, 0
        self.near = self.alpha.copy()

    def reconsider(self, w) -> None:
        """Begin at w."""
        if w is not None:
            self.start_near(w)
            self.w = self.center.copy()

    def candidates(self):
        return [self.center, self.far]

    def check_restored(self) -> None:
        super().check_restored()
        require(0 <= self.promised < np.inf, "promised", "out of range")
        require(RHO[0] <= self.rho <= RHO[1], "rho", "out of range")
        require(self.near.shape == self.alpha.shape, "near", "cut")
        check_shares(self.near, "near")

    def judged(self, value: float) -> float:
        """A serious or a null step, and what that says of rho."""
        if value <= self.center_value - SERIOUS * self.promised:
            self.center, self.center_value = self.w.copy(), value
            self.rho, self.null_steps = max(FARTHER * self.rho, RHO[0]), 0
            return value
        self.null_steps += 1
        if self.null_steps >= NULL_STEPS:
            self.rho, self.null_steps = min(CLOSER * self.rho, RHO[1]), 0
        return self.center_value

    def _add(self, cut) -> None:
        self.near = np.append(self.near, 0.0)
        super()._add(cut)

    def _solve(self) -> None:
        """The bound of the cuts; then w, their minimiser near the center."""
        super()._solve()
        self.far = self.w
        self._next()

    def _drop(self, keep) -> None:
        super()._drop(keep)
        self.near = self.near[keep]
        self.near /= max(self.near.sum(), 1e-300)

    def _next(self) -> None:
        """w <- the minimiser of the cuts near the center."""
        share = self.rho / (1.0 + self.rho)
        center = self.center.astype(np.float64)
        along = np.array([values @ center[index] for index, values in self.cuts])
        gram, offsets = self.gram / (1.0 + self.rho), self.offsets - share * along
        scale = max(float(np.abs(offsets).max()), 1e-12)
        tolerance = INNER * min(self.gap, scale) if np.isfinite(self.gap) else 0.0
        tolerance = max(tolerance, ROUNDING * scale)
        solve_simplex(gram, offsets, self.near, tolerance)
        w = self.mixture(self.near) / (1.0 + self.rho) + share * center
        self.w = w.astype(self.objective.dtype)
        model = max(
            float(o - values @ w[index])
            for o, (index, values) in zip(self.offsets, self.cuts, strict=True)
        )
        self.promised = max(self.center_value - 0.5 * float(w @ w) - model, 0.0)
