"""Why nodes have their labels: against the best labelling with another label there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from typing import Any

import numpy as np

from maxmargin.core.checks import is_whole
from maxmargin.core.completion import complete_all
from maxmargin.core.partial import partly_known
from maxmargin.explain.explanation import Explanation, Part
from maxmargin.explain.joint import Joint
from maxmargin.graphs.schema import named_weights as all_weights
from maxmargin.graphs.schema import public_weights

MOST = 50  # nodes that are explained without being asked for


def explain(labeler: Any, x: Any, nodes: Sequence[Any] | None = None) -> Explanation:
    """Nodes against the best other label of each: the first 50 if None.

    They go by number, those of a networkx graph also by name.
    """
    if labeler.kernel is not None:
        raise ValueError(
            "a labeler with a kernel has no weights of features that explain could show: "
            "fit without kernel."
        )
    structure = labeler._fitted()
    w = structure.join(labeler)
    inputs, batch, best = structure.search([x], w, labeler._threads())
    names = _nodes(labeler, inputs[0])
    chosen = range(min(MOST, len(names)))
    if nodes is not None:
        chosen = _chosen(nodes, inputs[0].names, len(names))
    joint, parts = Joint(batch, w, namer(labeler)), []
    for v in chosen:
        name, labels = names[v]
        others = [_completed(labeler, batch, best, v, k) for k in range(len(labels))]
        scores = [joint.ask.value(y) for y in others]
        scores[best[v]] = -np.inf
        other = others[int(np.argmax(scores))]
        said = str(labels[best[v]]), str(labels[other[v]])
        parts.append(Part(name, *said, joint.between(best, other)))
    note = "nodes, and the best labelling with another label there"
    return Explanation(type(labeler).__name__, parts, note)


def _chosen(nodes: Any, names: list | None, n: int) -> list[int]:
    """The numbers of nodes that are numbers or, where they have some, names."""
    if isinstance(nodes, (str, bytes)) or not np.iterable(nodes):
        raise ValueError(f"nodes is {nodes!r}: give a list of nodes, as in [0, 2].")
    number, found = {name: v for v, name in enumerate(names or [])}, []
    for node in nodes:
        named = isinstance(node, Hashable) and node in number
        v = number[node] if named else node
        if not is_whole(v):
            raise ValueError(
                f"nodes has {node!r}, which is no node of x: give numbers of nodes, from "
                f"0 to {n - 1}{', or their names' if names else ''}."
            )
        if not 0 <= v < n:
            raise ValueError(f"nodes has {v}, but x has the nodes 0 to {n - 1}.")
        found.append(int(v))
    return found


def _completed(
    labeler: Any, batch: Any, best: np.ndarray, v: int, k: int
) -> np.ndarray:
    """The best labelling in which node v has label k."""
    if best[v] == k:
        return best
    y, known = best.copy(), np.zeros(len(best), bool)
    y[v], known[v] = k, True
    given = partly_known(batch._replace(y=y), known)
    return complete_all(given, labeler._weights(), labeler._threads())


def _nodes(labeler: Any, graph: Any) -> list[tuple[str, list]]:
    """(name, labels) of every node, in the order of slots."""
    schema, found = labeler.structure_.schema, []
    for kind, labels in zip(schema.node_types, schema.labels, strict=True):
        for v in range(graph.counts.get(kind, 0)):
            own = graph.names[v] if graph.names is not None else v
            found.append((f"{kind or 'node'} {own}", labels))
    return found


def namer(labeler: Any) -> Callable[[int], str]:
    """What the weights are called, by number: names of weights that are their numbers."""
    numbered, schema = copy(labeler), labeler.structure_.schema
    numbers = np.arange(schema.n_weights, dtype=float)
    for attribute, value in public_weights(schema, numbers).items():
        setattr(numbered, attribute, value)
    found = {int(j): f"{g}: {name}" for g, name, j in all_weights(numbered)}
    return lambda j: found.get(j, f"weight {j}")


def named_weights(labeler: Any) -> list[tuple[str, str, float]]:
    """(type of nodes or edges, feature, weight), the largest first."""
    rows = [row for row in all_weights(labeler) if row[2]]
    return sorted(rows, key=lambda row: -abs(row[2]))
