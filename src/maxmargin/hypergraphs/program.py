"""A dynamic programme of your own: say what the graph is, the rest is here.

>>> from maxmargin import DynamicProgram, HypergraphBuilder, StructuralSVM
>>> class Words(DynamicProgram):
...     '''Cut a text without spaces into words; an output is a list of words.'''
...     def graph(self, x):
...         builder = HypergraphBuilder(root=len(x))
...         builder.leaf(0)
...         for end in range(1, len(x) + 1):
...             for begin in range(max(0, end - 6), end):
...                 word = x[begin:end]
...                 builder.edge(end, begin, part=(begin, end), features=[word])
...         return builder
...     def parts_of(self, x, y):
...         ends = [sum(map(len, y[: n + 1])) for n in range(len(y))]
...         return [(end - len(word), end) for word, end in zip(y, ends)]
...     def output_of(self, x, parts):
...         return [x[begin:end] for begin, end in parts]
>>> X, Y = ["acatsat", "thecat"], [["a", "cat", "sat"], ["the", "cat"]]
>>> model = StructuralSVM(Words()).fit(X, Y)
>>> model.predict(["thecatsat"])
[['the', 'cat', 'sat']]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from maxmargin.core.decode import decode
from maxmargin.core.problem import asking
from maxmargin.core.structure import Structure, check_k, with_attributes
from maxmargin.hypergraphs.batch import Example, k_best, make_batch, marginals
from maxmargin.hypergraphs.builder import HypergraphBuilder
from maxmargin.hypergraphs.graph import Hypergraph


class DynamicProgram(Structure):
    """Base class of structures given as a graph of all outputs of an input.

    Write ``graph(x)``; and ``parts_of`` and ``output_of``, unless an output is a list of
    its parts; and ``costs``, unless the loss is the number of parts in which two outputs
    differ. Hand an object of the class to :class:`maxmargin.StructuralSVM`.

    Requires: an output has one derivation (``graph(x).build().count()`` helps to see),
    has no part twice, and has no less cost than the truth; the latter two are checked.
    Unnamed parts may have features, but do not show in outputs.

    Ensures: everything that a compiled structure has, except that graphs are built in
    Python. Searches for slack rescaling and quadratic slacks are exact if costs are whole
    numbers and graphs are not too large. Features never seen in training are ignored.
    """

    def graph(self, x: Any) -> HypergraphBuilder | Hypergraph:
        """All outputs of x."""
        raise NotImplementedError(f"{type(self).__name__} must define graph(x).")

    def parts_of(self, x: Any, y: Any) -> Iterable[Hashable]:
        """The parts of the output y, in any order."""
        try:
            return list(y)
        except TypeError:
            raise ValueError(
                f"the output {y!r} is no list of parts: define parts_of(x, y) and "
                "output_of(x, parts)."
            ) from None

    def output_of(self, x: Any, parts: list) -> Any:
        """The output with these parts, which come bottom-up: tails before heads."""
        return parts

    def costs(self, x: Any, y: Any, parts: list) -> Sequence[float]:
        """What each of these parts costs in an output for x when y is true.

        The loss of an output is the sum of its costs minus that sum for y. Here: parts
        of y that are missed, plus parts that are not in y.
        """
        truth = set(self.parts_of(x, y))
        return [-1.0 if part in truth else 1.0 for part in parts]

    # training ------------------------------------------------------------------------

    def fit(self, X: Any, Y: Any) -> Any:
        self.features_: dict[Hashable, tuple[int, int]] = {}  # name: (first, length)
        self.n_weights = 0
        examples = []
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            graph = self._graph(i, x)
            rows = self._rows(i, graph, learn=True)
            truth = self._truth(i, graph, x, y)
            examples.append(_example(graph, rows, truth, self._costs(i, graph, x, y)))
        if self.n_weights == 0:
            raise ValueError(
                "no part has features, so there is nothing to learn: give features to "
                "the edges of graph(x)."
            )
        return make_batch(examples)

    def encode(self, X: Any) -> Any:
        return self._encoded(X)[1]

    def batch_of(self, X: Any, Y: Any = None) -> tuple[list[Hypergraph], Any]:
        """(graphs, batch) of inputs whose part scores come from elsewhere.

        Features are left out; the scores of an input are in the order of ``graph.parts``.
        """
        graphs = [self._graph(i, x) for i, x in enumerate(X)]
        nothing = np.zeros(0, np.int64)
        truths = [nothing] * len(graphs) if Y is None else list(Y)
        if len(truths) != len(graphs):
            raise ValueError(
                f"there are {len(truths)} outputs for {len(graphs)} inputs."
            )
        examples = []
        for i, (x, graph, y) in enumerate(zip(X, graphs, truths, strict=True)):
            rows = np.zeros(graph.n_parts + 1, np.int64), nothing, np.zeros(0)
            truth, cost = nothing, np.zeros(graph.n_parts)
            if Y is not None:
                truth = self._truth(i, graph, x, y)
                cost = self._costs(i, graph, x, y)
            examples.append(_example(graph, rows, truth, cost))
        return graphs, make_batch(examples)

    def read(self, x: Any, graph: Hypergraph, labelling: np.ndarray) -> Any:
        """The output of x that a labelling of its graph stands for."""
        return self._output(None, x, graph, labelling)

    def _encoded(self, X):
        """(graphs, batch) of new inputs."""
        graphs = [self._graph(i, x) for i, x in enumerate(X)]
        nothing = np.zeros(0, np.int64)
        return graphs, make_batch(
            [
                _example(g, self._rows(i, g), nothing, np.zeros(g.n_parts))
                for i, g in enumerate(graphs)
            ]
        )

    # predictions: what StructuralSVM asks --------------------------------------------

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list:
        """The best output of every input."""
        graphs, batch = self._encoded(X)
        labels = np.split(decode(batch, w, n_jobs), batch.start[1:-1])
        rows = zip(X, graphs, labels, strict=False)
        return [self._output(i, *row) for i, row in enumerate(rows)]

    def predict_k_best(
        self, X: Any, w: np.ndarray, k: int, n_jobs: int = 1
    ) -> list[list]:
        """Up to k pairs (output, score) for every input, best first."""
        graphs, batch = self._encoded(X)
        labels, values = k_best(batch, w, check_k(k), n_jobs)
        rows = np.split(labels, batch.start[1:-1], axis=1)
        return [
            [
                (self._output(i, x, graph, ranked), float(value))
                for ranked, value in zip(rows[i], values[:, i], strict=True)
                if value > -np.inf
            ]
            for i, (x, graph) in enumerate(zip(X, graphs, strict=True))
        ]

    def predict_marginals(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list[dict]:
        """For every input {part: expected number of uses under exp(score) / Z}."""
        graphs, batch = self._encoded(X)
        tables = np.split(marginals(batch, w, n_jobs), batch.part_start[1:-1])
        return [
            {
                part: float(p)
                for part, p in zip(graph.parts, table, strict=True)
                if part is not None
            }
            for graph, table in zip(graphs, tables, strict=False)
        ]

    def losses(self, X: Any, Y: Any, Y_hat: Any) -> list[float]:
        """The loss of every prediction; true outputs need not be in the graph."""
        out = []
        for i, (x, y, z) in enumerate(zip(X, Y, Y_hat, strict=True)):
            found, truth = self._parts(i, x, z), self._parts(i, x, y)
            both = self._checked_costs(i, x, y, found + truth)
            out.append(float(both[: len(found)].sum() - both[len(found) :].sum()))
        return out

    # one input -----------------------------------------------------------------------

    def complete(
        self, x: Any, w: np.ndarray, required: Any = (), forbidden: Any = ()
    ) -> Any:
        """The best output for x that has all ``required`` parts and no forbidden one."""
        graph = self._graph(None, x)
        number = {part: p for p, part in enumerate(graph.parts) if part is not None}
        required, forbidden = list(required), list(forbidden)
        for part in required:
            if part not in number:
                raise ValueError(f"no output for x has the part {part!r}.")
        theta = self._theta(graph, w)
        theta[[number[part] for part in forbidden if part in number]] = -np.inf
        edges, _ = graph.complete(theta, [number[part] for part in required])
        return self._output(None, x, graph, edges)

    def sample(self, x: Any, w: np.ndarray, n: int, random_state: Any = None) -> list:
        """n outputs for x, drawn with probability exp(score) / Z."""
        graph = self._graph(None, x)
        drawn = graph.sample(self._theta(graph, w), n, random_state)
        return [self._output(None, x, graph, edges) for edges in drawn]

    def named(self, w: np.ndarray) -> dict:
        """{feature: weight}, where vectors have vectors."""
        return {
            name: float(w[first]) if size < 0 else w[first : first + size]
            for name, (first, size) in self.features_.items()
        }

    @classmethod
    def from_state(cls, state: dict) -> DynamicProgram:
        """An object with these attributes (see ``core/structure.py``)."""
        new = with_attributes(cls, state)
        for first, size in new.features_.values():
            if not (
                type(first) is type(size) is int and size >= -1 and size != 0
            ) or not (0 <= first <= first + abs(size) <= new.n_weights):
                raise ValueError("features and weights do not fit together")
        return new

    # helpers -------------------------------------------------------------------------

    def _graph(self, i, x) -> Hypergraph:
        with asking(f"graph(x){_of(i)}"):
            graph = self.graph(x)
            if isinstance(graph, HypergraphBuilder):
                return graph.build()
            if isinstance(graph, Hypergraph):
                return graph.pruned()
        raise ValueError(
            f"graph(x){_of(i)} returned {graph!r}: it must return a HypergraphBuilder or "
            "a Hypergraph."
        )

    def _output(self, i, x, graph, edges) -> Any:
        with asking(f"output_of(x, parts){_of(i)}"):
            return self.output_of(x, graph.parts_of(edges[edges >= 0]))

    def _parts(self, i, x, y) -> list:
        with asking(f"parts_of(x, y){_of(i)}"):
            return list(self.parts_of(x, y))

    def _rows(self, i, graph, learn=False):
        """(indptr, indices, values): the features of the parts as numbers."""
        indptr, indices, values = [0], [], []
        for features in graph.features:
            for name, value in features.items():
                vector = isinstance(value, np.ndarray)
                size = len(value) if vector else -1
                if learn and name not in self.features_:
                    self.features_[name] = (self.n_weights, size)
                    self.n_weights += abs(size)
                first, known = self.features_.get(name, (0, None))
                if known is None:
                    continue  # never met in training
                if known != size:
                    raise ValueError(
                        f"the feature {name!r}{_of(i)} is {_kind(size)}, but it was "
                        f"{_kind(known)} before: all must be alike."
                    )
                indices += range(first, first + abs(size))
                values += value.tolist() if vector else [value]
            indptr.append(len(indices))
        return (
            np.array(indptr, np.int64),
            np.array(indices, np.int64),
            np.array(values, np.float64),
        )

    def _theta(self, graph, w) -> np.ndarray:
        indptr, indices, values = self._rows(None, graph)
        row = np.repeat(np.arange(graph.n_parts), np.diff(indptr))
        return np.bincount(row, w[indices] * values, minlength=graph.n_parts)

    def _truth(self, i, graph, x, y) -> np.ndarray:
        """The edges of the derivation of y."""
        parts = self._parts(i, x, y)
        number = {part: p for p, part in enumerate(graph.parts) if part is not None}
        for part, times in _counted(i, parts).items():
            if times > 1:
                raise ValueError(
                    f"the true output{_of(i)} has the part {part!r} {times} times: parts "
                    "must differ within an output, so put its place into the name."
                )
            if part not in number:
                raise ValueError(
                    f"the true output{_of(i)} has the part {part!r}, which no output in "
                    "graph(x) has: correct parts_of(x, y), or let the graph have it."
                )
        numbers = {number[part] for part in parts}
        theta = np.zeros(graph.n_parts)
        theta[[p for p in number.values() if p not in numbers]] = -np.inf
        try:
            edges, _ = graph.complete(theta, numbers)
        except ValueError:
            edges = np.zeros(0, np.int32)
        if not len(edges) or Counter(graph.parts_of(edges)) != Counter(parts):
            raise ValueError(
                f"the true output{_of(i)} is not in graph(x): no derivation has exactly "
                f"its {len(parts)} parts, {_shown(parts)}."
            )
        return edges

    def _costs(self, i, graph, x, y) -> np.ndarray:
        named = [p for p, part in enumerate(graph.parts) if part is not None]
        cost = np.zeros(graph.n_parts)
        cost[named] = self._checked_costs(i, x, y, [graph.parts[p] for p in named])
        return cost

    def _checked_costs(self, i, x, y, parts) -> np.ndarray:
        with asking(f"costs(x, y, parts){_of(i)}"):
            costs = np.asarray(self.costs(x, y, parts))
        if costs.shape != (len(parts),) or (parts and costs.dtype.kind not in "biuf"):
            raise ValueError(
                f"costs(x, y, parts){_of(i)} must return one number for each of the "
                f"{len(parts)} parts."
            )
        bad = np.flatnonzero(~np.isfinite(costs.astype(np.float64)))
        if len(bad):
            raise ValueError(
                f"costs(x, y, parts){_of(i)} has {costs[bad[0]]} for the part "
                f"{parts[bad[0]]!r}: costs must be finite."
            )
        return costs.astype(np.float64)


def _example(graph, rows, truth, cost):
    return Example(graph.arrays, *rows, truth, cost)


def _counted(i, parts) -> Counter:
    try:
        return Counter(parts)
    except TypeError:
        raise ValueError(
            f"the true output{_of(i)} has parts that cannot be keys of a dict: use "
            "texts, numbers or tuples of them."
        ) from None


def _of(i) -> str:
    return "" if i is None else f" of sample {i}"


def _kind(size) -> str:
    return "a number" if size < 0 else f"a vector of {size} numbers"


def _shown(parts) -> str:
    text = ", ".join(repr(part) for part in parts[:5])
    return text + (", ..." if len(parts) > 5 else "")
