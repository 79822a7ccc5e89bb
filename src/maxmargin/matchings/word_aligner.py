"""WordAligner: which words of two sentences translate each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.encoded import check_weights
from maxmargin.core.listed import given_or
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import floats
from maxmargin.matchings import input as match_input
from maxmargin.matchings.bitext import Link, Links
from maxmargin.matchings.bitext_statistics import BitextStatistics
from maxmargin.matchings.input import check_pairs
from maxmargin.matchings.metrics import AlignmentScores, alignment_scores, wrong_links
from maxmargin.matchings.parameters import WordAlignerParameters
from maxmargin.matchings.scorers import aer
from maxmargin.matchings.structure import Matchings
from maxmargin.matchings.view import links
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class WordAligner(WordAlignerParameters, Shown, MaxMarginEstimator, init=False):
    """Word alignment as a matching of largest weight, learned with a large margin.

    The score of an alignment is the sum over its links of w . x_ij, with features x_ij of
    the word pair; every word has at most ``fertility`` links, or none. Minimises
    ``1/2 |w|^2 + C sum_i s_i H_i(w)``, where H_i is the largest violation and the loss is

        cost_extra * |links that are not even possible|
        + cost_missing * |sure links that are missing|

    (Taskar, Lacoste-Julien & Klein 2005). Possible links are free: they cost nothing
    whether predicted or not, and training aims at the sure ones.

    Parameters
    ----------
    C : float, default 0.1
    fertility : int, None, or a pair of these, default 2
        The largest number of links of a word, or (of source words, of target words); 1
        is one-to-one, None no bound. If the sure links of a training pair exceed it,
        training aims at the largest subset that does not, and among those at the one that
        the bitext supports most; the omitted sure links count as possible.
    cost_extra, cost_missing : float, 1 and 2 by default
        What links cost in the loss. A high ``cost_missing`` improves recall. See
        ``docs/matching.md`` for how the defaults were chosen.
    bitext : list of sentence pairs, path, fitted BitextStatistics or None
        Sentences, without links, to learn a dictionary from; the more, the better.
        It may include the sentences that will be aligned, which helps them. A path is read
        by :func:`maxmargin.matchings.bitext.read_bitext`. The training sentences are added,
        except to a fitted :class:`BitextStatistics`, which is taken as it is.
    forms : sequence of str
        How words are represented in the dictionary, see :class:`BitextStatistics`.
    features : list of names and functions, or None for all groups
        Groups of built-in features: bias, dictionary, neighbours, position, spelling,
        frequency, competition. A function of (source words, target words) returns an
        array (source, target) or (source, target, features).
    unlabelled_weight : float, default 0.1
        Factor for the sample weight of pairs without any known link: None in y. (i, None)
        among the links means that those of source word i are unknown, (None, j) those of
        target word j (``docs/partial-labels.md``).
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    coef_ : ndarray of shape (features,)
    feature_names_ : list of str
    statistics_ : BitextStatistics
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from maxmargin import WordAligner
    >>> X = [("the house sleeps", "la maison dort"), ("he sleeps", "il dort")]
    >>> model = WordAligner().fit(X, ["0-0 1-1 2-2", "0-0 1-1"])
    >>> model.predict([("he sleeps", "il dort")])
    [[(0, 0), (1, 1)]]
    """

    _view = staticmethod(links)

    _structure_class = Matchings
    _model_name = "WordAligner.v1"
    _scorers = (aer,)
    _fields = (floats("coef_", "n"),)
    _no_sums = "sums over matchings have no known algorithm that is quick"
    _params_in_state = ("bitext",)

    # prediction ------------------------------------------------------------------------

    @over_cluster()
    def predict(self, X: Any) -> list[list[Link]]:
        """The links (i, j) of every sentence pair, sorted."""
        return self._predicted(X)

    def predict_scores(self, X: Any) -> list[np.ndarray]:
        """The score w . x_ij of every word pair: an array (source, target) per pair.

        Links are predicted for their scores, but not alone: positive ones compete.
        """
        return self._fitted().predict_scores(X, self._weights())

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[list[Link], float]]]:
        """The k best alignments of every pair with their scores, best first.

        There are fewer if a pair has fewer. Scores of equal alignments add rounding.
        """
        return self._fitted().predict_k_best(X, self._weights(), k)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """1 - AER, the alignment error rate of the corpus: greater is better."""
        return 1.0 - self._evaluate(X, y, sample_weight).aer

    def evaluate(
        self, X: Any, y: Any, bootstrap: int = 1000, *, predicted: Any = None
    ) -> AlignmentScores:
        """AER with an interval of so many bootstrap draws, precision and recall.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        return self._evaluate(X, y, None, bootstrap, predicted)

    def _evaluate(self, X, y, weights, bootstrap=0, predicted=None) -> AlignmentScores:
        check_is_fitted(self, "coef_")
        X = list(X) if hasattr(X, "__iter__") else X
        truth = _truth(X, y)
        if weights is not None:
            weights = check_weights(weights, len(truth))
        found = given_or(predicted, lambda: self.predict(X))
        return alignment_scores(truth, found, bootstrap, sample_weight=weights)

    def _right(self, X, y) -> list[bool]:
        """Whether all sure links were found, and none that is not possible."""
        truth = _truth(X, y)
        return [
            not any(wrong_links(*both))
            for both in zip(truth, self.predict(X), strict=True)
        ]

    # training --------------------------------------------------------------------------

    def _check(self) -> None:
        match_input.check_features(self.features)
        match_input.check_fertility(self.fertility)
        if self.cost_extra == self.cost_missing == 0:
            raise ValueError(
                "cost_extra and cost_missing are both zero: then there is nothing to "
                "learn."
            )

    def learn_dictionary(self, pairs: Any) -> BitextStatistics:
        """What ``fit`` learns from ``bitext`` and these sentence pairs, without links.

        Several fits can share it: ``set_params(bitext=...)``.
        """
        pairs = check_pairs(pairs).pairs
        return self._structure().learn_dictionary(pairs, self._threads())


def _truth(X: Any, y: Any) -> list[Links]:
    """The true links of sentence pairs X, checked."""
    return match_input.check_alignments(y, check_pairs(X).pairs)
