"""The k best trees of a sentence, exactly, by lazy enumeration.

Every node of the chart ranks its derivations only as far as they are asked for: its
next-best one differs from one already ranked in the rank of one child. (Huang & Chiang
2005, algorithm 3.) The chart is compiled; the ranking, which touches few nodes, is not.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from maxmargin.core.contract import score
from maxmargin.core.kernel import kernel
from maxmargin.trees.cky.cells import cell_of
from maxmargin.trees.cky.chart import inside
from maxmargin.trees.cky.parses import sentence_of


class Edge(NamedTuple):
    """One way to build a node; ``slots`` are what it writes at the node's place."""

    weight: float
    children: tuple
    slots: tuple


def k_best(batch, i: int, w: np.ndarray, k: int) -> list[tuple[np.ndarray, float]]:
    """Up to k labellings of example i with their scores, best first."""
    if batch.start[i + 1] == batch.start[i]:
        return []
    ranking = Ranking(batch.grammar, *_chart(batch, i, w.astype(np.float64)))
    trees = []
    for rank in range(k):
        found = ranking.derivation("root", rank)
        if found is None:
            break
        y = np.full(int(batch.start[i + 1] - batch.start[i]), -1, np.int32)
        ranking.write("root", rank, 0, y)
        trees.append((y, found[0]))
    return trees


@kernel
def _chart(batch, i, w):
    theta = np.empty((1, max(batch.n_scores, 1)))
    score(batch, i, w, theta)
    sentence = sentence_of(batch, i, theta)
    return sentence, inside(batch.grammar, sentence)


class Ranking:
    """Nodes: "root", ("best", begin, end, symbol), ("core", begin, end, symbol)."""

    def __init__(self, tables, sentence, chart):
        self.tables, self.sentence, self.chart = tables, sentence, chart
        self.ranked: dict = {}  # node -> derivations (score, edge, ranks of children)
        self.heaps: dict = {}
        self.queued: dict = {}
        order = np.argsort(tables.top, kind="stable")
        self.by_top = (
            order,
            np.searchsorted(tables.top[order], np.arange(tables.n_symbols + 1)),
        )

    def derivation(self, node, rank: int):
        """The rank-th best derivation of a node, or None if it has fewer."""
        if node not in self.ranked:
            self.ranked[node], self.queued[node] = [], set()
            edges = self._edges(node)
            self.heaps[node] = heap = []
            for number, edge in enumerate(edges):
                best = edge.weight + sum(map(self._best, edge.children))
                heap.append((-best, number, (0,) * len(edge.children), edge))
            heapq.heapify(heap)
        ranked, heap = self.ranked[node], self.heaps[node]
        while len(ranked) <= rank:
            if ranked:
                self._queue_successors(node, *ranked[-1])
            if not heap:
                return None
            negative, number, ranks, edge = heapq.heappop(heap)
            ranked.append((-negative, edge, ranks, number))
        return ranked[rank]

    def _queue_successors(self, node, value, edge, ranks, number) -> None:
        for place, child in enumerate(edge.children):
            following = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
            if (number, following) in self.queued[node]:
                continue
            self.queued[node].add((number, following))
            after = self.derivation(child, ranks[place] + 1)
            if after is not None:
                before = self.derivation(child, ranks[place])
                entry = (before[0] - after[0] - value, number, following, edge)
                heapq.heappush(self.heaps[node], entry)

    def _best(self, node) -> float:
        kind, begin, end, symbol = node
        cell = cell_of(begin, end)
        if kind == "best":
            return float(self.chart.best[cell, symbol])
        return float(self.chart.core[self._item(cell, symbol)])

    def _item(self, cell, symbol) -> int:
        first, last = self.chart.first[cell], self.chart.last[cell]
        return first + int(np.argmax(self.chart.symbol[first:last] == symbol))

    def _edges(self, node) -> list[Edge]:
        tables, sentence, chart = self.tables, self.sentence, self.chart
        if node == "root":
            n = sentence.length
            row = chart.best[cell_of(0, n)]
            return [
                Edge(float(sentence.root[q]), (("best", 0, n, a),), ())
                for q, a in enumerate(tables.roots.tolist())
                if row[a] > -np.inf
            ]
        kind, begin, end, symbol = node
        cell = cell_of(begin, end)
        if kind == "best":
            return self._chains(begin, end, cell, symbol)
        label = tables.label[symbol]
        mark = float(sentence.label[cell, label]) if self._marked(label) else 0.0
        if end - begin == 1:  # only a tag has a core over one word
            tag = float(sentence.tag[begin, symbol]) if len(sentence.tag) else 0.0
            return [Edge(tag, (), (-1 - symbol, 0))]
        rules = tables.of_parent[
            tables.by_parent[symbol] : tables.by_parent[symbol + 1]
        ]
        left, right = tables.left[rules], tables.right[rules]
        edges = []
        for k in range(begin + 1, end):
            value = (
                chart.best[cell_of(begin, k), left] + chart.best[cell_of(k, end), right]
            )
            for m in np.flatnonzero(value > -np.inf).tolist():
                children = (
                    ("best", begin, k, int(left[m])),
                    ("best", k, end, int(right[m])),
                )
                weight = float(sentence.rule[rules[m]]) + mark
                edges.append(Edge(weight, children, (int(rules[m]), k)))
        return edges

    def _chains(self, begin, end, cell, symbol) -> list[Edge]:
        tables, sentence, chart = self.tables, self.sentence, self.chart
        first, last = chart.first[cell], chart.last[cell]
        core = np.full(tables.n_symbols, -np.inf)
        core[chart.symbol[first:last]] = chart.core[first:last]
        edges = []
        if core[symbol] > -np.inf:
            edges.append(Edge(0.0, (("core", begin, end, symbol),), (-1,)))
        order, start = self.by_top
        for c in order[start[symbol] : start[symbol + 1]].tolist():
            bottom = int(tables.bottom[c])
            if core[bottom] == -np.inf:
                continue
            weight = float(sentence.chain[c])
            for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
                label = tables.chain_labels[u]
                if self._marked(label):
                    weight += float(sentence.label[cell, label])
            edges.append(Edge(weight, (("core", begin, end, bottom),), (c,)))
        return edges

    def _marked(self, label) -> bool:
        return label >= 0 and len(self.sentence.label) > 0

    def write(self, node, rank: int, at: int, y: np.ndarray) -> None:
        """Slots of y from node number ``at`` on <- this derivation."""
        stack = [(node, rank, at)]
        while stack:
            node, rank, at = stack.pop()
            _, edge, ranks, _ = self.derivation(node, rank)
            if len(edge.slots) == 1:
                y[3 * at] = edge.slots[0]
            elif edge.slots:
                y[3 * at + 1 : 3 * at + 3] = edge.slots
            if len(edge.children) == 2:
                split = edge.slots[1]
                places = (at + 1, at + 2 * (split - node[1]))
            else:
                places = (at,)
            stack += zip(edge.children, ranks, places, strict=False)
