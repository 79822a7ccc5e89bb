r"""Taxonomies: classes in a tree, or in a directed graph without cycles (a DAG).

    rec ------ rec.autos
         \---- rec.sport ------ rec.sport.hockey
                          \---- rec.sport.baseball

A node stands for a class and everything below it. It can have several parents. Where
there are several roots, one more above them is understood; it has no name.
"""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.classes.taxonomy.checks import (
    Node,
    check_kinds,
    check_parents,
    check_separator,
    name_of,
    parents_first,
    parents_of,
)
from maxmargin.core.checks import is_whole
from maxmargin.core.listed import listed

LONGEST_PATH = 1000  # names: every beginning of a path is a name of its own


class Taxonomy:
    """A tree or DAG of named nodes.

    Parameters
    ----------
    parents : dict of node -> parent, list of parents, or None for a root
        Names are strings, or whole numbers; all of one kind.

    Attributes
    ----------
    nodes : tuple of names, parents before children
    parents : tuple of tuples of positions in ``nodes``
    is_tree : bool, no node has two parents
    depth : int array; the longest way down from the top. Roots have depth 1, but an
        only root has depth 0: level 1 is always the first that distinguishes anything.
    height : int array; the longest way down to a leaf, 0 for leaves

    Examples
    --------
    >>> t = Taxonomy.from_paths(["rec.autos", "rec.sport.hockey", "sci.med"])
    >>> t.ancestors("rec.sport.hockey")
    ['rec', 'rec.sport', 'rec.sport.hockey']
    >>> t == Taxonomy({"rec": None, "sci": None, "rec.autos": "rec", "sci.med": "sci",
    ...                "rec.sport": "rec", "rec.sport.hockey": "rec.sport"})
    True
    """

    def __init__(self, parents: Mapping[Node, Any]):
        if not isinstance(parents, Mapping):
            raise ValueError(
                f"a taxonomy is made from a dict of node -> parent, not from {parents!r}: "
                "for lists there are Taxonomy.from_paths, from_edges and from_parent_list."
            )
        if not parents:
            raise ValueError("the taxonomy is empty: name at least one node.")
        named = {name_of(n, "a node"): parents_of(n, p) for n, p in parents.items()}
        check_kinds(named)
        for node, above in named.items():
            check_parents(node, above, named)
        order = parents_first(named)
        position = {node: i for i, node in enumerate(order)}
        self.nodes: tuple[Node, ...] = tuple(order)
        self.parents: tuple[tuple[int, ...], ...] = tuple(
            tuple(sorted(position[p] for p in named[node])) for node in order
        )

    # other ways to say the same ---------------------------------------------------------

    @classmethod
    def from_paths(cls, paths: Iterable[str], separator: str = ".") -> Taxonomy:
        """From names that hold their ancestors: "rec.sport.hockey", "2/1/3".

        Every beginning of a path is a node: "rec", "rec.sport", "rec.sport.hockey".
        """
        check_separator(separator)
        parents: dict[Node, Any] = {}
        given = set()
        for i, path in enumerate(listed(paths, _none(paths, "paths"))):
            if not isinstance(path, str):
                raise ValueError(f"path {i} of the taxonomy is {path!r}, not a string.")
            if path in given:
                raise ValueError(
                    f"path {i} of the taxonomy, {path!r}, was there before: name every "
                    "path once."
                )
            given.add(path)
            add_path(parents, path, separator, f"path {i} of the taxonomy")
        return cls(parents)

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[Node, Node]]) -> Taxonomy:
        """From pairs (parent, child). Nodes without a parent are roots."""
        parents: dict[Node, list] = {}
        for i, edge in enumerate(listed(edges, _none(edges, "pairs (parent, child)"))):
            try:
                above, below = edge
                if isinstance(edge, str):
                    raise TypeError
            except (TypeError, ValueError):
                raise ValueError(
                    f"edge {i} of the taxonomy is {edge!r}, but it must be a pair "
                    "(parent, child)."
                ) from None
            above = name_of(above, f"the parent in edge {i}")
            below = name_of(below, f"the child in edge {i}")
            parents.setdefault(above, [])
            parents.setdefault(below, []).append(above)
        return cls(parents)

    @classmethod
    def from_parent_list(cls, parents: Sequence[int | None]) -> Taxonomy:
        """From the numbers of the parents of nodes 0, 1, ...; roots have -1 or None."""
        table: dict[Node, Any] = {}
        parents = listed(parents, _none(parents, "numbers of parents"))
        for node, above in enumerate(parents):
            if above is not None and not (
                is_whole(above) and -1 <= above < len(parents)
            ):
                raise ValueError(
                    f"the parent of node {node} is {above!r}, but it must be the number "
                    f"of a node, 0 to {len(parents) - 1}, or -1 for a root."
                )
            table[node] = None if above is None or above == -1 else int(above)
        return cls(table)

    # what it knows ------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: object) -> bool:
        return isinstance(node, Hashable) and node in self.position

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(frozenset(self.nodes))

    def __repr__(self) -> str:
        kind = "tree" if self.is_tree else "DAG"
        leaves = len(self.leaves)
        return f"<Taxonomy: {kind}, {len(self)} nodes, {leaves} leaves>"

    def as_dict(self) -> dict[Node, list[Node]]:
        """{node: list of parents}, parents before children."""
        return {
            node: sorted(self.nodes[p] for p in above)
            for node, above in zip(self.nodes, self.parents, strict=True)
        }

    @cached_property
    def position(self) -> dict[Node, int]:
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def is_tree(self) -> bool:
        return all(len(above) < 2 for above in self.parents)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.nodes]
        for node, above in enumerate(self.parents):
            for p in above:
                below[p].append(node)
        return tuple(map(tuple, below))

    @property
    def roots(self) -> list[Node]:
        return [self.nodes[i] for i, above in enumerate(self.parents) if not above]

    @property
    def leaves(self) -> list[Node]:
        return [self.nodes[i] for i, below in enumerate(self.children) if not below]

    @cached_property
    def depth(self) -> np.ndarray:
        depth = np.full(len(self), 1 if len(self.roots) > 1 else 0)
        for i, above in enumerate(self.parents):
            if above:
                depth[i] = 1 + max(depth[p] for p in above)
        return depth

    @cached_property
    def height(self) -> np.ndarray:
        height = np.zeros(len(self), int)
        for i in range(len(self) - 1, -1, -1):
            for p in self.parents[i]:
                height[p] = max(height[p], height[i] + 1)
        return height

    def ancestors(self, node: Node) -> list[Node]:
        """The node and all that are above it, from the top down."""
        return [self.nodes[i] for i in self.lineage(self.position_of(node))]

    def closure(self, nodes: Iterable[Node]) -> set[Node]:
        """The nodes and all their ancestors."""
        return {self.nodes[i] for i in self._up(map(self.position_of, nodes))}

    def lowest(self, nodes: Iterable[Node]) -> list[Node]:
        """Those of the nodes that are no ancestors of others of them."""
        chosen = {self.position_of(node) for node in nodes}
        above = self._up(p for i in chosen for p in self.parents[i])
        return [self.nodes[i] for i in sorted(chosen - above)]

    def position_of(self, node: Node) -> int:
        if node not in self:
            raise ValueError(
                f"{node!r} is not in the taxonomy, which has {len(self)} nodes such as "
                f"{self.nodes[-1]!r}."
            )
        return self.position[node]

    def lineage(self, i: int) -> tuple[int, ...]:
        """Positions of a node and its ancestors, in increasing order."""
        return tuple(sorted(self._up([i])))

    def _up(self, positions: Iterable[int]) -> set[int]:
        """These positions and those of all that is above them."""
        found: set[int] = set()
        waiting = list(positions)
        while waiting:
            i = waiting.pop()
            if i not in found:
                found.add(i)
                waiting += self.parents[i]
        return found

    def without_chains(self, keep: Iterable[Node] = ()) -> Taxonomy:
        """The same without inner nodes that have one child only, except those to keep.

        Such a node says nothing that its child does not say, but it counts once more in
        depths, heights and features.
        """
        keep = {self.position_of(node) for node in keep}
        gone = {i for i, below in enumerate(self.children) if len(below) == 1} - keep
        above: list[set[int]] = []
        for parents in self.parents:
            above.append({a for p in parents for a in (above[p] if p in gone else {p})})
        return Taxonomy(
            {
                self.nodes[i]: [self.nodes[p] for p in sorted(above[i])]
                for i in range(len(self))
                if i not in gone
            }
        )


def as_taxonomy(given: Any, separator: str = ".") -> Taxonomy:
    """A taxonomy from whatever says it: see docs/classify.md.

    A :class:`Taxonomy`; a dict {node: parents}; a list of pairs (parent, child); a list of
    paths; a list of the numbers of parents.
    """
    if isinstance(given, Taxonomy):
        return given
    if isinstance(given, Mapping):
        return Taxonomy(given)
    if isinstance(given, np.ndarray):
        given = given.tolist()
    given = listed(
        given,
        f"taxonomy={given!r} is not possible: give a Taxonomy, a dict of parents, a list "
        "of pairs (parent, child), of paths or of numbers of parents, or None if the "
        "labels are paths.",
    )
    if not given:
        raise ValueError("the taxonomy is empty: name at least one node.")
    first = given[0]
    if isinstance(first, str):
        return Taxonomy.from_paths(given, separator)
    if first is None or isinstance(first, numbers.Integral):
        return Taxonomy.from_parent_list(given)
    return Taxonomy.from_edges(given)


def _none(given: Any, what: str) -> str:
    return f"a taxonomy cannot be made from {given!r}: give a list of {what}."


def taxonomy_of_labels(labels: Iterable[Node], separator: str = ".") -> Taxonomy:
    """The taxonomy that is written in labels: strings are paths, numbers are roots."""
    check_separator(separator)
    parents: dict[Node, Any] = {}
    for label in labels:
        if isinstance(label, str):
            add_path(parents, label, separator, f"the label {label!r}")
        else:
            parents[label] = None
    return Taxonomy(parents)


def add_path(parents: dict[Node, Any], path: str, separator: str, where: str) -> None:
    """Add the nodes of one path to a dict of parents."""
    parts = path.split(separator)
    if len(parts) > LONGEST_PATH:
        raise ValueError(
            f"{where}, {path[:40]!r}..., has {len(parts)} names in it, more than "
            f"{LONGEST_PATH}: give such a taxonomy as edges, parent and child."
        )
    if not all(part.strip() for part in parts):
        raise ValueError(
            f"{where}, {path!r}, has an empty name between separators {separator!r}: "
            "write names like 'a' or "
            f"'a{separator}b', or choose another separator."
        )
    above = None
    for k in range(len(parts)):
        node = separator.join(parts[: k + 1])
        parents.setdefault(node, above)
        above = node
