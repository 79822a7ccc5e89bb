"""Weighted hypergraphs: what all dynamic programmes have in common.

A node is an item of the chart; an edge builds its head from its tails and says
something about the output, its *part*. A derivation picks an edge into the root, then
edges into the tails of that edge, and so on until edges without tails. It is worth the
sum of the scores of its parts.

How many dominoes of length 1 and 2 fill a row of 4, and what is the best way?

>>> from maxmargin import HypergraphBuilder
>>> builder = HypergraphBuilder(root=4)
>>> builder.leaf(0)
>>> for end in range(1, 5):
...     builder.edge(end, end - 1, part="short")
...     if end >= 2:
...         builder.edge(end, end - 2, part="long")
>>> graph = builder.build()
>>> graph.count()
5.0
>>> edges, value = graph.best([1.0, 1.5])  # scores of graph.parts
>>> graph.parts_of(edges), value
(['short', 'short', 'short', 'short'], 4.0)
>>> [value for _, value in graph.k_best([1.0, 1.5], 3)]
[4.0, 3.5, 3.5]
>>> graph.marginals([1.0, 1.5]).round(2)  # expected uses under exp(value) / Z
array([2.4, 0.8])

To learn the scores, see :class:`maxmargin.DynamicProgram`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from maxmargin.core.structure import check_k
from maxmargin.hypergraphs import inference
from maxmargin.hypergraphs.batch import longest_derivation
from maxmargin.hypergraphs.builder import HypergraphBuilder, features_as_dict
from maxmargin.hypergraphs.inference import Graph, inside_logsum, score_edges

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Hypergraph:
    """A hypergraph in flat arrays, checked.

    Most users make one with :class:`HypergraphBuilder`.

    Parameters
    ----------
    head : int array (edges,)
        The node that each edge builds, ascending.
    tail_ptr, tail : int arrays (edges + 1,) and (tail_ptr[-1],)
        Edge e needs the nodes tail[tail_ptr[e]:tail_ptr[e + 1]], all below its head.
        An edge without tails is where derivations end.
    part : int array (edges,)
        The part of each edge, or -1 for none. Several edges may share one.
    n_nodes, root : int
        Nodes are 0 .. n_nodes - 1, and derivations build the root.
    parts, features : sequences or None
        A name (None for none) and features {name: value} for every part.

    All methods take scores of parts, ``theta``: finite, or -inf for forbidden parts.
    Ties go to the lowest edge. A derivation is an array of its edges, ascending.
    """

    def __init__(
        self,
        head: ArrayLike,
        tail_ptr: ArrayLike,
        tail: ArrayLike,
        part: ArrayLike,
        n_nodes: int,
        root: int,
        parts: Any = None,
        features: Any = None,
    ):
        self.head = _integers("head", head)
        self.tail_ptr = _integers("tail_ptr", tail_ptr)
        self.tail = _integers("tail", tail).astype(np.int32)
        self.part = _integers("part", part).astype(np.int32)
        self.n_nodes, self.root = int(n_nodes), int(root)
        self._check()
        self.n_parts = int(self.part.max(initial=-1)) + 1
        self.parts, self.features = parts, features
        for name, given in (("parts", parts), ("features", features)):
            if given is not None:
                if len(given) < self.n_parts:
                    raise ValueError(
                        f"{name} has {len(given)} entries, but edges refer to "
                        f"{self.n_parts} parts: give one entry per part."
                    )
                self.n_parts = len(given)
        edges_into = np.bincount(self.head, minlength=self.n_nodes)
        self.arrays = Graph(
            np.concatenate([[0], np.cumsum(edges_into)]).astype(np.int64),
            self.tail_ptr,
            self.tail,
            self.part,
            self.root,
        )
        self.longest = self._longest()

    def _check(self) -> None:
        n = len(self.head)
        if n == 0:
            raise ValueError("the graph has no edges, so it has no output.")
        if len(self.part) != n or len(self.tail_ptr) != n + 1:
            raise ValueError(
                f"there are {n} edges, so part must have {n} entries and tail_ptr "
                f"{n + 1}, but they have {len(self.part)} and {len(self.tail_ptr)}."
            )
        ends = self.tail_ptr
        if ends[0] != 0 or ends[-1] != len(self.tail) or (np.diff(ends) < 0).any():
            raise ValueError(
                "tail_ptr must ascend from 0 to the number of tails, "
                f"{len(self.tail)}: the tails of edge e are "
                "tail[tail_ptr[e]:tail_ptr[e + 1]]."
            )
        if not 0 <= self.root < self.n_nodes:
            raise ValueError(
                f"root={self.root} is no node: there are {self.n_nodes}, from 0 on."
            )
        for name, nodes in (("head", self.head), ("tail", self.tail)):
            bad = np.flatnonzero((nodes < 0) | (nodes >= self.n_nodes))
            if len(bad):
                raise ValueError(
                    f"{name}[{bad[0]}] is {nodes[bad[0]]}, which is no node: there are "
                    f"{self.n_nodes}, from 0 on."
                )
        bad = np.flatnonzero(np.diff(self.head) < 0)
        if len(bad):
            raise ValueError(
                f"head[{bad[0] + 1}] is below head[{bad[0]}]: edges must be sorted by "
                "head. HypergraphBuilder does so."
            )
        edge_of = np.repeat(np.arange(n), np.diff(ends))
        bad = np.flatnonzero(self.tail >= self.head[edge_of])
        if len(bad):
            e = edge_of[bad[0]]
            raise ValueError(
                f"edge {e} builds node {self.head[e]} from node {self.tail[bad[0]]}, but "
                "tails must have lower numbers than heads, which also keeps cycles out. "
                "HypergraphBuilder numbers nodes so."
            )
        if (self.part < -1).any():
            e = int(np.flatnonzero(self.part < -1)[0])
            raise ValueError(
                f"part[{e}] is {self.part[e]}: parts are numbered from 0 on, and -1 is "
                "for edges without one."
            )

    def __repr__(self) -> str:
        return (
            f"<Hypergraph of {self.n_nodes} nodes, {len(self.head)} edges and "
            f"{self.n_parts} parts>"
        )

    def _longest(self) -> int:
        """Number of edges of the longest derivation."""
        most = longest_derivation(self.arrays)
        if most == 0:
            raise ValueError(
                f"the root, node {self.root}, cannot be built: every derivation must end "
                "in edges without tails."
            )
        return most

    def parts_of(self, edges: Any) -> list:
        """The names of the parts of these edges, or their numbers if they have none."""
        numbers = [int(p) for p in self.part[np.asarray(edges, np.int64)] if p >= 0]
        if self.parts is None:
            return numbers
        return [self.parts[p] for p in numbers if self.parts[p] is not None]

    def pruned(self) -> Hypergraph:
        """Without the nodes, edges and parts that no derivation uses; root last."""
        builder = HypergraphBuilder(self.root)
        builder._number = {v: v for v in range(self.n_nodes)}
        tails = np.split(self.tail, self.tail_ptr[1:-1])
        rows = zip(self.head.tolist(), tails, self.part.tolist(), strict=True)
        builder._edges = [(head, tuple(t.tolist()), part) for head, t, part in rows]
        numbers = range(self.n_parts)
        builder._parts = list(numbers if self.parts is None else self.parts)
        builder._features = [{} for _ in numbers]
        if self.features is not None:
            builder._features = [
                features_as_dict(name, features)
                for name, features in zip(builder._parts, self.features, strict=True)
            ]
        return builder.build()

    # questions -----------------------------------------------------------------------

    def best(self, theta: ArrayLike) -> tuple[np.ndarray, float]:
        """The best derivation and its value."""
        return self.complete(theta)

    def complete(
        self, theta: ArrayLike, required: Any = ()
    ) -> tuple[np.ndarray, float]:
        """The best of the derivations that use all parts ``required`` (numbers).

        Forbid parts by a score of -inf. Required parts must be such that no derivation
        uses them twice.
        """
        scores = self._scores(theta)
        wanted = np.zeros(len(scores), np.int64)
        required = set(required)
        if required:
            wanted[np.isin(self.part, list(required))] = 1
        inside = np.empty(self.root + 1)
        uses, choice = np.empty((2, self.root + 1), np.int64)
        inference.inside_required(self.arrays, scores, wanted, inside, uses, choice)
        if inside[self.root] == -np.inf or uses[self.root] < len(required):
            raise ValueError(
                "no derivation obeys: the parts that are required cannot be used "
                "together, or too many parts are forbidden."
            )
        edges = np.empty(self.longest, np.int32)
        count = inference.backtrace(self.arrays, choice, edges)
        return edges[:count], float(inside[self.root])

    def k_best(self, theta: ArrayLike, k: int) -> list[tuple[np.ndarray, float]]:
        """Up to k derivations with their values, best first."""
        k = check_k(k)
        scores = self._scores(theta)
        inside, choice = np.empty(self.root + 1), np.empty(self.root + 1, np.int64)
        inference.inside_max(self.arrays, scores, inside, choice)
        edges, values = np.empty((k, self.longest), np.int32), np.empty(k)
        found = inference.k_best(self.arrays, scores, inside, edges, values)
        return [
            (row[row >= 0], float(values[r])) for r, row in enumerate(edges[:found])
        ]

    def log_partition(self, theta: ArrayLike) -> float:
        """log Z, the log of the sum of exp(value) over all derivations."""
        return float(self._sums(self._scores(theta))[self.root])

    def count(self) -> float:
        """The number of derivations, to about twelve digits."""
        log = self.log_partition(np.zeros(self.n_parts))
        return float(np.round(math.exp(log), 6)) if log < 700 else math.inf

    def marginals(self, theta: ArrayLike) -> np.ndarray:
        """Expected number of uses of every part under exp(value) / Z."""
        scores = self._scores(theta)
        inside = self._sums(scores)
        if inside[self.root] == -np.inf:
            raise ValueError("every derivation is forbidden: there are no marginals.")
        uses = np.empty(len(scores))
        inference.expected_uses(self.arrays, scores, inside, uses)
        has = self.part >= 0
        return np.bincount(self.part[has], uses[has], minlength=self.n_parts)

    def sample(
        self, theta: ArrayLike, n: int, random_state: Any = None
    ) -> list[np.ndarray]:
        """n derivations drawn from exp(value) / Z."""
        rng = check_random_state(random_state)
        scores = self._scores(theta)
        inside = self._sums(scores)
        if inside[self.root] == -np.inf:
            raise ValueError("every derivation is forbidden: nothing can be drawn.")
        drawn = []
        for _ in range(n):
            edges = np.empty(self.longest, np.int32)
            uniforms = rng.random_sample(self.longest)
            count = inference.draw(self.arrays, scores, inside, uniforms, edges)
            drawn.append(edges[:count])
        return drawn

    def _sums(self, scores) -> np.ndarray:
        inside = np.empty(self.root + 1)
        inside_logsum(self.arrays, scores, inside)
        return inside

    def _scores(self, theta) -> np.ndarray:
        """Scores of edges."""
        theta = np.ascontiguousarray(theta, np.float64)
        if theta.shape != (self.n_parts,):
            raise ValueError(
                f"theta has shape {theta.shape}, but there are {self.n_parts} parts: "
                "give one score per part."
            )
        bad = np.flatnonzero(np.isnan(theta) | (theta == np.inf))
        if len(bad):
            raise ValueError(
                f"theta[{bad[0]}] is {theta[bad[0]]}: scores must be finite, or -inf "
                "for forbidden parts."
            )
        scores = np.empty(len(self.part))
        score_edges(self.arrays, theta, scores)
        return scores


def _integers(name: str, values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64).ravel()
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a list of whole numbers.")
    return np.ascontiguousarray(array, np.int64)
