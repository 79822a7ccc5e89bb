"""Some of the examples and their dual variables, where the data are.

What a shard is asked for are functions of w: the totals of a sweep, a gradient, a cut. Only
``ascend`` changes it: block-coordinate steps on its own blocks, from a w that the steps of
other shards change at the same time. Their sum may be too much, so that a shard remembers
where it began and takes back what is told to be too much (``share``); and it makes its
steps shorter beforehand, by a factor ``stretch`` with which their curvature counts:

    its steps maximise   l(alpha) - w.d - 1/2 stretch |d|^2,      d = what they add to w

With stretch = the number of shards, the gains of all are safe to add up; with 1 each goes
as far as if it were alone. (Jaggi et al. 2014; Ma et al. 2015.)
"""

from __future__ import annotations

import importlib
import math
import time
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.objective import Objective
from maxmargin.core.sharded import Totals
from maxmargin.core.state import Stateful
from maxmargin.solvers.block_coordinate import BlockCoordinate
from maxmargin.solvers.exponentiated import Exponentiated
from maxmargin.solvers.n_slack import INNER, MAX_PASSES
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.solvers.planes import cached_pass, dual_value, make_planes, store_planes
from maxmargin.solvers.schedule import Schedule
from maxmargin.solvers.signs import Signs

SPARSE = 1 / 3  # share of changed weights up to which they are listed


class Listed(NamedTuple):
    """A vector as long as w: entries that are not zero, or (no index) all of them."""

    index: np.ndarray | None
    values: np.ndarray

    @classmethod
    def of(cls, vector: np.ndarray) -> Listed:
        index = np.flatnonzero(vector)
        if len(index) > SPARSE * len(vector):
            return cls(None, vector)
        return cls(index.astype(np.int32), vector[index])

    def dot(self, dense: np.ndarray) -> float:
        dense = dense if self.index is None else dense[self.index]
        return float(np.dot(self.values.astype(np.float64), dense.astype(np.float64)))

    def add_to(self, dense: np.ndarray, share: float = 1.0) -> None:
        values = self.values if share == 1.0 else dense.dtype.type(share) * self.values
        if self.index is None:
            dense += values
        else:
            dense[self.index] += values


class Move(NamedTuple):
    """What a shard's steps do to the whole: at a share s of them, the dual gains

    s slope - 1/2 s^2 bend - 1/2 |s change|^2       (and products with others' changes)
    """

    change: Listed
    slope: float
    bend: float
    risk: float  # of the examples, as they were met
    calls: int
    epoch: int  # it belongs to the dual point that had this number


class ShardSpec(NamedTuple):
    """What a shard is made of, wherever it will live."""

    objective: Objective  # without a batch
    source: Any  # load() gives the batch
    solver: str
    modules: tuple[str, ...] = ()  # that say what its structure does

    def build(self) -> Shard:
        for name in self.modules:  # another process may never have heard of them
            importlib.import_module(name)
        return Shard(self.objective, self.source, self.solver)


class Shard:
    """See the module."""

    def __init__(self, objective: Objective, source: Any, solver: str):
        self.objective, self.source, self.solver = objective, source, solver
        self.local: Any = None

    def _load(self) -> Objective:
        """The objective with its batch."""
        self.objective.batch = self.source.load()
        return self.objective

    def _release(self) -> None:
        if getattr(self.source, "transient", False):
            self.objective.batch = None

    def _solver(self) -> Any:
        """The local solver, made when first needed."""
        objective = self._load()
        if self.local is None:
            self.local = LOCAL.get(self.solver, Local)(objective)
        return self.local

    def prepare(self) -> None:
        """Compile what will be needed."""
        objective = self._load()
        objective.prepare()
        if self.solver in ("lbfgs", "handover"):
            objective.prepare_gradient()
        if self.solver != "lbfgs":
            self._solver().prepare()
        self._release()

    def fingerprint(self) -> str:
        from maxmargin.solvers.fingerprint import fingerprint

        found = fingerprint(self._load().batch)
        self._release()
        return found

    # functions of w --------------------------------------------------------------------

    def totals(self, w, multiple=1.0) -> Totals:
        objective = self._load()
        before = objective.oracle_calls
        sweep = objective.sweep(w, multiple)
        totals = Totals.of(objective, sweep, objective.oracle_calls - before)
        self._release()
        return totals

    def gradient(self, w) -> tuple[float, np.ndarray]:
        """(sum of C_i loss_i, its gradient)."""
        objective = self._load()
        losses, total = objective.losses_and_pull(w)
        self._release()
        return float(objective.mass @ losses), total

    def check_maxima(self, w) -> None:
        self._load().check_maxima(w, self.objective.sweep(w))

    def explore(self, w, looks: int) -> bool:
        return self._load().explore(w, looks)

    def known_risk(self, w) -> float:
        """Of the outputs that a Python batch has met."""
        objective = self._load()
        hinges = objective.batch.known_hinges(w, objective.form, objective.mass)
        return objective.primal_from_hinges(0.0, hinges)

    def cut(self, w, stored: bool) -> tuple[Listed, float, float, int]:
        """A cut of its risk at w, of new outputs or of stored ones (``one_slack.py``)."""
        local = self._solver()
        before = self.objective.oracle_calls
        local.w = w
        found = local.recall() if stored else local.search()
        local.w = None
        self._release()
        calls = self.objective.oracle_calls - before
        return Listed.of(found.gradient), found.offset, found.risk, calls

    # the dual point --------------------------------------------------------------------

    def ascend(self, w, epoch, stretch, parts, selective, seconds, share) -> Move:
        """Steps from w, after a share of the last ones was kept."""
        local = self._solver()
        local.keep(share)
        self.objective.deadline = time.perf_counter() + seconds
        before = self.objective.oracle_calls
        method = local.sweep_and_rise if self.solver == "n-slack" else local.visit_part
        change, slope, bend = local.move(w, stretch, method, parts, selective)
        risk = local.risk()
        local.forget()
        self._release()
        calls = self.objective.oracle_calls - before
        return Move(change, slope, bend, risk, calls, epoch)

    def contribution(self, share) -> tuple[Listed, float]:
        """(sum alpha r psi over its examples, the rest of its dual)."""
        local = self._solver()
        local.keep(share)
        local.w = self.objective.weights()
        local.rebuild()
        found = Listed.of(local.w)
        local.w = None
        self._release()
        return found, local.rest_of_dual()

    # checkpoints -----------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        local = self._solver()
        kept = {"objective": self.objective.state(), "local": local.state()}
        if isinstance(self.objective.batch, Stateful):
            kept["batch"] = self.objective.batch.state()
        self._release()
        return kept

    def restore(self, state: dict[str, Any]) -> None:
        local = self._solver()
        if "batch" in state:
            self.objective.batch.restore(state["batch"])
        self.objective.restore(state["objective"])
        local.restore(state["local"])
        self._release()


class _InParts:
    """Passes in parts, each of which is a round."""

    def visit_part(self, parts: int, selective: bool) -> None:
        """The next of ``parts`` parts of a pass."""
        if len(self.rest) == 0:
            self.selective = selective
            self.rest = self.due()
            self.size = -(-len(self.rest) // parts)
            self.schedule.passes += 1
        order, self.rest = self.rest[: self.size], self.rest[self.size :]
        self.rise(order, alone=parts > 1)


class Local(_InParts, BlockCoordinate):
    """Block-coordinate ascent on the blocks of a shard, against weights of all."""

    kept = ("planes", "schedule", "hinges", "selective", "rest", "size")

    def __init__(self, objective: Objective):
        self.objective = objective
        self.buffers = objective.buffers()
        self.signs = Signs(objective)
        self.planes = make_planes(objective.batch, objective.form, objective.mass)
        self.schedule = Schedule(objective)
        self.hinges = np.zeros(objective.n)
        self.selective = True
        self.crowded, self.gained, self.searching = 0, 0.0, 0.0
        self.cached_cost = 1.0 if isinstance(objective.batch, tuple) else 0.0
        self.w: Any = None
        self.rest: np.ndarray = np.zeros(0, np.int64)  # blocks still due in this pass
        self.size = 0  # of a part of it
        self.dual = 0.0

    def prepare(self) -> None:
        self.w = np.zeros(self.objective.n_weights, self.objective.dtype)
        super().prepare()
        self.ask(store_planes, self.objective.batch.y[:0], np.zeros(0, np.int64))
        self.rebuild()
        self.w = None

    def move(self, w, stretch, method, *arguments) -> tuple[Listed, float, float]:
        """Steps by a method: (what they add to w, slope, bend) as in :class:`Move`."""
        planes = self.planes
        anchor = planes.alpha.copy()
        self.w = w.copy()
        self.planes = planes._replace(anchor=anchor, stretch=float(stretch))
        method(*arguments)
        self.w -= w
        if stretch != 1.0:
            self.w /= self.w.dtype.type(stretch)
        change = Listed.of(self.w)
        self.w = None
        slope, bend = self._gain()
        return change, slope - change.dot(w), bend

    def _gain(self) -> tuple[float, float]:
        """Slope and bend of the dual, without w, from the anchor to alpha."""
        planes, form = self.planes, self.objective.form
        moved = planes.alpha[:, 1:] - planes.anchor[:, 1:]
        slope, bend = float(np.einsum("ij,ij->", moved, planes.c[:, 1:])), 0.0
        if form.quadratic:
            mass = np.where(planes.mass > 0, planes.mass, math.inf)
            used, more = planes.anchor[:, 1:].sum(axis=1), moved.sum(axis=1)
            slope -= float(np.sum(used * more / mass))
            bend = float(np.sum(more**2 / mass))
        return slope, bend

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

    def rest_of_dual(self) -> float:
        return dual_value(self.planes, self.objective.form, 0.0)

    def sweep_and_rise(self, parts: int, selective: bool) -> None:
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


class LocalGibbs(_InParts, Exponentiated):
    """Exponentiated gradient on the distributions of a shard, against weights of all.

    Between two distributions there is no third one to go to: moves are kept whole, or not
    at all.
    """

    kept = ("gibbs", "eta", "schedule", "rest", "size")

    def __init__(self, objective: Objective):
        super().__init__(objective)
        self.average = None
        self.w = None
        self.rest, self.size = np.zeros(0, np.int64), 0
        self.before: Any = None  # what to go back to

    def prepare(self) -> None:
        self.w = self.objective.weights()
        super().prepare()
        self.w = None

    def due(self) -> np.ndarray:
        return self.schedule.choose()

    def move(self, w, stretch, method, *arguments) -> tuple[Listed, float, float]:
        """Steps by a method: (what they add to w, slope, bend) as in :class:`Move`."""
        scores, expectations, entropy = (a.copy() for a in self.gibbs[1:])
        self.before = scores, expectations, entropy, self.eta.copy()
        self.stretch, self.dual = float(stretch), 0.0
        self.w = w.copy()
        method(*arguments)
        self.w -= w
        if stretch != 1.0:
            self.w /= self.w.dtype.type(stretch)
        change = Listed.of(self.w)
        self.w = None
        slope = float(self.objective.mass @ (self.gibbs.entropy - entropy))
        return change, slope - change.dot(w), 0.0

    def keep(self, share: float | None) -> None:
        if self.before is not None and share != 1.0:
            for now, old in zip((*self.gibbs[1:], self.eta), self.before, strict=True):
                now[:] = old
        self.before = None

    def rebuild(self) -> None:
        self._rebuild()

    def risk(self) -> float:
        """What its blocks add to the gap, as they were met."""
        return float(self.schedule.gaps.sum())

    def rest_of_dual(self) -> float:
        return float(self.objective.mass @ self.gibbs.entropy)

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
