"""The chart parser against the same chart as a hypergraph."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_cases import random_parses

from maxmargin import HypergraphBuilder
from maxmargin.core.formulation import make_form
from maxmargin.hypergraphs.batch import Example, make_batch
from maxmargin.testing import FORMULATIONS, Asker
from maxmargin.trees.cky.batch import span_at
from maxmargin.trees.cky.chart import cell_of
from maxmargin.trees.cky.parses import sentence_of

CASES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 10**6),
        "lengths": st.lists(st.integers(1, 5), min_size=1, max_size=2),
        "with_features": st.booleans(),
        "free": st.booleans(),
    }
)


class Parses:
    """The graph of all trees of example i. A part is one of

    ("rule", begin, end, number, split), ("tag", begin, begin + 1, tag),
    ("chain", begin, end, number), ("bare", begin, end, symbol), ("root", number)
    """

    def __init__(self, batch, i, theta):
        self.batch, self.i = batch, i
        self.tables = batch.grammar
        self.length = int(batch.token_start[i + 1] - batch.token_start[i])
        builder = HypergraphBuilder("tree")
        for e in range(1, self.length + 1):
            for b in range(e):
                self.add_span(builder, b, e)
        for q, symbol in enumerate(self.tables.roots.tolist()):
            builder.edge("tree", ("item", 0, self.length, symbol), part=("root", q))
        self.graph = builder.build()
        self.theta = np.array(
            [theta[0, self.places(part)].sum() for part in self.graph.parts]
        )

    def add_span(self, builder, b, e):
        tables, word = self.tables, self.batch.token_start[self.i] + b
        if e - b == 1:
            first, last = self.batch.tag_start[word : word + 2]
            for tag in self.batch.tags[first:last].tolist():
                builder.edge(("core", b, e, tag), part=("tag", b, e, tag))
        for k in range(b + 1, e):
            for r in range(len(tables.left)):
                left = ("item", b, k, int(tables.left[r]))
                right = ("item", k, e, int(tables.right[r]))
                core = ("core", b, e, int(tables.parent[r]))
                builder.edge(core, left, right, part=("rule", b, e, r, k))
        for symbol in range(tables.n_symbols):
            core = ("core", b, e, symbol)
            builder.edge(("item", b, e, symbol), core, part=("bare", b, e, symbol))
        for c in range(len(tables.top)):
            item = ("item", b, e, int(tables.top[c]))
            core = ("core", b, e, int(tables.bottom[c]))
            builder.edge(item, core, part=("chain", b, e, c))

    def labels(self, part):
        """The labels of the brackets that a part makes, from the lowest to the highest."""
        kind, tables = part[0], self.tables
        found = []
        if kind == "rule":
            found = [tables.label[tables.parent[part[3]]]]
        elif kind == "chain":
            first, last = tables.chain_start[part[3] : part[3] + 2]
            found = tables.chain_labels[first:last][::-1]
        return [int(label) for label in found if label >= 0]

    def places(self, part) -> list[int]:
        """The entries of theta that a part adds up."""
        batch, kind = self.batch, part[0]
        if kind == "root":
            return [batch.root_at + part[1]]
        if kind == "tag":
            place = batch.tag_at + part[1] * self.tables.n_tags + part[3]
            return [place] if batch.n_word_features else []
        out = [part[3]] if kind == "rule" else []
        out += [batch.chain_at + part[3]] if kind == "chain" else []
        if batch.n_span_features:
            row = span_at(batch, self.i) + self.cell(part) * self.tables.n_labels
            out += [row + label for label in self.labels(part)]
        return out

    def cell(self, part) -> int:
        return int(cell_of.py_func(part[1], part[2]))

    def parts_of(self, y):
        """The parts of a tree given as a labelling."""
        out, waiting = [], [(0, 0, self.length)]
        while waiting:
            node, b, e = waiting.pop()
            chain, rule, split = y[3 * node : 3 * node + 3].tolist()
            symbol = int(self.tables.parent[rule]) if rule >= 0 else -1 - rule
            if rule >= 0:
                out.append(("rule", b, e, rule, split))
                waiting += [(node + 1, b, split), (node + 2 * (split - b), split, e)]
            else:
                out.append(("tag", b, e, symbol))
            if chain >= 0:
                out.append(("chain", b, e, chain))
                symbol = int(self.tables.top[chain]) if node == 0 else symbol
            else:
                out.append(("bare", b, e, symbol))
            if node == 0:
                out.append(("root", self.tables.roots.tolist().index(symbol)))
        return out

    def costs(self, y):
        """Of the Hamming loss, where brackets match one to one within a span."""
        gold = Counter(
            (part[1:3], label)
            for part in self.parts_of(y)
            for label in self.labels(part)
        )
        out = np.zeros(self.graph.n_parts)
        for p, part in enumerate(self.graph.parts):
            below = Counter()
            if part[0] == "chain":
                below[int(self.tables.label[self.tables.bottom[part[3]]])] += 1
            for label in self.labels(part):
                right = gold[part[1:3], label] > below[label]
                out[p] += -1.0 if right else 1.0
                below[label] += 1
        return out


def parses(seed, lengths, with_features, free):
    """(asker, truth, graph) for every example, with the Hamming loss."""
    batch, size = random_parses(seed, lengths, "hamming", with_features, free)
    w = np.random.default_rng(seed).normal(size=size)
    for i in range(len(lengths)):
        ask = Asker(batch, i, w, True)
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        yield ask, truth, Parses(batch, i, ask.theta)


@given(CASES)
def test_parser_decodes_the_same(case):
    for ask, truth, trees in parses(**case):
        graph, costs = trees.graph, trees.costs(truth)
        number = {part: p for p, part in enumerate(graph.parts)}
        constant = -costs[[number[part] for part in trees.parts_of(truth)]].sum()
        for scale in (0.0, 1.0):
            y = ask.argmax(scale)
            parts = trees.parts_of(y)
            chosen = [number[part] for part in parts]
            assert ask.value(y) == pytest.approx(trees.theta[chosen].sum(), abs=1e-9)
            assert ask.loss(y) == pytest.approx(costs[chosen].sum() + constant)
            ranked = graph.k_best(trees.theta + scale * costs, 2)
            edges, value = ranked[0]
            found = ask.value(y) + scale * (ask.loss(y) - constant)
            assert value == pytest.approx(found, abs=1e-9)
            if len(ranked) == 1 or ranked[1][1] < value - 1e-9:
                assert sorted(graph.parts_of(edges)) == sorted(parts)


@given(CASES)
def test_parser_has_the_same_sums(case):
    for ask, _, trees in parses(**case):
        total, mu = ask.sums()
        wanted = trees.graph.log_partition(trees.theta)
        assert total == pytest.approx(wanted, abs=1e-9)
        expected = sentence_of(ask.batch, ask.i, mu)
        rules, chains = np.zeros(len(expected.rule)), np.zeros(len(expected.chain))
        uses = trees.graph.marginals(trees.theta)
        for part, p in zip(trees.graph.parts, uses, strict=True):
            if part[0] == "rule":
                rules[part[3]] += p
            elif part[0] == "chain":
                chains[part[3]] += p
        np.testing.assert_allclose(expected.rule, rules, atol=1e-9)
        np.testing.assert_allclose(expected.chain, chains, atol=1e-9)


@given(CASES)
def test_parser_has_the_same_most_violated(case):
    for ask, truth, trees in parses(**case):
        graph, n = trees.graph, trees.graph.n_parts
        number = {part: p for p, part in enumerate(graph.parts)}
        required = [number[part] for part in trees.parts_of(truth)]
        edges, _ = graph.complete(np.zeros(n), required)
        costs = trees.costs(truth)
        example = Example(
            graph.arrays, np.arange(n + 1), np.arange(n), np.ones(n), edges, costs
        )
        other = Asker(make_batch([example]), 0, trees.theta, True)
        for rescaling, penalty in FORMULATIONS:
            form = make_form(rescaling, penalty, 1e-6)
            a, b = ask.most_violated(form), other.most_violated(form)
            assert a[0] == pytest.approx(b[0], abs=1e-9)
