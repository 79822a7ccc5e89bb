"""Labels as the nodes of a graph: pairs of them have scores too.

    score(Y) = sum over k in Y of theta_k  +  sum over edges (j, k) of E_jk[j in Y, k in Y]

Every input has the same graph, so this is the family ``graphs`` with a type of nodes for
every label and one of edges for every pair. There a node has weights for both its states:
features times sqrt(1/2) make their difference theta_k and their norm that of one row, so
that a graph without edges is the plain machine, with the same C.

The tree is the one of largest mutual information (Chow & Liu 1968). Search is exact, by
elimination in trees and other narrow graphs, over all sets of up to 16 labels; else it is
relaxed, and so is the certificate. (Finley & Joachims 2008.)
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from maxmargin.graphs.batch import Graphs, Rows
from maxmargin.graphs.field import make_field
from maxmargin.graphs.labellings import (
    Reweighting,
    Rounding,
    elimination_graphs,
    with_search,
)
from maxmargin.graphs.methods import TooWide, exact_sums, relaxed_batch
from maxmargin.graphs.schema import Blocks
from maxmargin.multilabel.subsets import MOST, AllSets

SHRUNK = np.sqrt(0.5)
WIDEST = 1 << 16  # joint states up to which search is exact
FORMS = "choose None, 'tree', 'full', or a list of pairs of labels"


def chosen_edges(graph, truth, classes, weights) -> np.ndarray:
    """int64[edges, 2]: the pairs of labels that ``graph`` means."""
    n = len(classes)
    if isinstance(graph, str):
        if graph == "full":
            pairs = list(combinations(range(n), 2))
            return np.array(pairs, np.int64).reshape(-1, 2)
        if graph == "tree":
            return likely_tree(truth, weights)
        raise ValueError(f"graph={graph!r} is not known; {FORMS}.")
    number = {label: k for k, label in enumerate(classes.tolist())}
    try:
        pairs = [tuple(pair) for pair in graph]
        if any(len(pair) != 2 for pair in pairs):
            raise TypeError
    except TypeError:
        raise ValueError(f"graph={graph!r} is not possible; {FORMS}.") from None
    found, seen = [], set()
    for pair in pairs:
        unknown = [label for label in pair if label not in number]
        if unknown:
            raise ValueError(
                f"graph has the pair {pair!r}, but {unknown[0]!r} is no label of y."
            )
        ends = number[pair[0]], number[pair[1]]
        if ends[0] == ends[1] or frozenset(ends) in seen:
            what = (
                "joins a label with itself" if ends[0] == ends[1] else "is there twice"
            )
            raise ValueError(
                f"graph has the pair {pair!r}, which {what}: leave it out."
            )
        seen.add(frozenset(ends))
        found.append(ends)
    return np.array(found, np.int64).reshape(-1, 2)


def check_edges(edges: np.ndarray) -> None:
    """ValueError unless all pairs of a model file join two labels, and none is twice."""
    if (edges[:, 0] == edges[:, 1]).any():
        raise ValueError("an edge joins a label with itself")
    if len(np.unique(np.sort(edges, axis=1), axis=0)) < len(edges):
        raise ValueError("an edge is there twice")


def mutual_information(truth, weights) -> np.ndarray:
    """float64[labels, labels], in nats, of the weighted samples."""
    total = max(weights.sum(), 1e-300)
    on = np.asarray(truth, float)
    both = (on * weights[:, None]).T @ on / total
    share = np.diag(both)
    out = np.zeros_like(both)
    for a in (0, 1):
        for b in (0, 1):
            p, q = (share if a else 1 - share), (share if b else 1 - share)
            joint = {
                (1, 1): both,
                (1, 0): share[:, None] - both,
                (0, 1): share - both,
                (0, 0): 1 - share[:, None] - share + both,
            }[a, b]
            product = np.outer(p, q)
            real = (joint > 1e-15) & (product > 0)
            out[real] += joint[real] * np.log(joint[real] / product[real])
    return out


def likely_tree(truth, weights) -> np.ndarray:
    """The spanning tree of largest mutual information, by Prim; the first of equal ones."""
    known = mutual_information(truth, weights)
    n = len(known)
    nearest, best = np.zeros(n, np.int64), known[0].copy()
    outside = np.ones(n, bool)
    outside[:1] = False
    edges = []
    for _ in range(n - 1):
        k = int(np.argmax(np.where(outside, best, -np.inf)))
        edges.append(sorted((int(nearest[k]), k)))
        outside[k] = False
        closer = outside & (known[k] > best)
        best[closer], nearest[closer] = known[k][closer], k
    return np.array(sorted(edges), np.int64).reshape(-1, 2)


# the family graphs ---------------------------------------------------------------------


def make_label_graphs(rows, n_features: int, n_labels: int, edges, cost):
    """``Graphs`` with a node per label, for these rows in CSR form."""
    indptr, indices, values = rows
    n, m = len(indptr) - 1, len(edges)
    each = np.arange(n_labels, dtype=np.int64)
    pairs = np.arange(m, dtype=np.int64)
    field = make_field(np.full(n_labels, 2), edges)
    cost = np.asarray(cost, float)
    blocks = Blocks(
        states=np.full(n_labels, 2, np.int64),
        node_w=2 * n_features * each,
        edge_w=2 * n_features * n_labels + 4 * pairs,
        rows=np.full(m, 4, np.int64),
        cell_at=4 * np.arange(m + 1, dtype=np.int64),
        cells=np.tile(np.arange(4, dtype=np.int32), m),
        cost_at=4 * each,
        cost=np.stack([0 * cost, cost, cost, 0 * cost], 1).ravel(),
    )
    longest = int(np.diff(indptr).max(initial=0))
    return Graphs(
        node_start=n_labels * np.arange(n + 1, dtype=np.int64),
        edge_start=m * np.arange(n + 1, dtype=np.int64),
        table_start=m * np.arange(n + 1, dtype=np.int64),
        node_type=np.tile(each.astype(np.int32), n),
        node_row=np.repeat(np.arange(n, dtype=np.int64), n_labels),
        size=np.ones(n * n_labels),
        node_at=np.tile(field.node_at, n),
        arc_start=np.tile(field.arc_start, n),
        arcs=np.tile(field.arcs, n),
        ends=np.tile(field.ends, (n, 1)),
        edge_at=np.tile(field.edge_at, n),
        table_type=np.tile(pairs.astype(np.int32), n),
        table_row=np.zeros(n * m, np.int64),
        table_at=np.tile(field.edge_at, n),
        table_edges=np.arange(n * m + 1, dtype=np.int64),
        nodes=Rows(
            np.asarray(indptr, np.int64),
            np.asarray(indices, np.int32),
            SHRUNK * np.asarray(values, np.float64),
        ),
        edges=Rows(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1)),
        blocks=blocks,
        most_parts=2 * n_labels + 4 * m,
        most_entries=n_labels * longest + m,
        least=float(cost[cost > 0].min(initial=np.inf)),
    )


def training_batch(graphs, truth, objective: str, tol: float):
    """(name of the method, a batch to train with)."""
    y = np.ascontiguousarray(truth, np.int32).ravel()
    found = exact_batch(graphs, y, objective)
    if found is not None:
        return found
    if objective == "log":
        return "reweighted", with_search(graphs, y, Reweighting())
    return "relaxed", relaxed_batch(graphs, y, tol)


def summing_batch(graphs, y):
    """A batch with exact sums over all sets, for probabilities."""
    try:
        return exact_sums(graphs, y)
    except TooWide:
        raise ValueError(
            "graph= joins too many labels for probabilities: there are too many sets to "
            "sum over. decision_function has margins of labels; graph='tree' has "
            "probabilities for any number of labels."
        ) from None


def searching_batch(graphs):
    """A batch whose search finds the best set, or a good one."""
    y = np.zeros(int(graphs.node_start[-1]), np.int32)
    found = exact_batch(graphs, y)
    if found is not None:
        return found[1]
    return with_search(graphs, y, Rounding())


def exact_batch(graphs, y, objective: str = "hinge"):
    """(name of the method, batch) of an exact search, or None."""
    sets = 1 << len(graphs.blocks.states)
    few = sets <= min(WIDEST, 1 << MOST) and objective != "log"
    # of all sets, each costs less than a joint state of elimination
    batch, _ = elimination_graphs(graphs, y, sets >> 3 if few else WIDEST)
    if batch is not None:
        return "elimination", batch
    return ("all sets", with_search(graphs, y, AllSets())) if few else None


def unpacked(w, n_labels: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """(rows of labels (labels, features), tables of edges (edges, 2, 2)) of weights."""
    cut = 2 * n_features * n_labels
    nodes = np.asarray(w[:cut], np.float64).reshape(n_labels, n_features, 2)
    rows = SHRUNK * (nodes[:, :, 1] - nodes[:, :, 0])
    return rows, np.array(w[cut:], np.float64).reshape(-1, 2, 2)


def packed(rows, tables) -> np.ndarray:
    """The weights that :func:`unpacked` makes these of."""
    half = 0.5 / SHRUNK * np.asarray(rows)
    return np.concatenate([np.stack([-half, half], 2).ravel(), np.ravel(tables)])
