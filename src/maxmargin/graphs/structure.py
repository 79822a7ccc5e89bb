"""Graphs as a structure: nodes and edges in, a label for every node out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.core.completion import complete_all
from maxmargin.core.decode import decode
from maxmargin.core.encoded import Encoded, Training, check_lengths, check_weights
from maxmargin.core.expectations import expectations
from maxmargin.core.partial import partly_known
from maxmargin.core.saved import Saved
from maxmargin.core.structure import Outputs, Structure, check_k
from maxmargin.fitting.tables import weigh
from maxmargin.graphs.batch import Graphs, make_graphs, node_rows
from maxmargin.graphs.input import GraphInput, read_graphs, refuse_one_graph
from maxmargin.graphs.kernels import NodeKernels
from maxmargin.graphs.known import known_parts
from maxmargin.graphs.labellings import Reweighting, elimination_graphs, with_search
from maxmargin.graphs.labels import label_sets, node_costs, numbered, read_labels
from maxmargin.graphs.methods import (
    CHOSEN,
    RELAXED,
    exact_sums,
    labelling_batch,
    training_batch,
)
from maxmargin.graphs.ranking import k_best
from maxmargin.graphs.scale_rule import C_by_scale
from maxmargin.graphs.schema import Schema, check_graphs, learn, public_weights


@dataclass
class LabelledGraphs(Structure):
    """Markov random fields; the parameters are those of `GraphLabeler`."""

    loss: Any = "hamming"
    edges: str = "directed"
    inference: str = "auto"
    fit_intercept: bool = True
    unlabelled_weight: float = 0.1
    kernel: Any = None
    method: str = "exact"
    n_components: int = 500
    gamma: float | str = "scale"
    kernel_memory: float = 4e9
    random_state: Any = None
    schema: Schema = field(init=False, repr=False)
    kernels: NodeKernels | None = field(default=None, init=False, repr=False)
    used: str = field(init=False, repr=False)  # the method of inference in training

    # batches ---------------------------------------------------------------------------

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        refuse_one_graph(X)
        X, Y = check_lengths(X, Y)
        weights = check_weights(training.sample_weight, len(X))
        inputs = read_graphs(X)
        self.schema = learn(inputs, self.edges, int(bool(self.fit_intercept)))
        if not any(g.counts.get(name, 0) for g in inputs for name in g.nodes):
            raise ValueError("all graphs of X are empty: some node is needed.")
        check_graphs(self.schema, inputs)
        rows = read_labels(Y, inputs)
        self.schema.labels = label_sets(rows, self.schema.node_types)
        features = None
        if self.kernel is not None:
            self.kernels, features = NodeKernels.learn(self, self.schema, inputs)
        known = [
            {name: [v for v in some if v is not None] for name, some in row.items()}
            for row in rows
        ]
        if known != rows:
            labelled = [
                any(some.values()) or not any(row.values())
                for some, row in zip(known, rows, strict=True)
            ]
            weights = weigh(self, weights, labelled)
        self.used, encoded = self._encoded(inputs, rows, weights, training, features)
        if known == rows:
            return encoded
        sure = known_parts(inputs, rows)
        return replace(encoded, first=self._encoded(sure, known, weights, training)[1])

    def _encoded(
        self, inputs, rows, weights, training, features=None
    ) -> tuple[str, Encoded]:
        """(the method of inference, the data for training with it)."""
        schema = self.schema
        features = self._node_rows(inputs) if features is None else features
        flat = numbered(rows, schema.node_types, schema.labels)
        costs = node_costs(self.loss, schema)
        graphs, _ = make_graphs(schema, inputs, costs, features)
        settings = self.inference, training.objective, schema, graphs, flat
        name, batch = training_batch(*settings, training.tol)
        signs = None
        if self.edges == "associative" and training.objective != "log":
            signs = np.arange(schema.n_node_weights, schema.n_weights)
        C = training.C
        if C is None:
            C = C_by_scale(graphs, weights, training.objective)
        size = schema.n_weights
        return name, Encoded(batch, size, np.float64, weights, nonnegative=signs, C=C)

    def graphs(self, X: Any) -> tuple[list[GraphInput], Graphs]:
        """(graphs as they were given, in flat arrays)."""
        inputs = read_graphs(X)
        check_graphs(self.schema, inputs)
        rows = self._node_rows(inputs)
        costs = [np.zeros((len(some), len(some))) for some in self.schema.labels]
        return inputs, make_graphs(self.schema, inputs, costs, rows)[0]

    def _node_rows(self, inputs):
        """Features of all nodes, or their coordinates in the space of a kernel."""
        if self.kernels is not None:
            return self.kernels.rows(self.schema, inputs)
        return node_rows(self.schema, inputs)

    def encode(self, X: Any, w: np.ndarray | None = None) -> Any:
        """A batch to search under weights w: cuts need some that are not negative."""
        return self.searching(self.graphs(X)[1], w)

    def searching(self, graphs: Graphs, w: np.ndarray | None = None) -> Any:
        return labelling_batch(
            self.inference, self.schema, graphs, first_states(graphs), w
        )

    # predictions -----------------------------------------------------------------------

    def search(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> tuple[list, Any, Any]:
        """(graphs as they were given, the batch that was searched, its labellings)."""
        inputs, graphs = self.graphs(X)
        batch = self.searching(graphs, w)
        return inputs, batch, decode(batch, w, n_jobs)

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list[Any]:
        inputs, _, flat = self.search(X, w, n_jobs)
        return self.outputs(inputs, flat)

    def predict_k_best(
        self, X: Any, w: np.ndarray, k: int, n_jobs: int = 1
    ) -> list[list[tuple[Any, float]]]:
        """The k best labellings of every graph with their scores, best first."""
        k = check_k(k)
        inputs, graphs = self.graphs(X)
        batch, wide = elimination_graphs(graphs, first_states(graphs))
        if batch is None:
            raise ValueError(
                "predict_k_best needs graphs that are narrow enough for elimination, and "
                f"the cycles of X[{wide}] join too many nodes."
            )
        labels = self._labels()
        return [
            [(self._named(graph, states, labels), value) for states, value in some]
            for graph, some in zip(inputs, k_best(batch, w, k), strict=True)
        ]

    def predict_marginals(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list[Any]:
        """Per graph (nodes, labels): probabilities under exp(score) / Z."""
        inputs, graphs = self.graphs(X)
        batch = exact_sums(graphs, first_states(graphs))
        return self.node_tables(inputs, expectations(batch, w, n_jobs)[0])

    def predict_pseudo_marginals(
        self, X: Any, w: np.ndarray, n_jobs: int = 1
    ) -> list[Any]:
        """The same of the tree-reweighted bound of log Z, which are no probabilities."""
        inputs, graphs = self.graphs(X)
        batch = with_search(graphs, first_states(graphs), Reweighting())
        return self.node_tables(inputs, expectations(batch, w, n_jobs)[0])

    def complete(self, x: Any, w: np.ndarray, y: Any) -> Any:
        """y with every None replaced by the best label, given the known ones."""
        return self.complete_all([x], [y], w)[0]

    def complete_all(self, X: Any, Y: Any, w: np.ndarray, n_jobs: int = 1) -> list[Any]:
        """The same for many graphs."""
        inputs, graphs = self.graphs(X)
        rows = read_labels(Y, inputs)
        flat = numbered(rows, self.schema.node_types, self.schema.labels)
        batch = self.searching(graphs, w)._replace(y=np.maximum(flat, 0))
        found = complete_all(partly_known(batch, flat >= 0), w, n_jobs)
        return self.outputs(inputs, found)

    def outputs(self, inputs: list[GraphInput], flat: np.ndarray) -> list[Any]:
        """The labels of all graphs, from states one after the other."""
        types = self.schema.node_types
        sizes = (sum(graph.counts.get(t, 0) for t in types) for graph in inputs)
        start, labels = np.cumsum([0, *sizes]), self._labels()
        return Outputs(
            self._named(graph, flat[a:b], labels)
            for graph, (a, b) in zip(inputs, pairwise(start.tolist()), strict=True)
        )

    def _labels(self) -> dict[str, np.ndarray]:
        """The labels of nodes by type, made once for all graphs."""
        pairs = zip(self.schema.node_types, self.schema.labels, strict=True)
        return {name: np.array(labels) for name, labels in pairs}

    def _named(self, graph: GraphInput, states: np.ndarray, labels: dict) -> Any:
        """The labels that these states of a graph's nodes stand for, as Y has them."""
        out, at = {}, 0
        for name, names in labels.items():
            n = graph.counts.get(name, 0)
            if name in graph.nodes:
                out[name] = names[states[at : at + n]]
            at += n
        if self.schema.typed:
            return out
        (found,) = out.values()
        if graph.names is None:
            return found
        return dict(zip(graph.names, found.tolist(), strict=True))

    def node_tables(self, inputs: list[GraphInput], parts: Any) -> list[Any]:
        """Tables (nodes, labels) from numbers in the layout of theta."""
        schema, found = self.schema, []
        for graph, flat in zip(inputs, parts, strict=True):
            tables, at = {}, 0
            for name, labels in zip(schema.node_types, schema.labels, strict=True):
                n, k = graph.counts.get(name, 0), len(labels)
                if name in graph.nodes:
                    tables[name] = flat[at : at + n * k].reshape(n, k)
                at += n * k
            found.append(tables if schema.typed else next(iter(tables.values())))
        return found

    # weights ---------------------------------------------------------------------------

    def split(self, w: np.ndarray) -> dict[str, Any]:
        w = np.array(w, np.float64)
        return {"_w": w, **public_weights(self.schema, w)}

    def join(self, fitted: Any) -> np.ndarray:
        return fitted._w

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        return {"inference_": self.used, "relaxed_": self.used in RELAXED}

    def saved(self) -> tuple[dict, dict]:
        arrays, kernels = ({}, {}) if self.kernels is None else self.kernels.state()
        return arrays, {"schema": self.schema.state(), "kernels": kernels}

    def restore(self, saved: Saved, sizes: dict[str, int]) -> None:
        state = Saved({}, saved.value("schema", dict))
        self.schema = schema = Schema.from_state(state, self.edges)
        kernels = Saved(saved.arrays, saved.value("kernels", dict))
        if kernels.state:
            self.kernels = NodeKernels.from_state(kernels, schema, self)
        elif schema.node_widths != [d + schema.constant for d in schema.given_widths]:
            raise ValueError("features and weights do not fit together")
        self.used = saved.value("inference", str)
        if self.used not in CHOSEN:
            raise ValueError("its method of inference is not known")
        if sizes["w"] != schema.n_weights:
            raise ValueError("graphs and weights do not fit together")


def first_states(graphs: Graphs) -> np.ndarray:
    """A state for every node, where none is known."""
    return np.zeros(int(graphs.node_start[-1]), np.int32)
