"""Building hypergraphs: names become numbers, nodes are sorted, useless ones dropped."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from maxmargin.hypergraphs.graph import Hypergraph


class HypergraphBuilder:
    """Makes a :class:`Hypergraph` from nodes and parts of any names.

    Add edges in any order; :meth:`build` sorts nodes, drops what no derivation of the
    root can use, and refuses cycles. Names are whatever can be a key of a dict: texts,
    numbers, tuples of them.
    """

    def __init__(self, root: Hashable):
        self.root = root
        self._number: dict[Hashable, int] = {}  # of nodes
        self._part_number: dict[Hashable, int] = {}
        self._edges: list[tuple[int, tuple[int, ...], int]] = []  # head, tails, part
        self._parts: list[Hashable] = []  # names, None for parts without
        self._features: list[dict] = []

    def leaf(self, node: Hashable) -> None:
        """A node that needs nothing: an edge without tails and without a part."""
        self.edge(node)

    def edge(
        self,
        head: Hashable,
        *tails: Hashable,
        part: Hashable = None,
        features: dict | Iterable | None = None,
    ) -> None:
        """Build ``head`` from ``tails``.

        ``part`` is what the edge says about the output: parts are what outputs consist
        of, what costs are for and what has a probability. ``features`` is a dict
        {name: value} or a list of names, for values of 1; a value may be a vector.
        Edges with the same part share its features, to be given with the first of them.
        Features without a part make up a score that does not show in outputs.
        """
        number = -1
        if part is not None or features is not None:
            number = self._number_of_part(part, features)
        nodes = tuple([self._node(tail) for tail in tails])
        self._edges.append((self._node(head), nodes, number))

    def build(self) -> Hypergraph:
        """The graph, sorted and without useless nodes, edges and parts."""
        from maxmargin.hypergraphs.graph import Hypergraph

        names = list(self._number)
        order, kept = useful_order(names, self.root, self._number, self._edges)
        new_node = {v: rank for rank, v in enumerate(order)}
        # stable: edges into a node stay in the order in which they were added
        kept.sort(key=lambda e: new_node[self._edges[e][0]])
        new_part = {-1: -1}
        head, tail, part, tail_ptr = [], [], [], [0]
        for e in kept:
            v, tails, p = self._edges[e]
            head.append(new_node[v])
            tail += [new_node[u] for u in tails]
            tail_ptr.append(len(tail))
            part.append(new_part.setdefault(p, len(new_part) - 1))
        old = list(new_part)[1:]
        return Hypergraph(
            np.array(head, np.int64),
            np.array(tail_ptr, np.int64),
            np.array(tail, np.int64),
            np.array(part, np.int64),
            len(order),
            len(order) - 1,
            parts=[self._parts[p] for p in old],
            features=[self._features[p] for p in old],
        )

    def _node(self, name) -> int:
        try:
            return self._number.setdefault(name, len(self._number))
        except TypeError:
            raise ValueError(
                f"{name!r} cannot be the name of a node: use a text, a number or a tuple "
                "of them. Tails are given one by one: edge(head, tail, tail)."
            ) from None

    def _number_of_part(self, part, features) -> int:
        try:
            known = None if part is None else self._part_number.get(part)
        except TypeError:
            raise ValueError(
                f"{part!r} cannot be the name of a part: use a text, a number or a tuple "
                "of them."
            ) from None
        if known is not None:
            if features is not None:
                given = features_as_dict(part, features)
                if not same_features(given, self._features[known]):
                    raise ValueError(
                        f"the part {part!r} has two different sets of features: edges "
                        "with the same part share its features."
                    )
            return known
        number = len(self._parts)
        self._features.append(features_as_dict(part, features))
        self._parts.append(part)
        if part is not None:
            self._part_number[part] = number
        return number


# which nodes are useful, and in which order ------------------------------------------


def useful_order(names, root, number, edges) -> tuple[list[int], list[int]]:
    """(nodes that derivations of the root can use, tails first; edges among them)."""
    if not edges:
        raise ValueError("the graph has no edges, so it has no output.")
    if root not in number:
        raise ValueError(f"the root {root!r} is neither head nor tail of any edge.")
    start = number[root]
    can = _can_be_built(len(names), edges)
    if not can[start]:
        raise ValueError(_unbuildable(names, root, edges))
    into: list[list[int]] = [[] for _ in names]
    for e, (head, tails, _) in enumerate(edges):
        if all(can[u] for u in tails):
            into[head].append(e)
    order = _tails_first(names, start, into, edges)
    return order, [e for v in order for e in into[v]]


def _can_be_built(n, edges) -> list[bool]:
    """Whether each node has a derivation: its edge waits for all of its tails."""
    waiting = [len(tails) for _, tails, _ in edges]
    users: list[list[int]] = [[] for _ in range(n)]
    for e, (_, tails, _) in enumerate(edges):
        for u in tails:
            users[u].append(e)
    can = [False] * n
    ready = [e for e, count in enumerate(waiting) if count == 0]
    while ready:
        head = edges[ready.pop()][0]
        if can[head]:
            continue
        can[head] = True
        for e in users[head]:
            waiting[e] -= 1
            if waiting[e] == 0:
                ready.append(e)
    return can


def _unbuildable(names, root, edges) -> str:
    heads = {head for head, _, _ in edges}
    lost = [u for _, tails, _ in edges for u in tails if u not in heads]
    text = f"the root {root!r} cannot be built: "
    if not lost and any(not tails for _, tails, _ in edges):
        return text + "its edges need nodes that only lead in circles."
    if not lost:
        return text + (
            "no edge is without tails, so that no derivation ever ends. Use leaf(node) "
            "for the nodes that need nothing."
        )
    some = ", ".join(repr(names[u]) for u in list(dict.fromkeys(lost))[:3])
    return text + (
        f"no edge leads to {some}, which other edges need. Use leaf(node) for nodes "
        "that need nothing."
    )


def _tails_first(names, start, into, edges) -> list[int]:
    """Depth first from the root; a node is done after all that it is built from."""
    order: list[int] = []
    state = {start: 1}  # 1: on the way down, 2: done
    stack = [(start, iter([u for e in into[start] for u in edges[e][1]]))]
    while stack:
        v, below = stack[-1]
        for u in below:
            if state.get(u) == 1:
                path = [w for w, _ in stack]
                cycle = [*path[path.index(u) :], u]
                shown = " <- ".join(repr(names[w]) for w in cycle[:8])
                raise ValueError(
                    f"the graph has a cycle: {shown}"
                    f"{' ...' if len(cycle) > 8 else ''}. No node may be part of what it "
                    "is built from; a number of steps in its name usually helps."
                )
            if u not in state:
                state[u] = 1
                stack.append((u, iter([t for e in into[u] for t in edges[e][1]])))
                break
        else:
            state[v] = 2
            order.append(v)
            stack.pop()
    return order


# features ----------------------------------------------------------------------------


def features_as_dict(part, features) -> dict:
    """Features as {name: float or vector}, checked."""
    if features is None:
        return {}
    where = "features" if part is None else f"the features of part {part!r}"
    if isinstance(features, (str, bytes)):
        raise ValueError(
            f"{where} are the text {features!r}: give a list of names, also for one, or "
            "a dict of values."
        )
    out: dict = {}
    if isinstance(features, Mapping):
        for name, value in features.items():
            out[name] = _feature_value(name, value, where)
        return out
    try:
        for name in features:
            out[name] = out.get(name, 0.0) + 1.0
    except TypeError:
        raise ValueError(
            f"{where} are {features!r}: give a list of names that can be keys of a dict "
            "(texts, numbers, tuples), or a dict of values."
        ) from None
    return out


def _feature_value(name, value, where):
    if isinstance(value, numbers.Real):
        value = float(value)
        if not np.isfinite(value):
            raise ValueError(f"{where}: {name!r} is {value}; values must be finite.")
        return value
    vector = np.asarray(value)
    if vector.ndim != 1 or vector.dtype.kind not in "biuf":
        raise ValueError(
            f"{where}: {name!r} is {value!r}; give a number or a vector of numbers."
        )
    vector = vector.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(vector))
    if len(bad):
        raise ValueError(
            f"{where}: {name!r} has the entry {vector[bad[0]]} at {bad[0]}; values must "
            "be finite."
        )
    return vector


def same_features(a: dict, b: dict) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)
