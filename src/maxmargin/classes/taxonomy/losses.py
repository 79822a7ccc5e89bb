"""Losses between classes of a taxonomy, as cost tables.

    "tree-height"     the height of the first common ancestor: how many levels one must
                      climb before the mistake is none (Tsochantaridis et al. 2004). The
                      height of a node is the longest way from it down to a leaf.
    "tree-distance"   the number of edges on the way from one class over the first common
                      ancestor to the other.

In a DAG, both are the smallest over all common ancestors. "tree" is "tree-height".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maxmargin.classes.taxonomy import Node, Taxonomy
from maxmargin.core.tables.label_costs import Loss, cost_table

NAMES = ("tree", "tree-height", "tree-distance", "zero-one")


def class_costs(loss: Loss, taxonomy: Taxonomy, classes: Sequence[Node]) -> np.ndarray:
    """``cost[true, predicted]``; ``loss`` is a name above, or as in `losses.cost_table`."""
    if isinstance(loss, str):
        if loss in ("tree", "tree-height"):
            return tree_heights(taxonomy, classes)
        if loss == "tree-distance":
            return tree_distances(taxonomy, classes)
        if loss != "zero-one":
            raise ValueError(
                f"loss={loss!r} is not known; choose {', '.join(map(repr, NAMES))}, a "
                "dict of label weights, a cost matrix or a function of two labels."
            )
    return cost_table(loss, classes)


def tree_heights(taxonomy: Taxonomy, classes: Sequence[Node]) -> np.ndarray:
    """Heights of first common ancestors, zero on the diagonal."""
    height = taxonomy.height
    table = np.full((len(classes), len(classes)), height.max(initial=0) + 1.0)
    below = _classes_below(taxonomy, classes)
    for v in sorted(below, key=lambda v: -height[v]):  # the lowest has the last word
        rows = below[v]
        table[np.ix_(rows, rows)] = height[v]
    np.fill_diagonal(table, 0.0)
    return table


def tree_distances(taxonomy: Taxonomy, classes: Sequence[Node]) -> np.ndarray:
    """Edges on the shortest way over a common ancestor."""
    ways = _ways_up(taxonomy)
    table = np.full((len(classes), len(classes)), np.inf)
    if len(taxonomy.roots) > 1:  # the root that has no name
        roots = set(map(taxonomy.position_of, taxonomy.roots))
        top = [
            1 + min(d for v, d in ways[taxonomy.position_of(c)].items() if v in roots)
            for c in classes
        ]
        table = np.add.outer(top, top).astype(float)
    lengths = [ways[taxonomy.position_of(c)] for c in classes]
    for v, rows in _classes_below(taxonomy, classes).items():
        way = np.array([lengths[k][v] for k in rows], float)
        here = np.ix_(rows, rows)
        table[here] = np.minimum(table[here], np.add.outer(way, way))
    np.fill_diagonal(table, 0.0)
    return table


def node_costs(loss: Any, nodes: Sequence[Node]) -> np.ndarray:
    """What a wrong node costs when outputs are sets of nodes."""
    if isinstance(loss, Mapping):
        # the last column: every node against something else
        return cost_table(loss, [*nodes, None])[:-1, -1]
    if isinstance(loss, str) and loss in ("tree", "hamming"):
        return np.ones(len(nodes))
    raise ValueError(
        f'loss={loss!r} is not possible with multilabel=True; choose "hamming" (or '
        '"tree", which is the same there: every wrong node costs 1) or a dict of node '
        "weights."
    )


def _classes_below(taxonomy: Taxonomy, classes: Sequence[Node]) -> dict[int, list]:
    """{position of a node: numbers of the classes below it or at it}."""
    below: dict[int, list[int]] = {}
    for k, label in enumerate(classes):
        for v in taxonomy.lineage(taxonomy.position_of(label)):
            below.setdefault(v, []).append(k)
    return below


def _ways_up(taxonomy: Taxonomy) -> list[dict[int, int]]:
    """For every node, {ancestor: edges on the shortest way up to it}."""
    ways: list[dict[int, int]] = []
    for i, above in enumerate(taxonomy.parents):
        mine = {i: 0}
        for p in above:
            for v, length in ways[p].items():
                mine[v] = min(mine.get(v, length + 1), length + 1)
        ways.append(mine)
    return ways
