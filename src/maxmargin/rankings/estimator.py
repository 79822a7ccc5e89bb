"""TopKRanker: put what is relevant to a query first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.encoded import Encoded
from maxmargin.core.listed import given_or
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.latent_training import LATENT, check_latent_parameters
from maxmargin.fitting.parameters import refuse_unused
from maxmargin.fitting.saving import FEATURE_NAMES, floats
from maxmargin.fitting.tables import read_new, read_rows
from maxmargin.metrics.scorer import Scorer
from maxmargin.rankings import metrics
from maxmargin.rankings.metrics import AT, RankingReport, ranking_scores
from maxmargin.rankings.parameters import TopKRankerParameters
from maxmargin.rankings.queries import Documents, group, unpack
from maxmargin.rankings.scorers import (
    mean_average_precision,
    ndcg_at,
    precision_at,
)
from maxmargin.rankings.structure import Rankings
from maxmargin.rankings.view import ranking
from maxmargin.report.findings import indexed
from maxmargin.views.view import View

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from maxmargin.report.report import Report


class TopKRanker(TopKRankerParameters, MaxMarginEstimator, init=False):
    """Rank the documents of a query by ``coef_ @ x``, trained for a measure of rankings.

    Minimises ``1/2 |w|^2 + C sum_q s_q H_q(w)`` over queries q, where H_q bounds the loss
    of the ranking by w. It is convex and certified, except for "precision": there, the
    order of the relevant documents is hidden, and training ends at a stationary point (Yu &
    Joachims 2009). See ``maxmargin/rankings/top_k.py`` and ``pairs.py``.

    Parameters
    ----------
    k : int, default 10
        Number of places that count, for "precision"; in lists of at most k documents, which
        could lose nothing, the number of relevant documents. For "ndcg", the places that
        ``score`` counts.
    C : float or None, default None
        Weight of the data, per query. None is 2 / v, where v is the total variance of the
        features, with no column counting for more than ten times the median: the ranking
        does not depend on the unit of the features. ``C_`` is the value used.
    loss : str, default "ndcg"
        "ndcg": 1 - NDCG of the whole ranking, with gains 2^grade - 1; "precision": the best
        possible precision at k minus the one reached; "average-precision": 1 - average
        precision; "pairwise": share of pairs of documents with different grades that are in
        the wrong order (Ranking SVM).
    relevant : float, default 1.0
        The lowest relevant grade. For "ndcg", lower ones gain nothing; "pairwise"
        compares all grades.
    init : "classification", "random", array or fitted model, default "classification"
        Where "precision" starts: from the weights of a classification SVM in which every
        query has the same weight, at random (which mostly ends at w = 0), or from given
        weights.
    n_restarts, max_outer, self_paced :
        As in :class:`maxmargin.LatentStructuralSVM`, for "precision".
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume :
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    coef_ : ndarray of shape (features,)
    initial_ : ndarray, the weights that "precision" began with, if init="classification"
    n_features_in_, certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`; for "precision" also ``rounds_``,
        ``restarts_`` and ``n_outer_``.

    Examples
    --------
    >>> from maxmargin import TopKRanker
    >>> X = [[3.0, 0.1], [1.0, 0.2], [0.0, 0.9], [0.4, 0.5], [0.1, 0.8], [0.9, 0.1]]
    >>> y = [1, 0, 0, 0, 0, 1]
    >>> qid = ["cats", "cats", "cats", "dogs", "dogs", "dogs"]
    >>> model = TopKRanker(C=10).fit(X, y, qid)
    >>> model.rank(X, qid).tolist()
    [0, 1, 2, 5, 3, 4]
    >>> model.score(X, y, qid)
    1.0
    """

    _structure_class = Rankings
    _model_name = "TopKRanker.v1"
    _fields = (
        floats("coef_", "d"),
        floats("initial_", "d", optional=True),
        FEATURE_NAMES,
    )
    _given = ("given", "classification")
    _dev_names = ("X", "y", "qid")
    _no_sums = "rankings have no sums over all orders"

    # scikit-learn's metadata routing hands the queries over without being asked to
    __metadata_request__fit = __metadata_request__score = {"qid": True}  # noqa: RUF012

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(
        self,
        X: Any,
        y: Any,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        dev: Any = None,
        Cs: Iterable[float] | None = None,
    ) -> Self:
        """Train on documents X with grades y, where qid says to which query each belongs.

        Documents of a query need not stand together; a DataFrame X may have the queries in
        its column "qid". ``sample_weight`` has one number for every query, in the order in
        which queries first appear. ``dev`` and ``Cs`` are as in
        :meth:`maxmargin.StructuralSVM.fit`, with dev=(X_dev, y_dev, qid_dev), or without
        the last for a DataFrame that has them.
        """
        return super().fit((X, qid), y, sample_weight, dev=dev, Cs=Cs)

    @property
    def _scorers(self) -> tuple[Scorer, ...]:
        """What training is for."""
        at_k = {"precision": precision_at, "ndcg": ndcg_at}.get(self.loss)
        return (mean_average_precision if at_k is None else at_k(self.k),)

    def path(
        self,
        X: Any,
        y: Any,
        Cs: Iterable[float],
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> list:
        """Fit one model per C; see :meth:`StructuralSVM.path`."""
        return super().path((X, qid), y, Cs, sample_weight)

    def predict(self, X: Any, qid: Any = None) -> np.ndarray:
        """The score of every document; it is compared within a query only."""
        check_is_fitted(self, "coef_")
        X, _ = unpack(X, qid)
        structure = self._structure_class()  # parameters change nothing of a product
        return structure.predict(read_new(self, X), self.coef_)

    def decision_function(self, X: Any) -> np.ndarray:
        """The same as predict."""
        return self.predict(X)

    def rank(self, X: Any, qid: Any = None) -> np.ndarray:
        """Rows of X, query after query as they first appear, each with the best first.

        Documents with equal scores stand as they were given.
        """
        scores = self.predict(X)
        _, qid = unpack(X, qid)
        groups = group(qid, len(scores))
        ranked = [rows[np.argsort(-scores[rows], kind="stable")] for rows in groups]
        return np.concatenate([np.zeros(0, np.int64), *ranked])

    def score(self, X: Any, y: Any, qid: Any = None) -> float:
        """What training is for: P@k, NDCG@k, MAP, or the share of pairs in order."""
        scores = self.predict(X)
        _, qid = unpack(X, qid)
        if self.loss == "precision":
            return metrics.precision_at_k(y, scores, qid, self.k, self.relevant)
        if self.loss == "ndcg":
            return metrics.ndcg_at_k(y, scores, qid, self.k)
        if self.loss == "pairwise":
            return metrics.pairs_in_order(y, scores, qid)
        return metrics.mean_average_precision(y, scores, qid, self.relevant)

    def evaluate(
        self, X: Any, y: Any, qid: Any = None, *, at: Any = None, predicted: Any = None
    ) -> RankingReport:
        """A :class:`~maxmargin.rankings.metrics.RankingReport` of predictions.

        ``at`` has the numbers of places to report, by default 1, 3, 5, 10 and k;
        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        scores = given_or(predicted, lambda: self.predict(X))
        _, qid = unpack(X, qid)
        at = sorted({*AT, self.k}) if at is None else at
        return ranking_scores(y, scores, qid, at, self.relevant)

    def report(
        self, X: Any, y: Any, qid: Any = None, *, against: Any = None, limit: int = 150
    ) -> Report:
        """A page about this model; see :meth:`MulticlassSVM.report`."""
        X, qid = unpack(X, qid)
        documents = Documents(indexed(X), qid)
        return super().report(documents, y, against=against, limit=limit)

    def show(self, X: Any, y: Any = None, qid: Any = None, **options: Any) -> View:
        """The best documents of every query, with their grades y if these are known.

        Without ``qid``, X is the documents of one query. ``options`` go to
        :func:`maxmargin.views.ranking`.
        """
        scores = self.predict(X)
        qid = unpack(X, qid)[1]
        qid = np.zeros(len(scores), int) if qid is None else qid
        return ranking(scores, qid, y, **options)

    # training --------------------------------------------------------------------------

    def _check(self) -> None:
        if self.loss == "precision":
            check_latent_parameters(self)
        else:
            why = f"loss={self.loss!r} hides nothing; it is for loss='precision'."
            refuse_unused(self, tuple(LATENT), why)

    def _encode(self, X, y, sample_weight) -> Encoded:
        X, qid = unpack(*X)
        X, attributes = read_rows(self, X)
        encoded = super()._encode(Documents(X, qid), y, sample_weight)
        encoded.attributes |= attributes
        return encoded
