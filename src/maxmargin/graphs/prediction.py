"""What a GraphLabeler does after training: predict, rank, complete, evaluate."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.completion import complete_all
from maxmargin.core.decode import decode
from maxmargin.core.encoded import check_lengths, check_weights
from maxmargin.core.expectations import expectations
from maxmargin.core.listed import given_or
from maxmargin.core.partial import partly_known
from maxmargin.core.structure import Outputs, check_k
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.calibration import Chances, logs, of_table, temperature_of
from maxmargin.graphs.batch import make_graphs, node_rows
from maxmargin.graphs.bounds import labelling_bounds
from maxmargin.graphs.inference.fractional import UNIT
from maxmargin.graphs.input import GraphInput, read_graphs
from maxmargin.graphs.labellings import Reweighting, elimination_graphs, with_search
from maxmargin.graphs.labels import compared, numbered, read_labels
from maxmargin.graphs.methods import exact_sums, labelling_batch, relaxed_batch
from maxmargin.graphs.metrics import GraphReport, graph_scores
from maxmargin.graphs.ranking import edge_tables, k_best, part_scores
from maxmargin.graphs.schema import check_graphs
from maxmargin.graphs.view import shown
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from maxmargin.graphs.bounds import LabellingBound


class GraphPrediction(Shown):
    """Prediction from ``_schema``, ``_w`` and the settings of a labeler."""

    _view = staticmethod(shown)

    @over_cluster()
    def predict(self, X: Any) -> list[Any]:
        """The best labels of every graph, in the order of its nodes.

        An array of labels; with types, a dict of them; for a networkx graph, a dict
        {node: label}.
        """
        inputs, _, flat = self._searched(X)
        return Outputs(self._outputs(inputs, flat))

    def predict_with_bounds(self, X: Any) -> list[tuple[Any, LabellingBound]]:
        """What :meth:`predict` says of every graph, and how good it is known to be.

        A :class:`~maxmargin.graphs.bounds.LabellingBound` has the labelling's ``score``
        and a ``bound`` that no labelling exceeds: equal where search is exact, that of
        the relaxation for "relaxed" (and "auto" on wide graphs), infinite for
        "expansion", "swap" and "max-product". ``gap`` is their relative difference.
        """
        inputs, batch, flat = self._searched(X)
        bounds = labelling_bounds(batch, flat, self._w)
        return list(zip(self._outputs(inputs, flat), bounds, strict=True))

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[Any, float]]]:
        """The k best labellings of every graph with their scores, best first.

        For graphs that are narrow enough for elimination: trees, chains, small grids.
        """
        k = check_k(k)
        inputs, graphs = self._graphs(X)
        ranked = k_best(self._narrow(graphs, "predict_k_best"), self._w, k)
        return [
            [(self._output(graph, states), value) for states, value in some]
            for graph, some in zip(inputs, ranked, strict=True)
        ]

    def predict_marginals(self, X: Any) -> list[Any]:
        """Per graph (nodes, labels): probabilities under exp(score) / Z.

        With types, a dict of them. They are exact, whatever ``inference`` says; graphs
        that are too wide for that are refused
        (:class:`~maxmargin.graphs.methods.TooWide`), see :meth:`predict_pseudo_marginals`.
        Scores of a maximum-margin model are not calibrated: these rank the labels, but
        0.9 need not mean right nine times out of ten, unless ``calibrate`` has seen
        held-out data.
        """
        inputs, graphs = self._graphs(X)
        y = np.zeros(int(graphs.node_start[-1]), np.int32)
        w = self._w / temperature_of(self)
        return self._expected(inputs, exact_sums(graphs, y), w)

    predict_proba = predict_marginals

    def predict_pseudo_marginals(self, X: Any) -> list[Any]:
        """Per graph (nodes, labels): shares of labels that are no probabilities.

        The gradient of the tree-reweighted upper bound of log Z, on graphs of any width:
        rows sum to 1, and on forests they are the probabilities. Where there are cycles
        they are more certain or less certain than those, without a bound on how much:
        they rank labels and nodes, and nothing else should be read from them.
        (Wainwright, Jaakkola & Willsky 2005.) With types, a dict.
        """
        inputs, graphs = self._graphs(X)
        y = np.zeros(int(graphs.node_start[-1]), np.int32)
        return self._expected(inputs, with_search(graphs, y, Reweighting()), self._w)

    def decision_function(self, X: Any) -> list[Any]:
        """Per graph (nodes, labels): the scores of nodes alone; with types, a dict."""
        inputs, graphs = self._graphs(X)
        return self._node_tables(inputs, part_scores(graphs, self._w))

    def edge_scores(self, X: Any) -> list[Any]:
        """Per graph (edges, labels, labels): the scores of edges, as X has them.

        With types, a dict by type of edges.
        """
        inputs, graphs = self._graphs(X)
        scores = part_scores(graphs, self._w)
        return edge_tables(self._schema, inputs, graphs, scores)

    def predict_relaxed(self, X: Any) -> list[Any]:
        """Per graph (nodes, labels): shares of labels in the best relaxed labelling.

        They are 0 or 1 where the local polytope's best point is a labelling, and that is
        then the best one; elsewhere they say what the relaxation leaves open. With types,
        a dict.
        """
        inputs, graphs = self._graphs(X)
        y = np.zeros(int(graphs.node_start[-1]), np.int32)
        batch = relaxed_batch(graphs, y, self._tolerance())
        flat = decode(batch, self._w, self._threads()) / UNIT
        parts = [flat[a:b] for a, b in pairwise(batch.start.tolist())]
        return self._node_tables(inputs, parts)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Share of the nodes, by size, that are labelled right."""
        X, y = check_lengths(X, y)
        weights = check_weights(sample_weight, len(y))
        right = total = 0.0
        for weight, x, truth, found in zip(weights, *self._compared(X, y), strict=True):
            for a, b, size in zip(truth, found, x, strict=True):
                if a is not None:
                    right += weight * size * (a == b)
                    total += weight * size
        return float(right / total) if total else 1.0

    def evaluate(self, X: Any, y: Any, *, predicted: Any = None) -> GraphReport:
        """A :class:`~maxmargin.graphs.metrics.GraphReport` of predictions.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        sizes, truth, found = self._compared(*check_lengths(X, y), predicted)
        return graph_scores(truth, found, sizes)

    def complete(self, X: Any, y: Any) -> list[Any]:
        """y with every None replaced by the best label, given the known ones."""
        X, y = check_lengths(X, y)
        inputs, graphs = self._graphs(X)
        schema = self._schema
        rows = read_labels(y, inputs)
        flat = numbered(rows, schema.node_types, schema.labels)
        batch = self._labelling_batch(graphs)._replace(y=np.maximum(flat, 0))
        found = complete_all(partly_known(batch, flat >= 0), self._w, self._threads())
        return Outputs(self._outputs(inputs, found))

    # helpers ---------------------------------------------------------------------------

    def _compared(self, X, y, predicted=None):
        """(sizes, true labels, predicted labels) of every graph, type by type."""
        inputs = read_graphs(X)
        read_labels(y, inputs)  # says what is wrong with them before any work
        found = given_or(predicted, lambda: self.predict(inputs), len(inputs))
        return compared(y, found, inputs)

    def _graphs(self, X):
        """(graphs as they were given, in flat arrays)."""
        check_is_fitted(self, "coef_")
        schema, inputs = self._schema, read_graphs(X)
        check_graphs(schema, inputs)
        rows = self._node_rows(inputs, schema, self._kernels)
        costs = [np.zeros((len(some), len(some))) for some in schema.labels]
        return inputs, make_graphs(schema, inputs, costs, rows)[0]

    @staticmethod
    def _node_rows(inputs, schema, kernels):
        """Features of all nodes, or their coordinates in the space of a kernel."""
        if kernels is not None:
            return kernels.rows(schema, inputs)
        return node_rows(schema, inputs)

    def _searched(self, X):
        """(graphs as they were given, the batch that was searched, its labellings)."""
        inputs, graphs = self._graphs(X)
        batch = self._labelling_batch(graphs)
        return inputs, batch, decode(batch, self._w, self._threads())

    def _labelling_batch(self, graphs):
        y = np.zeros(int(graphs.node_start[-1]), np.int32)
        return labelling_batch(self.inference, self._schema, graphs, y, self._w)

    def _narrow(self, graphs, what: str):
        y = np.zeros(int(graphs.node_start[-1]), np.int32)
        batch, wide = elimination_graphs(graphs, y)
        if batch is None:
            raise ValueError(
                f"{what} needs graphs that are narrow enough for elimination, and the "
                f"cycles of X[{wide}] join too many nodes."
            )
        return batch

    def _expected(self, inputs, batch, w) -> list[Any]:
        """Tables of the nodes' expected states, by a batch with sums."""
        return self._node_tables(inputs, expectations(batch, w, self._threads())[0])

    def _chances(self, X, y, predicted) -> Chances:
        if isinstance(self.classes_, dict):
            raise ValueError(
                "calibrate needs nodes of one type, which all have the same labels."
            )
        _, truth, found = self._compared(*check_lengths(X, y), predicted)
        table = np.concatenate(self.predict_marginals(X))
        flat = [list(chain.from_iterable(rows)) for rows in (truth, found)]
        known = [k for k, label in enumerate(flat[0]) if label is not None]
        rows = ([labels[k] for k in known] for labels in flat)
        return of_table(logs(table[known]), self.classes_.tolist(), *rows)

    def _right(self, X, y) -> list[bool]:
        _, truth, found = self._compared(*check_lengths(X, y))
        for i, labels in enumerate(truth):
            if labels and set(labels) == {None}:
                raise ValueError(
                    f"y[{i}] has no known label, so it is neither right nor wrong: leave "
                    "such graphs out."
                )
        pairs = zip(truth, found, strict=True)
        return [all(a in (None, b) for a, b in zip(*p, strict=True)) for p in pairs]

    def _outputs(self, inputs: list[GraphInput], flat) -> list[Any]:
        types = self._schema.node_types
        sizes = (sum(graph.counts.get(t, 0) for t in types) for graph in inputs)
        start = np.cumsum([0, *sizes])
        return [
            self._output(graph, flat[a:b])
            for graph, (a, b) in zip(inputs, pairwise(start.tolist()), strict=True)
        ]

    def _output(self, graph: GraphInput, states) -> Any:
        """The labels that these states of a graph's nodes stand for, as y has them."""
        schema = self._schema
        if not schema.typed:
            labels = self.classes_[states]
            if graph.names is None:
                return labels
            return dict(zip(graph.names, labels.tolist(), strict=True))
        out, at = {}, 0
        for name in schema.node_types:
            n = graph.counts.get(name, 0)
            if name in graph.nodes:
                out[name] = self.classes_[name][states[at : at + n]]
            at += n
        return out

    def _node_tables(self, inputs, parts) -> list[Any]:
        """Tables (nodes, labels) from numbers in the layout of theta."""
        schema, found = self._schema, []
        for graph, flat in zip(inputs, parts, strict=True):
            tables, at = {}, 0
            for name, labels in zip(schema.node_types, schema.labels, strict=True):
                n, k = graph.counts.get(name, 0), len(labels)
                if name in graph.nodes:
                    tables[name] = flat[at : at + n * k].reshape(n, k)
                at += n * k
            found.append(tables if schema.typed else next(iter(tables.values())))
        return found
