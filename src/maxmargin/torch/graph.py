"""Markov random fields on top of any network: nodes with labels, edges between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from maxmargin.core.checks import one_of
from maxmargin.core.partial import partly_known
from maxmargin.core.tables.label_costs import cost_table
from maxmargin.graphs.batch import make_graphs, node_rows
from maxmargin.graphs.input import read_graphs
from maxmargin.graphs.labellings import Reweighting, elimination_graphs, with_search
from maxmargin.graphs.schema import check_graphs, learn
from maxmargin.torch import checks
from maxmargin.torch.examples import Examples
from maxmargin.torch.scored import Scored
from maxmargin.torch.sequences import UNKNOWN, Sequences
from maxmargin.torch.structure import StructureLayer

METHODS = ("exact", "tree-reweighted")


class Graph(StructureLayer):
    """Labels of the nodes of graphs: the layer behind a network that scores nodes.

        score(y) = sum_v emissions[v, y_v] + sum over edges (u, v) of pairs[y_u, y_v]
                   (+ edge_scores[e, y_u, y_v])

    ``graph(emissions, labels, edges=edges, lengths=lengths)`` is the loss. Emissions are
    as those of :class:`maxmargin.torch.Chain`, with nodes for tokens; ``edges`` has for
    every graph a list of pairs of its nodes, and ``edge_scores``, if given, a tensor
    (edges, labels, labels) for every graph.

    Parameters
    ----------
    n_labels : int
    method : "exact" or "tree-reweighted"
        Elimination of nodes, for graphs that are narrow; or messages along trees, whose
        sums are an upper bound of log Z and whose best labels may miss the best, for any.
    cost : "hamming" or array (labels, labels)
    loss : module, optional

    Attributes
    ----------
    pairs : Parameter
        Scores of labels at both ends of an edge.
    """

    def __init__(
        self,
        n_labels: int,
        method: str = "exact",
        cost: Any = "hamming",
        loss: Any = None,
    ):
        super().__init__(loss)
        n = checks.whole("n_labels", n_labels)
        one_of("method", method, METHODS)
        self.n_labels, self.method = n, method
        self.cost = cost_table(cost, list(range(n)))
        self.pairs = torch.nn.Parameter(torch.zeros(n, n))

    def scored(
        self,
        emissions: Any,
        truths: Any = None,
        edges: Any = None,
        lengths: Any = None,
        edge_scores: Any = None,
    ) -> Scored:
        """Scores of nodes and edges as those of the parts of these labellings."""
        nodes = Sequences(emissions, self.n_labels, lengths)
        checks.same_device({"emissions": nodes.emissions, "the graph": self.pairs})
        given = _edges(edges, nodes)
        batch, order = self._batch(nodes, given, edge_scores is not None)
        if truths is not None:
            labels = nodes.labels(truths, {}).cpu().numpy()
            batch = batch._replace(y=np.maximum(labels, 0).astype(np.int32))
            if (labels == UNKNOWN).any():
                batch = partly_known(batch, labels != UNKNOWN)
        own = self._scores(nodes, given, order, edge_scores)
        sizes, n = nodes.sizes.tolist(), self.n_labels
        apart = edge_scores is not None
        tables = [len(pairs) if apart else min(len(pairs), 1) for pairs in given]

        def shape(found: Any) -> Any:
            whole = [k * n + t * n * n for k, t in zip(sizes, tables, strict=True)]
            parts = torch.split(found, whole)
            rows = [p[: k * n].reshape(k, n) for p, k in zip(parts, sizes, strict=True)]
            return nodes.as_given(torch.cat(rows) if rows else found.reshape(0, n))

        return Scored(own, Examples(batch, lambda i, y: y.tolist()), None, shape)

    def _batch(self, nodes: Sequences, edges: list, apart: bool) -> tuple[Any, list]:
        """(the batch, where the edges of every graph were in its list)."""
        inputs = read_graphs(
            [
                # equal features would share a table
                (np.zeros((k, 1)), e, np.arange(len(e))[:, None] if apart else None)
                for k, e in zip(nodes.sizes.tolist(), edges, strict=True)
            ]
        )
        schema = learn(inputs, "directed", 1)
        check_graphs(schema, inputs)
        schema.labels = [list(range(self.n_labels))]
        rows = node_rows(schema, inputs)
        graphs, given = make_graphs(schema, inputs, [self.cost], rows)
        y = np.zeros(int(graphs.node_start[-1]), np.int32)
        order = np.split(given, graphs.edge_start[1:-1])
        if self.method == "tree-reweighted":
            search: Any = Reweighting
            return with_search(graphs, y, search()), order
        batch, wide = elimination_graphs(graphs, y)
        if batch is None:
            raise ValueError(
                f"graph {wide} is too wide for exact sums: use method='tree-reweighted'."
            )
        return batch, order

    def _scores(
        self, nodes: Sequences, edges: list, order: list, edge_scores: Any
    ) -> Any:
        """Graph by graph: its nodes, then its tables."""
        rows = torch.split(nodes.emissions, nodes.sizes.tolist())
        single = nodes.emissions.dtype in (torch.float16, torch.bfloat16)
        real = torch.float32 if single else nodes.emissions.dtype
        pairs = self.pairs.to(real)
        parts = [pairs.reshape(-1)[:0]]
        n = self.n_labels
        if edge_scores is not None and len(edge_scores) != len(edges):
            raise ValueError(
                f"there are edge_scores of {len(edge_scores)} graphs, but {len(edges)} "
                "graphs."
            )
        for i, row in enumerate(rows):
            parts.append(row.to(real).reshape(-1))
            if edge_scores is None:
                parts.append(pairs.reshape(-1)[: n * n if len(edges[i]) else 0])
                continue
            table = edge_scores[i]
            checks.is_real(table, f"edge_scores[{i}]")
            checks.same_device({"emissions": row, f"edge_scores[{i}]": table})
            if tuple(table.shape) != (len(edges[i]), n, n):
                raise ValueError(
                    f"edge_scores[{i}] has the shape {tuple(table.shape)}: it must be "
                    f"({len(edges[i])}, {n}, {n})."
                )
            table = table.to(real)[torch.from_numpy(order[i]).to(table.device)] + pairs
            parts.append(table.reshape(-1))
        return torch.cat(parts)


def _edges(edges: Any, nodes: Sequences) -> list[np.ndarray]:
    if edges is None:
        raise ValueError(
            "give the edges: for every graph a list of pairs of its nodes."
        )
    edges = list(edges)
    if len(edges) != len(nodes):
        raise ValueError(
            f"there are edges of {len(edges)} graphs for {len(nodes)} graphs."
        )
    out = []
    for i, some in enumerate(edges):
        rows = checks.whole_numbers(some)
        if rows is None or (rows.numel() and (rows.dim() != 2 or rows.shape[1] != 2)):
            raise ValueError(
                f"edges[{i}] must be pairs of nodes, one row (node, node) per edge; an "
                "array with two rows is to be transposed."
            )
        out.append(rows.reshape(-1, 2).numpy())
    return out
