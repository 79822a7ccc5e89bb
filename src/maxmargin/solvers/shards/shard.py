"""Some of the examples and their dual variables, where the data are.

What a shard is asked for are functions of w: the totals of a sweep, a gradient. Only
``ascend`` changes it: block-coordinate steps on its own blocks, from a w that the steps of
other shards change at the same time. Their sum may be too much, so that a shard remembers
where it began and takes back what is told to be too much (``share``); and it makes its
steps shorter beforehand, by a factor ``stretch`` with which their curvature counts:

    its steps maximise   l(alpha) - w.d - 1/2 stretch |d|^2,      d = what they add to w

With stretch = the number of shards, the gains of all are safe to add up; with 1 each goes
as far as if it were alone. (Jaggi et al. 2014; Ma et al. 2015.)
"""

from __future__ import annotations

import copy
import importlib
import sys
import time
from typing import Any, NamedTuple

from maxmargin.core.fingerprint import fingerprint
from maxmargin.core.objective import Objective
from maxmargin.core.pieces.totals import Totals
from maxmargin.core.state import Stateful
from maxmargin.core.vectors import SparseVector
from maxmargin.engine.threads import Team
from maxmargin.solvers.log.exponentiated import Exponentiated
from maxmargin.solvers.shards.local import Local
from maxmargin.solvers.shards.moves import Move, Part


class ShardSpec(NamedTuple):
    """What a shard is made of, wherever it will live."""

    objective: Objective  # without a batch
    source: Any  # load() gives the batch
    number: int
    solver: str
    modules: tuple[str, ...] = ()  # that say what its structure does

    def build(self, threads: int) -> Shard:
        for name in self.modules:  # another process may never have heard of them
            if (
                name not in sys.modules
            ):  # one that is being imported waits for this thread
                importlib.import_module(name)
        return Shard(self, threads)


class Shard:
    """See the module."""

    def __init__(self, spec: ShardSpec, threads: int = 1):
        self.number, self.solver = spec.number, spec.solver
        self.objective, batch = spec.objective, spec.source.load()
        self.objective.batch = batch
        self.objective.team = Team(threads if isinstance(batch, tuple) else 1)
        self._local: Local | None = None

    @property
    def local(self) -> Local:
        """The solver of its blocks, made when first needed."""
        if self._local is None:
            self._local = Local(self.objective)
        return self._local

    def prepare(self) -> None:
        """Compile what will be needed."""
        self.objective.prepare()
        if self.solver == "lbfgs":
            self.objective.prepare_gradient()
        else:
            self.local.prepare()

    def fingerprint(self) -> str:
        return fingerprint(self.objective.batch)

    # functions of w --------------------------------------------------------------------

    def totals(self, w, multiple=1.0) -> Totals:
        objective = self.objective
        before = objective.oracle_calls
        sweep = objective.sweep(w, multiple)
        return Totals.of(objective, sweep, objective.oracle_calls - before)

    def gradient(self, w) -> Part:
        """The sum of C_i loss_i, and its gradient."""
        began = time.perf_counter()
        losses, total = self.objective.losses_and_pull(w)
        value, vector = float(self.objective.mass @ losses), SparseVector.of(total)
        return Part(value, vector, time.perf_counter() - began)

    def check_maxima(self, w) -> None:
        self.objective.check_maxima(w, self.objective.sweep(w))

    def explore(self, w, looks: int) -> bool:
        return self.objective.explore(w, looks)

    def known_risk(self, w) -> float:
        """Of the outputs that a Python batch has met."""
        objective = self.objective
        hinges = objective.batch.known_hinges(w, objective.form, objective.mass)
        return objective.primal_from_hinges(0.0, hinges)

    def alone(self, times: int, passes: int) -> Part:
        """Its own solution, as if its examples were all: what it adds to the average."""
        began, objective = time.perf_counter(), copy.copy(self.objective)
        w = objective.weights()
        if (
            objective.solver_for(1.0) == "handover"
        ):  # else it would need too much memory
            objective.mass = times * objective.mass
            solver = Exponentiated(objective)
            for _ in range(passes):
                solver.step()
            w = solver.average.w / w.dtype.type(times)
        return Part(0.0, SparseVector.of(w), time.perf_counter() - began)

    # the dual point --------------------------------------------------------------------

    def ascend(self, w, epoch, stretch, passes, selective, seconds, share) -> Move:
        """Passes from a copy of w, after a share of the last ones was kept."""
        local, objective = self.local, self.objective
        began = time.perf_counter()
        local.keep(share)
        objective.deadline = began + seconds
        before = objective.oracle_calls
        change, rise, bend = local.move(w, stretch, passes, selective)
        risk, calls = local.risk(), objective.oracle_calls - before
        local.forget()
        seconds = time.perf_counter() - began
        return Move(change, rise, bend, risk, calls, epoch, seconds, {self.number: 1.0})

    def contribution(self, share) -> Part:
        """The rest of its dual, and sum alpha r psi over its examples."""
        self.local.keep(share)
        w, rest = self.local.exact_point()
        return Part(rest, SparseVector.of(w), 0.0)

    # checkpoints -----------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        kept = {"objective": self.objective.state(), "local": self.local.state()}
        if isinstance(self.objective.batch, Stateful):
            kept["batch"] = self.objective.batch.state()
        return kept

    def restore(self, state: dict[str, Any]) -> None:
        if isinstance(self.objective.batch, Stateful):
            self.objective.batch.restore(state["batch"])
        self.objective.restore(state["objective"])
        self.local.restore(state["local"])
