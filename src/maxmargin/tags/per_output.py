"""One slack per sequence and labelling: the second soft margin of hidden Markov SVMs.

    primal  1/2 |w|^2 + sum_i C_i sum_(y != y_i) max(0, 1 - w.psi_i(y))
    dual    sum alpha - 1/2 |w|^2,   w = sum alpha_iy psi_i(y),   0 <= alpha_iy <= C_i

It bounds the rank loss: how many labellings score above the truth. The dual separates
into a box per labelling, so single coordinates are solved in closed form,

    alpha <- clip(alpha + (1 - w.psi) / |psi|^2, 0, C_i),

but every labelling within the margin is active, and at w = 0 that is every labelling
there is. They are listed by k-best search, k growing until the last one listed is out of
the margin. At most ``CAP`` are listed of one sequence at a time, ``STORED`` in all: where
that cuts a list the primal is not known. A fit that ends there has solved the problem of
the labellings it found, says so, and its certificate is not exact. For short sequences.
(Altun, Tsochantaridis & Hofmann 2003.)
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin.core.contract import difference, possible, score, shape, value
from maxmargin.core.kernel import inlined, kernel, run
from maxmargin.core.objective import Objective, Sweep
from maxmargin.core.state import require, require_within
from maxmargin.core.vectors import add_listed, squared_norm, sum_of_squares
from maxmargin.core.warn import warn
from maxmargin.engine.threads import over_ranges
from maxmargin.solvers.checkpoints.proofs import compare_weights
from maxmargin.solvers.result import Certificate
from maxmargin.solvers.solver import Solver
from maxmargin.tags.chain_inference import k_best_range

CAP = 200  # labellings listed of one sequence in one search
FIRST = 8  # ... at first
STORED = 1000  # labellings of one sequence in all
PASSES = 200  # over the planes between two searches, at most
SHARE = 0.1  # ... or until this share of the gap is left


class FoundPlanes(NamedTuple):
    """Planes of all sequences, one after the other in the order found."""

    owner: np.ndarray  # int64: the sequence
    first: np.ndarray  # int64: where its labelling begins in ``labels``
    labels: np.ndarray  # int32
    alpha: np.ndarray
    squared: np.ndarray  # |psi|^2


class PerOutputObjective(Objective):
    """Keeps every labelling that was ever found inside the margin."""

    kept = (*Objective.kept, "planes", "wanted", "cut", "stored", "proved")
    solver = "hinge-per-output"

    def __init__(self, batch, n_weights, form, mass, dtype, n_jobs=1, seed=0):
        # single coordinates move w thousands of times: double precision
        super().__init__(batch, n_weights, form, mass, np.float64, n_jobs, seed)
        self.planes = _no_planes()
        self.known: set = set()
        self.wanted = np.full(self.n, FIRST)  # k of the next search
        # sequences whose list was too long, last time
        self.cut = np.zeros(self.n, bool)
        self.stored = np.zeros(self.n, np.int64)  # planes by sequence
        self.proved = False  # an exact primal was seen

    grows = ("planes",)

    def check_restored(self) -> None:
        planes, start = self.planes, self.batch.start
        count = len(planes.owner)
        require(all(len(planes[k]) == count for k in (1, 3, 4)), "planes", "cut")
        require_within(planes.owner, 0, self.n - 1, "planes.owner")
        ends = np.cumsum(np.diff(start)[planes.owner])
        good = np.array_equal(planes.first, np.append(0, ends)[:count])
        good = good and len(planes.labels) == (ends[-1] if count else 0)
        require(good, "planes.first", "not where labellings begin")
        require((planes.alpha >= 0).all(), "planes.alpha", "negative")
        full = self.mass[planes.owner] * (1 + 1e-9)
        require((planes.alpha <= full).all(), "planes.alpha", "above C")
        require(run(all_possible, self.batch, planes), "planes.labels", "no outputs")
        require_within(self.wanted, 1, CAP + 1, "wanted")
        same = np.array_equal(self.stored, np.bincount(planes.owner, minlength=self.n))
        require(same, "stored", "not the number of planes")
        squared = planes.squared.copy()
        plane_norms(self.batch, planes, 0, self.buffers())
        close = np.allclose(squared, planes.squared, 1e-9, 1e-12)
        require(close, "planes.squared", "not that of the planes")
        planes.squared[:] = squared

    def restore(self, state) -> None:
        super().restore(state)
        owner, first, labels = self.planes[:3]
        cuts = zip(owner.tolist(), np.split(labels, first[1:]), strict=True)
        self.known = {(i, y.tobytes()) for i, y in cuts} if len(owner) else set()

    @property
    def exact(self) -> bool:
        return self.proved

    @property
    def scalable(self) -> bool:
        return self.proved

    def prepare(self) -> None:
        # one call each on no planes and no tokens
        buffers, w = self.buffers(), self.weights()
        plane_norms(self.batch, self.planes, 0, buffers)
        ascend(self.batch, self.planes, np.zeros(0, np.int64), self.mass, buffers, w)
        plane_margins(self.batch, self.planes, buffers, w, np.zeros(0))
        if self.n:
            one, row = _only(self.batch, 0), np.zeros((1, 1))
            k_best_range(one, 0, 0, w, row.astype(np.int32), row)
            truth_value(one, w)
        sum_of_squares(w[:0])

    def sweep(self, w, multiple=1.0) -> Sweep:
        """Store all violators at multiple * w; hinges are sums over stored planes."""
        w = multiple * w
        found: dict = {}

        def part(lo, hi):
            found[lo] = self._search(lo, hi, w)

        over_ranges(part, self.batch.start, self.team)
        self._store([pair for lo in sorted(found) for pair in found[lo]])
        self.oracle_calls += self.n
        margins = self.margins(w)
        slack = np.maximum(1.0 - margins, 0.0)
        owner, live = self.planes.owner, slack > 0
        hinges = np.bincount(owner, slack, self.n)
        leads = np.bincount(owner[live], margins[live], self.n)
        counts = np.bincount(owner[live], minlength=self.n).astype(float)
        return Sweep(hinges, counts, leads, np.zeros(0, np.int32))

    def margins(self, w) -> np.ndarray:
        """w.psi of every stored plane."""
        out = np.zeros(len(self.planes.owner))
        plane_margins(self.batch, self.planes, self.buffers(), w, out)
        return out

    def primal(self, w, multiple=1.0):
        deadline = self.deadline
        if not self.proved:  # one certificate is worth the time
            self.deadline = math.inf
        primal, multiple, sweep = super().primal(w, multiple)
        self.deadline = deadline
        if self.cut.any():
            return math.inf, multiple, sweep
        self.proved = True
        return primal, multiple, sweep

    def _search(self, lo, hi, w) -> list:
        """(sequence, labelling) of the violators that are not the truth."""
        batch, out = self.batch, []
        for i in range(lo, hi):
            first, last = batch.start[i], batch.start[i + 1]
            if first == last or self.mass[i] == 0:
                continue
            one = _only(batch, i)
            truth = batch.y[first:last]
            # the truth is a plane without features: it scores what the others must not
            base = truth_value(one, w)
            k = int(self.wanted[i])
            if time.perf_counter() >= self.deadline:
                self.cut[i] = True  # what was not looked for is not known
                continue
            while True:
                labels = np.zeros((k, last - first), np.int32)
                scores = np.full((k, 1), -np.inf)
                k_best_range(one, 0, 1, w, labels, scores)
                inside = int((scores[:, 0] > base - 1.0).sum())
                if inside < k or k > CAP:
                    break
                k = min(2 * k, CAP + 1)  # with one place for the truth
            self.cut[i] = inside == k
            self.wanted[i] = min(max(inside + 2, FIRST), CAP + 1)
            out += [(i, y) for y in labels[:inside] if not np.array_equal(y, truth)]
        return out

    def _store(self, pairs) -> None:
        new = []
        for i, y in pairs:
            key = (i, y.tobytes())
            if key in self.known:
                continue
            if self.stored[i] >= STORED:
                self.cut[i] = True
                continue
            self.known.add(key)
            self.stored[i] += 1
            new.append((i, y))
        if not new:
            return
        old = self.planes
        sizes = np.array([len(y) for _, y in new])
        zeros = np.zeros(len(new))
        self.planes = FoundPlanes(
            owner=np.concatenate([old.owner, [i for i, _ in new]]),
            first=np.concatenate(
                [old.first, len(old.labels) + np.cumsum(sizes) - sizes]
            ),
            labels=np.concatenate([old.labels, *(y for _, y in new)]),
            alpha=np.concatenate([old.alpha, zeros]),
            squared=np.concatenate([old.squared, zeros]),
        )
        plane_norms(self.batch, self.planes, len(old.owner), self.buffers())


class PerOutput(Solver):
    """Coordinate ascent over the planes stored, one search per step."""

    kept = (*Solver.kept, "fresh", "count")
    ends = True

    def __init__(self, objective: PerOutputObjective, planes=None):
        super().__init__(objective)
        self.buffers = objective.buffers()
        self.fresh = False  # whether planes were searched at this w
        self.count = 0  # planes at the last step

    def proved(self) -> float:
        saved, objective = self.w.copy(), self.objective
        planes = objective.planes
        require(objective.proved <= (self.count > 0), "proved", "of no planes")
        self.w[:] = 0.0
        add_planes(objective.batch, planes, self.buffers, self.w)
        compare_weights(saved, self.w)
        objective.proved = False  # unless the primal of the best weights proves it
        return float(planes.alpha.sum()) - 0.5 * sum_of_squares(self.w)

    def learn_from(self, sweep) -> None:
        self.fresh = True

    def step(self) -> None:
        objective = self.objective
        if not self.fresh:
            objective.sweep(self.w)
        self.fresh = False
        planes = objective.planes
        new = len(planes.owner) > self.count
        self.count = len(planes.owner)
        gap = self._gap()
        # Where lists are cut there is no primal to wait for, only an end of new planes.
        small = gap <= 10 * objective.form.search_tol * self.estimate
        self.stationary = bool(
            small and not new and objective.cut.any() and not objective.proved
        )
        target = SHARE * gap
        for passes in range(PASSES):
            order = objective.rng.permutation(len(planes.owner))
            ascend(objective.batch, planes, order, objective.mass, self.buffers, self.w)
            if time.perf_counter() >= objective.deadline:
                break
            # a gap costs as much as a pass
            if passes % 5 == 4 and self._gap() <= target:
                break
        self._gap()

    def _gap(self) -> float:
        """The gap on the planes stored; leaves ``dual`` and ``estimate``."""
        objective = self.objective
        squared = sum_of_squares(self.w)
        slack = np.maximum(1.0 - objective.margins(self.w), 0.0)
        self.estimate = 0.5 * squared + float(
            objective.mass[objective.planes.owner] @ slack
        )
        self.dual = float(objective.planes.alpha.sum()) - 0.5 * squared
        return self.estimate - self.dual

    def finish(self, solution) -> None:
        """Say so if no primal was ever known, and give what is known instead."""
        objective = self.objective
        if objective.proved:
            return
        solution.w = self.w
        solution.certificate = Certificate.of(self.estimate, self.dual, False)
        warn(
            f"In {int(objective.cut.sum())} of {objective.n} sequences more labellings lie "
            f"within the margin than are listed ({CAP} at a time, {STORED} in all): the "
            "objective counts those that were found, and certificate_ is not exact. Use "
            "objective='hinge', or shorter sequences, or a larger C.",
            ConvergenceWarning,
        )


def _no_planes() -> FoundPlanes:
    empty = np.zeros(0, np.int64)
    return FoundPlanes(empty, empty, np.zeros(0, np.int32), np.zeros(0), np.zeros(0))


def _only(batch, i):
    """A batch of sequence i alone, without copies of its features."""
    first, last = batch.start[i], batch.start[i + 1]
    return batch._replace(
        start=np.array([0, last - first]),
        y=batch.y[first:last],
        indptr=batch.indptr[first : last + 1],
        longest=int(last - first),
    )


@kernel
def truth_value(batch, w):
    """The score of the truth of the first sequence."""
    theta = np.empty(shape(batch))
    score(batch, 0, w, theta)
    return value(batch, 0, theta, batch.y)


@inlined
def list_plane(batch, planes, p, index, values):
    """List psi of plane p; returns the number of entries."""
    i, first = planes.owner[p], planes.first[p]
    size = batch.start[i + 1] - batch.start[i]
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    y = planes.labels[first : first + size]
    return difference(batch, i, y, 1.0, truth, 0.0, index, values)


@inlined
def dot_listed(w, index, values, m):
    total = 0.0
    for j in range(m):
        total += w[index[j]] * values[j]
    return total


@kernel
def all_possible(batch, planes):
    """Whether all labellings are outputs."""
    for p in range(len(planes.owner)):
        i, first = planes.owner[p], planes.first[p]
        size = batch.start[i + 1] - batch.start[i]
        if not possible(batch, i, planes.labels[first : first + size]):
            return False
    return True


@kernel
def add_planes(batch, planes, buffers, w):
    """w += sum alpha psi."""
    index, values = buffers.index, buffers.values
    for p in range(len(planes.owner)):
        if planes.alpha[p] > 0.0:
            m = list_plane(batch, planes, p, index, values)
            add_listed(w, planes.alpha[p], index, values, m)


@kernel
def plane_norms(batch, planes, begin, buffers):
    index, values = buffers.index, buffers.values
    for p in range(begin, len(planes.owner)):
        m = list_plane(batch, planes, p, index, values)
        planes.squared[p] = squared_norm(index, values, m, buffers.keys, buffers.sums)


@kernel
def plane_margins(batch, planes, buffers, w, out):
    index, values = buffers.index, buffers.values
    for p in range(len(planes.owner)):
        m = list_plane(batch, planes, p, index, values)
        out[p] = dot_listed(w, index, values, m)


@kernel
def ascend(batch, planes, order, mass, buffers, w):
    """One pass of exact steps along single coordinates."""
    index, values = buffers.index, buffers.values
    for p in order:
        if planes.squared[p] <= 0.0:
            planes.alpha[p] = mass[planes.owner[p]]  # no weights can tell it apart
            continue
        m = list_plane(batch, planes, p, index, values)
        slope = 1.0 - dot_listed(w, index, values, m)
        before = planes.alpha[p]
        after = before + slope / planes.squared[p]
        after = min(max(after, 0.0), mass[planes.owner[p]])
        if after != before:
            planes.alpha[p] = after
            add_listed(w, after - before, index, values, m)
