"""How far a fit is on its way: what its bar shows.

How much of a fit is done is how far its relative gap has come from the first one to the
tolerance, in logarithms. A bar never goes back, and is full only where the tolerance is
proved to be reached.
"""

from __future__ import annotations

import math

NEARLY = 0.99  # as far as a bar goes before the tolerance is reached


class Advance:
    """The share of a fit that is done; 0 as long as no gap is known, or without a tol."""

    def __init__(self, tol: float | None):
        self.tol, self.share = tol or 0.0, 0.0
        self.first = 0.0

    def see(self, primal: float, gap: float, proved: bool = True) -> float:
        if not (0 < primal < math.inf and 0 < self.tol < 1):
            return self.share
        gap = min(gap / primal, 1.0)
        if gap <= self.tol:
            self.share = 1.0 if proved else max(self.share, NEARLY)
            return self.share
        self.first = self.first or gap
        share = math.log(self.first / gap) / math.log(self.first / self.tol)
        self.share = max(self.share, min(share, NEARLY))
        return self.share
