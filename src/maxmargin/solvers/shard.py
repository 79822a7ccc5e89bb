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
import sys
import time
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.objective import Objective
from maxmargin.core.sharded import Totals
from maxmargin.core.state import Stateful
from maxmargin.core.vectors import Listed
from maxmargin.solvers.local import LOCAL, Local


class Move(NamedTuple):
    """What a shard's steps do to the whole: at a share s of them, the dual gains

    s (rise - w.change) - 1/2 s^2 bend - 1/2 |s change|^2

    and products with others' changes. Where it was made does not matter: one that comes
    late is judged at the w of today.
    """

    change: Listed
    rise: float
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
            if (
                name not in sys.modules
            ):  # one that is being imported waits for this thread
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

    def ascend(self, mirror, epoch, stretch, selective, seconds, share) -> Move:
        """Steps from a mirror of w, after a share of the last ones was kept."""
        local = self._solver()
        local.keep(share)
        self.objective.deadline = time.perf_counter() + seconds
        before = self.objective.oracle_calls
        method = local.sweep_and_rise if self.solver == "n-slack" else local.visit
        change, rise, bend = local.move(mirror, stretch, method, selective)
        risk = local.risk()
        local.forget()
        self._release()
        calls = self.objective.oracle_calls - before
        return Move(change, rise, bend, risk, calls, epoch)

    def contribution(self, share) -> tuple[Listed, float]:
        """(sum alpha r psi over its examples, the rest of its dual)."""
        local = self._solver()
        local.keep(share)
        w, rest = local.exact_point()
        self._release()
        return Listed.of(w), rest

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
        if isinstance(self.objective.batch, Stateful):
            self.objective.batch.restore(state["batch"])
        self.objective.restore(state["objective"])
        local.restore(state["local"])
        self._release()
