"""LinkClusterer: clusters by links between pairs, such as coreference."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from maxmargin.clusterings.documents import first_mentions
from maxmargin.clusterings.metrics import ClusterReport, cluster_scores
from maxmargin.clusterings.pairs import pair_index
from maxmargin.clusterings.parameters import LinkClustererParameters
from maxmargin.clusterings.scorers import conll_f1
from maxmargin.clusterings.structure import Clusterings
from maxmargin.clusterings.view import clusters
from maxmargin.core.decode import decode
from maxmargin.core.encoded import check_lengths
from maxmargin.core.listed import given_or
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.latent_training import check_latent_parameters
from maxmargin.fitting.parameters import refuse_unused
from maxmargin.fitting.saving import floats, number
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class LinkClusterer(LinkClustererParameters, Shown, MaxMarginEstimator, init=False):
    """Cluster the mentions of documents by learned scores of pairs.

    With method="forest", clusters are the trees of the best forest of links, which is
    hidden in training (Yu & Joachims 2009, see ``maxmargin.clusterings.forests``): a
    mention need only be linked to one other of its cluster. With "correlation", all pairs
    of a cluster count (Finley & Joachims 2005), and search is approximate.

    Parameters
    ----------
    C : float, default 0.1
        Weight of the data, per document: not divided by their number or by their mentions.
    method : {"forest", "correlation"}
    r : float, default 0.5
        What a link between different clusters costs in training, compared with 1 for a
        missing link; small values (0.01) lead to more links. For forests.
    fit_intercept : bool, default True
        Add a constant feature to tables of pairs. Its weight is regularised like the
        others.
    init : "given", "random", array or fitted model, default "given"
        The first forests: chains in the order of the document, at random, or the best ones
        under weights.
    unlabelled_weight : float, default 0.1
        Factor for the sample weight of documents whose clusters are all None (unknown).
        None in place of a cluster id means that this one is unknown
        (``docs/partial-labels.md``). For forests.
    pair_memory : float, default 4e9
        Bytes that the pairs of documents with words may take, in training and prediction,
        at about 130 bytes each. If they need more, they are refused before any is encoded.
    window : int or None, default 1000
        Mentions of documents with words are compared with this many before them, so that
        memory grows linearly with mentions; None means all of them. For forests.
    n_restarts, max_outer, self_paced
        As in :class:`maxmargin.LatentStructuralSVM`.
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    coef_ : ndarray, a weight for each feature of a pair
    intercept_ : float
    feature_names_ : list of str, for documents with words
    types_ : tuple of str, the types of entities in training
    certificate_, rounds_, restarts_, history_, n_iter_, n_outer_, converged_

    Examples
    --------
    Pairs of n mentions stand in the order (0, 1), (0, 2), ..., (1, 2), ...:

    >>> from maxmargin import LinkClusterer
    >>> X = [[[1.0], [-1.0], [-1.0]], [[-1.0], [-1.0], [1.0]]]  # two documents
    >>> y = [[0, 0, 1], ["a", "b", "b"]]
    >>> model = LinkClusterer(C=10).fit(X, y)
    >>> model.predict([[[-1.0], [1.0], [-1.0]]])
    [[0, 1, 0]]
    """

    _view = staticmethod(clusters)

    _structure_class = Clusterings
    _model_name = "LinkClusterer.v1"
    _scorers = (conll_f1,)
    _fields = floats("coef_", "n"), number("intercept_")
    _no_sums = "a LinkClusterer has no sum over forests of links"

    @over_cluster()
    def predict(self, X: Any) -> list[list[int]]:
        """Ids 0, 1, ... of the clusters of every document's mentions."""
        return self._predicted(X)

    def predict_links(self, X: Any) -> list[list[tuple[int, int, float]]]:
        """The links (a, b, score), a < b, of every document's forest.

        With method="correlation", the best link of each mention to one before it in its
        cluster.
        """
        batch, labels = self._decoded(X)
        scores, chosen = self._pair_scores(batch), self.method == "forest"
        return [
            _links(y.tolist(), scores[i], batch.pairs.window, chosen)
            for i, y in enumerate(_parts(batch.start, labels))
        ]

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """The scores of all pairs of every document that the window holds."""
        return self._pair_scores(self._batch(X))

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The CoNLL average: mean F1 of MUC, B-cubed and CEAF, from 0 to 1."""
        if sample_weight is not None:
            raise ValueError("score pools all documents: sample_weight must be None.")
        return self.evaluate(X, y).conll

    def evaluate(self, X: Any, y: Any, *, predicted: Any = None) -> ClusterReport:
        """A :class:`~maxmargin.clusterings.metrics.ClusterReport` of predictions.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        check_is_fitted(self, "coef_")
        X, y = check_lengths(X, y)
        found = given_or(predicted, lambda: self.predict(X), len(X))
        truth = [
            first_mentions(clusters, len(labels), f"y[{i}]")
            for i, (clusters, labels) in enumerate(zip(y, found, strict=True))
        ]
        known = [np.ones(len(z), bool) for z in truth]
        self.structure_.inputs.check_clusters(X, truth, known)
        return cluster_scores(truth, found)

    # training --------------------------------------------------------------------------

    def _check(self) -> None:
        check_latent_parameters(self, hides=self.method == "forest")
        if self.method != "forest":
            refuse_unused(self, ("r",), "it is a cost of links, for method='forest'.")

    # prediction ------------------------------------------------------------------------

    def _batch(self, X):
        return self._fitted().encode(X)

    def _decoded(self, X):
        batch = self._batch(X)
        return batch, decode(batch, self._weights(), self._threads())

    def _pair_scores(self, batch) -> list[np.ndarray]:
        pairs, w = batch.pairs, self._weights()
        shape = len(pairs.indptr) - 1, len(w)
        rows = csr_matrix((pairs.values, pairs.indices, pairs.indptr), shape) @ w
        found = []
        for i in range(len(batch.start) - 1):
            codes = pairs.codes[pairs.pair_start[i] : pairs.pair_start[i + 1]]
            found.append(rows[pairs.row_start[i] + codes].sum(axis=1))
        return found


def _parts(start, labels) -> list[np.ndarray]:
    """The slots of every document."""
    return [labels[a:b] for a, b in pairwise(start.tolist())]


def _links(y: list[int], scores, window: int, chosen: bool) -> list:
    """Links with scores: parents, or if not ``chosen``, the best ones in clusters."""
    n, found = len(y), []

    def score(u: int, v: int) -> float:
        return float(scores[pair_index.py_func(n, window, u, v)])

    for v, parent in enumerate(y):
        if not chosen:
            others = [u for u in range(v) if y[u] == parent]
            parent = max(others, key=lambda u: score(u, v), default=v)
        if parent != v:
            found.append((min(parent, v), max(parent, v), score(parent, v)))
    return sorted(found)
