"""The solvers of a shard: steps on its own blocks, against weights that all shards share.

Each makes *moves*: it remembers where it began, takes steps from a copy of w, tells what
they change, and hears how much of that to keep (``shard.py``, ``parallel_ascent.py``).
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from maxmargin.core import mirrors
from maxmargin.core.objective import Objective
from maxmargin.core.state import require, restored
from maxmargin.core.vectors import Listed
from maxmargin.solvers.block_coordinate import BlockCoordinate
from maxmargin.solvers.exponentiated import Exponentiated
from maxmargin.solvers.n_slack import INNER, MAX_PASSES
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.solvers.planes import cached_pass, make_planes, store_planes
from maxmargin.solvers.schedule import Schedule
from maxmargin.solvers.signs import Signs


class _Moving:
    """Steps from weights of all, a pass in every round."""

    marks = False  # whether steps mark the pages that they write to

    def changed(self, mirror, stretch, method, *arguments) -> Listed:
        """What a method's steps from a copy of w add to it, with their true length."""
        self.w = mirror.w
        method(*arguments)
        self.w = None
        index, values = mirror.take(self.marks)
        if stretch != 1.0:
            values /= values.dtype.type(stretch)
        return Listed(index, values)

    def visit(self, selective: bool) -> None:
        """A pass over the blocks that are due; all are, unless it is selective."""
        self.selective = selective
        order = self.due()
        self.schedule.passes += 1
        self.rise(order)


class Local(_Moving, BlockCoordinate):
    """Block-coordinate ascent on the blocks of a shard, against weights of all."""

    kept = ("planes", "schedule", "hinges", "selective")
    marks = True

    def __init__(self, objective: Objective):
        self.objective, self.team = objective, objective.team
        self.buffers, self._others = objective.buffers(), []
        self.signs = Signs(objective)
        self.planes = make_planes(objective.batch, objective.form, objective.mass)
        self.schedule = Schedule(objective)
        self.hinges = np.zeros(objective.n)
        self.selective = True
        self.crowded, self.gained, self.searching = 0, 0.0, 0.0
        self.cached_cost = 1.0 if isinstance(objective.batch, tuple) else 0.0
        self.w: Any = None
        self.dual = 0.0

    def prepare(self) -> None:
        self.w = np.zeros(self.objective.n_weights, self.objective.dtype)
        super().prepare()
        self.ask(store_planes, self.objective.batch.y[:0], np.zeros(0, np.int64))
        mirrors.prepare(self.w.dtype)
        self.exact_point()
        self.w = None

    def move(self, mirror, stretch, method, *arguments) -> tuple[Listed, float, float]:
        """Steps by a method: (what they add to w, rise, bend) as in ``shard.Move``."""
        planes = self.planes
        self.buffers = self.buffers._replace(pages=mirror.pages)
        anchor = planes.alpha.copy()
        self.planes = planes._replace(anchor=anchor, stretch=float(stretch))
        return self.changed(mirror, stretch, method, *arguments), *self._gain()

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

    def risk(self) -> float:
        """Of its examples, as they were met."""
        return self.objective.primal_from_hinges(0.0, self.hinges)

    def sweep_and_rise(self, selective: bool) -> None:
        """As n-slack does: search at fixed w, then ascend over all stored planes."""
        sweep = self.objective.sweep(self.w)
        self.hinges[:] = sweep.hinges
        chosen = np.flatnonzero(sweep.hinges > 0)
        while self.ask(store_planes, sweep.outputs, chosen):
            self.more_room()
        gaps, first = np.zeros(self.objective.n), 0.0
        for turn in range(MAX_PASSES):
            order = self.objective.rng.permutation(self.objective.n)
            self.ask(cached_pass, self.buffers, order, self.w, gaps)
            first = first if turn else float(gaps.sum())
            late = time.perf_counter() >= self.objective.deadline
            if late or gaps.sum() <= INNER * first:
                break


class LocalGibbs(_Moving, Exponentiated):
    """Exponentiated gradient on the distributions of a shard, against weights of all.

    Between two distributions there is no third one to go to: moves are kept whole, or not
    at all.
    """

    kept = ("gibbs", "eta", "schedule", "before")

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self.average = None
        self.w = None
        self.before: Any = None  # what to go back to

    def example(self, name: str):
        return (*self.gibbs[1:], self.eta) if name == "before" else None

    def check_restored(self) -> None:
        super().check_restored()
        if self.before is not None:
            now = *self.gibbs[1:], self.eta
            require(len(self.before) == len(now), "before", "not complete")
            for like, saved in zip(now, self.before, strict=True):
                restored(like, saved, "before")

    def prepare(self) -> None:
        self.w = self.objective.weights()
        super().prepare()
        self.w = None

    def due(self) -> np.ndarray:
        return self.schedule.choose()

    def move(self, mirror, stretch, method, *arguments) -> tuple[Listed, float, float]:
        """Steps by a method: (what they add to w, rise, bend) as in ``shard.Move``."""
        scores, expectations, entropy = (a.copy() for a in self.gibbs[1:])
        self.before = scores, expectations, entropy, self.eta.copy()
        self.stretch, self.dual = float(stretch), 0.0
        change = self.changed(mirror, stretch, method, *arguments)
        return change, float(self.objective.mass @ (self.gibbs.entropy - entropy)), 0.0

    def keep(self, share: float | None) -> None:
        if self.before is not None and share != 1.0:
            for now, old in zip((*self.gibbs[1:], self.eta), self.before, strict=True):
                now[:] = old
        self.before = None

    def risk(self) -> float:
        """What its blocks add to the gap, as they were met."""
        return float(self.schedule.gaps.sum())

    def forget(self) -> None:
        """There are no outputs to forget."""


class Cuts(OneSlack):
    """A shard's stored outputs, of which cuts are made."""

    kept = ("planes",)


LOCAL = {
    "one-slack": Cuts,
    "proximal-bundle": Cuts,
    "exponentiated": LocalGibbs,
    "handover": LocalGibbs,
}
