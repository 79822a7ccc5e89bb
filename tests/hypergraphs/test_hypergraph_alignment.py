"""Alignment kernels against the grid of states as a hypergraph."""

import math

import numpy as np
import pytest
from alignment_cases import marginals, random_batch
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import HypergraphBuilder
from maxmargin.alignments import pair_alignments as alignment
from maxmargin.core.formulation import make_form
from maxmargin.hypergraphs.batch import Example, make_batch
from maxmargin.testing import FORMULATIONS, Asker

CASES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "sizes": st.lists(
            st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=2
        ),
        "free": st.sampled_from([(0, 0), (0, 1), (1, 0), (1, 1)]),
        "loss": st.sampled_from([0, 1, "hamming"]),
    }
)


class Grid:
    """The graph of all alignments; every part has a name and a score.

    L: before the first match, runs of s (A) then t; M, X, Y as in alignment_dp.py; then
    T: a run of s after the last match, E: s has ended, F: a run of t after that.
    """

    def __init__(self, match, gaps):
        self.match, self.gaps = match, gaps
        self.scores = {}
        self.builder = HypergraphBuilder("end")
        n, m = match.shape
        self.builder.leaf(("A", 0))
        for i in range(n + 1):
            if i > 0:
                first = gaps.open_s[0] + gaps.at_t[0] if i == 1 else 0.0
                cost = 0.0 if gaps.free_s else first + gaps.extend_s[i - 1]
                self.add(("A", i), ("A", i - 1), cost)
            self.add(("L", i, 0), ("A", i), 0.0)
            for j in range(1, m + 1):
                first = gaps.open_t[0] + gaps.at_s[i] if j == 1 else 0.0
                cost = 0.0 if gaps.free_t else first + gaps.extend_t[j - 1]
                self.add(("L", i, j), ("L", i, j - 1), cost)
        for i in range(1, n + 1):
            for j in range(1, m + 1):
                for state in "LMXY":
                    before = (state, i - 1, j - 1)
                    self.builder.edge(("M", i, j), before, part=(i - 1, j - 1))
                self.scores[i - 1, j - 1] = match[i - 1, j - 1]
                open_s = gaps.open_s[i - 1] + gaps.at_t[j] + gaps.extend_s[i - 1]
                self.add(("X", i, j), ("M", i - 1, j), open_s)
                self.add(("X", i, j), ("X", i - 1, j), gaps.extend_s[i - 1])
                open_t = gaps.open_t[j - 1] + gaps.at_s[i] + gaps.extend_t[j - 1]
                self.add(("Y", i, j), ("M", i, j - 1), open_t)
                self.add(("Y", i, j), ("X", i, j - 1), open_t)
                self.add(("Y", i, j), ("Y", i, j - 1), gaps.extend_t[j - 1])
                free = 0.0 if gaps.free_s else 1.0
                self.add(("T", i, j), ("M", i - 1, j), free * open_s)
                self.add(("T", i, j), ("T", i - 1, j), free * gaps.extend_s[i - 1])
        for j in range(1, m + 1):
            self.add(("E", j), ("M", n, j), 0.0)
            self.add(("E", j), ("T", n, j), 0.0)
            free = 0.0 if gaps.free_t else 1.0
            open_t = gaps.open_t[j - 1] + gaps.at_s[n] + gaps.extend_t[j - 1]
            self.add(("F", j), ("E", j - 1), free * open_t)
            self.add(("F", j), ("F", j - 1), free * gaps.extend_t[j - 1])
        for last in (("E", m), ("F", m), ("L", n, m)):
            self.add("end", last, 0.0)
        self.graph = self.builder.build()
        self.theta = np.array([self.scores[part] for part in self.graph.parts])
        # numbers of the parts that stand for matched pairs
        self.pairs = [p for p, part in enumerate(self.graph.parts) if part[0] != "step"]

    def add(self, head, tail, score):
        part = ("step", head, tail)
        self.scores[part] = score
        self.builder.edge(head, tail, part=part)

    def labels(self, edges):
        """The alignment of a derivation, one slot per position of s."""
        y = [-1] * len(self.match)
        for part in self.graph.parts_of(edges):
            if part[0] != "step":
                y[part[0]] = part[1]
        return y

    def pairs_of(self, y):
        """The numbers of the pairs of an alignment."""
        parts = self.graph.parts
        return [p for p in self.pairs if y[parts[p][0]] == parts[p][1]]


def grids(seed, sizes, free, loss):
    """(batch, asker, grid, costs of its parts) for every example."""
    batch, model = random_batch(seed, tuple(sizes), loss=loss, free=free)
    rng = np.random.default_rng(seed)
    for i in range(len(sizes)):
        ask = Asker(batch, i, np.zeros(model.n_weights), True)
        # every part has a score of its own, also where a model would repeat them
        ask.theta[:] = 3 * rng.normal(size=ask.theta.shape)
        match, gaps = alignment.parts_of.py_func(batch, i, ask.theta)
        grid = Grid(match, gaps)
        unit = 1.0 if loss == "hamming" else 1.0 / max(batch.counted[i], 1)
        cost = np.zeros(grid.graph.n_parts)
        for p in grid.pairs:
            k, j = grid.graph.parts[p]
            u = batch.partner[batch.t.start[i] + j]
            if u >= 0 and abs(u - k) <= batch.shift:
                cost[p] = -unit
            elif loss == "hamming" and batch.judged[batch.start[i] + k]:
                cost[p] = unit
        yield batch, ask, grid, cost


@given(CASES)
def test_alignment_decodes_the_same(case):
    for batch, ask, grid, cost in grids(**case):
        truth = batch.y[batch.start[ask.i] : batch.start[ask.i + 1]]
        constant = -cost[grid.pairs_of(truth)].sum()
        n, m = grid.match.shape
        assert grid.graph.count() == math.comb(n + m, n)  # one derivation each
        for scale in (0.0, 1.0):
            y = ask.argmax(scale)
            (edges, value), *others = grid.graph.k_best(grid.theta + scale * cost, 2)
            assert ask.loss(y) == pytest.approx(constant + cost[grid.pairs_of(y)].sum())
            found = ask.value(y) + scale * ask.loss(y)
            assert value + scale * constant == pytest.approx(found, abs=1e-9)
            if not others or others[0][1] < value - 1e-9:
                assert grid.labels(edges) == y.tolist()


@given(CASES)
def test_alignment_has_the_same_marginals(case):
    for _, _, grid, _ in grids(**case):
        total, out = marginals(grid.match, grid.gaps)
        assert grid.graph.log_partition(grid.theta) == pytest.approx(total, abs=1e-9)
        found = grid.graph.marginals(grid.theta)
        for p in grid.pairs:
            assert found[p] == pytest.approx(out[grid.graph.parts[p]], abs=1e-9)


@given(CASES)
def test_alignment_has_the_same_most_violated(case):
    case["loss"] = "hamming"  # whole numbers, which both count
    for batch, ask, grid, cost in grids(**case):
        i, n = ask.i, grid.graph.n_parts
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        required = grid.pairs_of(truth)
        forbidden = grid.theta * 0.0
        forbidden[[p for p in grid.pairs if p not in required]] = -np.inf
        edges, _ = grid.graph.complete(forbidden, required)
        example = Example(
            grid.graph.arrays, np.arange(n + 1), np.arange(n), np.ones(n), edges, cost
        )
        other = Asker(make_batch([example]), 0, grid.theta, True)
        for rescaling, penalty in FORMULATIONS:
            form = make_form(rescaling, penalty, 1e-6)
            a, b = ask.most_violated(form), other.most_violated(form)
            assert a[0] == pytest.approx(b[0], abs=1e-9)
