"""The solver of a shard: steps on its own blocks, against weights that all shards share.

It makes *moves*: it remembers where it began, takes steps from a copy of w, tells what
they change, and hears how much of that to keep (``moves.py``, ``parallel_ascent.py``).
"""

from __future__ import annotations

import math
import time

import numpy as np

from maxmargin.core.vectors import SparseVector
from maxmargin.solvers.shards.by_piece import Blocks


class Local(Blocks):
    """Block-coordinate ascent on the blocks of a shard, against weights of all."""

    kept = (*Blocks.kept, "selective")

    def __init__(self, objective):
        super().__init__(objective)
        self._copy = np.zeros(0, objective.dtype)  # of w, to step on
        self.arrive(self._copy)

    def prepare(self) -> None:
        self.w = self.objective.weights()
        super().prepare()
        self.exact_point()
        self.w = None

    def move(self, w, stretch, passes, selective) -> tuple[SparseVector, float, float]:
        """Passes from a copy of w: (what they add to it, rise, bend), as in ``Move``."""
        planes = self.planes
        if len(self._copy) != len(w):
            self._copy = np.empty_like(w)
        self._copy[:] = w
        anchor, self.w = planes.alpha.copy(), self._copy
        self.planes = planes._replace(anchor=anchor, stretch=float(stretch))
        hoped = 0.0
        for turn in range(passes):
            hoped += self.visit(selective or turn > 0)
            if time.perf_counter() >= self.objective.deadline:
                break
        change, self.w = SparseVector.difference(self.w, w), None
        if stretch != 1.0:  # steps count as much against themselves: so long are they
            change.values[:] /= change.values.dtype.type(stretch)
        rise, bend = self._gain()
        if self.team.size > 1:  # what the steps gained, as they count it
            along = change.along(w) + 0.5 * stretch * change.times(change)
            self.team.heed(0.0, hoped, rise - 0.5 * bend - along)
        return change, rise, bend

    def _gain(self) -> tuple[float, float]:
        """Rise and bend of the dual, without w, from the anchor to alpha."""
        planes, form = self.planes, self.objective.form
        moved = planes.alpha[:, 1:] - planes.anchor[:, 1:]
        rise, bend = float(np.einsum("ij,ij->", moved, planes.c[:, 1:])), 0.0
        if form.quadratic:
            mass = np.where(planes.mass > 0, planes.mass, math.inf)
            used, more = planes.anchor[:, 1:].sum(axis=1), moved.sum(axis=1)
            rise -= float(np.sum(used * more / mass))
            bend = float(np.sum(more**2 / mass))
        return rise, bend

    def keep(self, share: float | None) -> None:
        """Keep a share of the last move, if it was not settled yet; None keeps nothing."""
        planes, share = self.planes, share or 0.0
        if len(planes.anchor) == 0:
            return
        if share < 1.0:
            old, alpha = planes.anchor, planes.alpha
            alpha[:, 1:] = old[:, 1:] + share * (alpha[:, 1:] - old[:, 1:])
            if not self.objective.form.quadratic:
                alpha[:, 0] = np.maximum(planes.mass - alpha[:, 1:].sum(axis=1), 0.0)
        self.planes = planes._replace(anchor=np.zeros((0, 0)), stretch=1.0)
