"""MotifFinder: which sequences have a motif, where it is, and what it looks like."""

from __future__ import annotations

from copy import copy
from operator import ne
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.completion import complete_all
from maxmargin.core.encoded import Encoded, check_weights
from maxmargin.core.listed import given_or
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.latent_training import check_latent_parameters
from maxmargin.fitting.saving import floats, integers, labels, value, whole
from maxmargin.motifs.composition import background_size
from maxmargin.motifs.formats import consensus
from maxmargin.motifs.input import dna_sequences, listed
from maxmargin.motifs.metrics import MotifReport, marked, motif_scores
from maxmargin.motifs.parameters import WIDEST, MotifFinderParameters
from maxmargin.motifs.scorers import motif_accuracy
from maxmargin.motifs.sites import Site, count_letters
from maxmargin.motifs.structure import Motifs
from maxmargin.motifs.view import sites
from maxmargin.motifs.widths import held_out_errors
from maxmargin.views.view import View, about

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class MotifFinder(
    MotifFinderParameters, ClassifierMixin, MaxMarginEstimator, init=False
):
    """Find the motif that tells positive DNA sequences from negative ones.

    A positive sequence has a site of ``width`` letters somewhere, scored by position; all
    other letters, and all letters of a negative sequence, are scored by a Markov
    background; words anywhere in the sequence count, too (``composition``). The places of
    the sites are unknown: training fills them in (Yu & Joachims 2009, section 5.4.1 of Yu's
    thesis). The objective never rises, but where it ends depends on the start:
    ``certificate_`` certifies a stationary point, and ``n_restarts`` helps.

    Parameters
    ----------
    width : int or list of int, default 11
        Letters of the motif. Of several widths, the one with the fewest errors on a
        held-out fifth of the samples is chosen (in ties the first), and then trained on
        all.
    order : int, default 2
        Number of letters that a background letter depends on.
    both_strands : bool or None
        Whether sites may be on the reverse strand. None decides by whether the reverse
        complements of the most enriched words are enriched, too.
    composition : bool, default True
        Whether a sequence is also scored by its composition: the shares of all words of 4
        and of 6 letters, on both strands if sites may be there. The motif then explains
        what the composition does not.
    C : float or None
        The weight of the data. None is 16 divided by the weight of all samples, so that the
        regularisation of a motif does not depend on the number of samples. The
        composition has a scale of its own (``composition_scale_``).
    unknown : "refuse" or "skip", default "refuse"
        What to do with N and the other letters for several bases: an error, or no weight.
    positive : label or None
        The label of sequences with the motif. None takes 1 (beside 0 or -1), True, or a
        text such as "+", "+1" or "positive"; of other labels the one that is plainly
        rarer, with a third as many samples as the other at most, and warns. Else it has to
        be named.
    init : "random", "words", "given", array or fitted model, default "words"
        The first sites: at random; at words that are more frequent in positive samples than
        in negative ones, another word for each of ``n_restarts``; at the start
        of each sequence; or the best ones under these weights, such as ``coef_`` of a model
        of the same shape.
    shifts : int, default 0
        At a stationary point the motif is shifted by up to this many letters in either
        direction, and training continues from there if that ends lower by at least ``tol``.
        This lowers the objective by a few per cent, and takes two to four times as long.
    n_restarts, max_outer, self_paced
        As in :class:`maxmargin.LatentStructuralSVM`; two starts by default.
    class_weight : "balanced" or None, default "balanced"
        "balanced" gives both classes the same weight without changing the total; a
        ``sample_weight`` of ``fit`` overrides it.
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`; without a log objective.

    Attributes
    ----------
    classes_ : ndarray, the negative label and the positive one
    positive_ : label of sequences with the motif, classes_[1]
    width_ : int
    width_errors_ : dict of width -> share of held-out errors, if several were tried
    both_strands_ : bool
    C_ : float, the C of the training
    words_ : list of str, the words at which starts began, if that is asked for
    motif_ : ndarray (width, 4): weights of A, C, G, T at each position
    background_ : ndarray: weights of runs of 1, 2, .. order + 1 letters, each in the order
        of the alphabet; the longest for all letters but the first ones of a sequence
    composition_ : ndarray: weights of words of 4 letters, then of 6, each in the order of
        the alphabet (on both strands, the first of a word and its reverse complement)
    composition_scale_ : float, the norm of the shares of words of a sequence
    frequencies_ : ndarray (4,): shares of the letters in training
    counts_ : ndarray (width, 4): letters at the best sites of positive training samples
        (of those with a weight), as files and logos show them
    n_sites_ : int, how many sites these are
    coef_ : ndarray, all weights
    certificate_ : StationaryPoint(objective, decrease, inner_gap, bound, exact)
    rounds_, restarts_, n_outer_, history_, n_iter_, converged_
        As in :class:`maxmargin.LatentStructuralSVM`.

    Examples
    --------
    >>> from maxmargin import MotifFinder
    >>> X = ["ACTATAAGC", "GGCTATAAC", "TATAACCGA", "CCGACGTGC", "GGACCAGCA", "ACACGTCAG"]
    >>> y = [True, True, True, False, False, False]
    >>> model = MotifFinder(width=5, order=0).fit(X, y)
    >>> model.predict(["GCGTATAAG", "GCGACGAGG"]).tolist()
    [True, False]
    >>> site = model.predict_sites(["GCGTATAAG"])[0]
    >>> (site.start, site.end, site.strand), model.consensus()
    ((3, 8, '+'), 'TATAA')
    """

    _structure_class = Motifs
    _model_name = "MotifFinder.v1"
    _scorers = (motif_accuracy,)
    _left = (*MaxMarginEstimator._left, "width_errors_", "words_", "composition_scale_")
    _fields = (
        labels("classes_", "classes"),
        whole("width_", 1, WIDEST),
        floats("coef_", "n"),
        floats("letter_background_", 4),
        floats("frequencies_", 4, low=1e-300),
        integers("counts_", "width", 4, high=2**53),
        whole("n_sites_", optional=True),
        value("both_strands_", bool, optional=True),
    )
    _no_sums = "with hidden sites that needs a marginal likelihood, which is not here"

    def predict(self, X: Any) -> np.ndarray:
        """The label of every sequence."""
        return self._predicted(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of every sequence with its best site; above 0 it is positive."""
        return self._search(X)[1]

    def predict_sites(self, X: Any) -> list[Site]:
        """The best :class:`Site` of every sequence, also of negative ones."""
        return self._fitted().predict_sites(X, self._weights(), self._threads())

    def show(self, x: Any, y: Any = None) -> View:
        """One sequence, or several, with the best site of each.

        With the true label y, or one for each, whether that is what is predicted.
        """
        several = isinstance(x, (list, tuple, np.ndarray)) or hasattr(x, "iloc")
        X = x if several else [x]
        view = sites(X, self.predict_sites(X))
        if y is None:
            return view
        truth, found = self._truth_and_found(X, y if several else [y])
        says = f"{sum(map(ne, truth, found))} of {len(truth)} labels are wrong."
        return View(view.body + about(says), f"{view.text}\n{says}")

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The share of sequences with the right label."""
        truth, found = self._truth_and_found(X, y)
        right = [a == b for a, b in zip(truth, found, strict=True)]
        weights = check_weights(sample_weight, len(right))
        return float(np.average(right, weights=weights))

    def evaluate(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        predicted: Any = None,
    ) -> MotifReport:
        """Accuracy of the labels; precision and recall of those with the motif.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        truth, found = self._truth_and_found(X, y, predicted)
        real, chosen = (marked(z, self.classes_.tolist()) for z in (truth, found))
        return motif_scores(real, chosen, sample_weight)

    def _truth_and_found(self, X, y, predicted=None) -> tuple[list, list]:
        check_is_fitted(self, "coef_")
        found = given_or(predicted, lambda: self.predict(X))
        truth = listed(y, "y", "labels")
        if len(truth) != len(found):
            raise ValueError(
                f"X has {len(found)} sequences and y {len(truth)} labels: give one label "
                "each."
            )
        return truth, np.asarray(found).tolist()

    # the motif -------------------------------------------------------------------------

    @property
    def positive_(self) -> Any:
        return self.classes_[1].item()

    @property
    def motif_(self) -> np.ndarray:
        return self.coef_[: 4 * self.width_].reshape(self.width_, 4)

    @property
    def background_(self) -> np.ndarray:
        return self.coef_[4 * self.width_ :][: background_size(self.order)]

    @property
    def composition_(self) -> np.ndarray:
        return self.coef_[4 * self.width_ + background_size(self.order) :]

    def log_odds(self) -> np.ndarray:
        """What a letter at a position adds to the score of a site, shape (width, 4).

        The weights of the motif minus those of the background, averaged for each letter
        over the runs that end in it in training.
        """
        check_is_fitted(self, "coef_")
        return self.motif_ - self.letter_background_

    def probabilities(self) -> np.ndarray:
        """The motif as probabilities of letters, shape (width, 4).

        ``p_j(a)`` is proportional to ``frequencies_[a] exp(log_odds_j(a))``: the softmax
        of the weights against the background. How far they are from the background depends
        on C: they say which letters are liked, not how often each is at a site, which
        ``counts_`` does.
        """
        odds = self.log_odds()
        p = self.frequencies_ * np.exp(odds - odds.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def consensus(self) -> str:
        """The motif in letters, those for several bases where none stands out."""
        check_is_fitted(self, "coef_")
        return consensus(self.counts_)

    # training --------------------------------------------------------------------------

    def _check(self) -> None:
        check_latent_parameters(self)

    def _encode(self, X, y, sample_weight) -> Encoded:
        """Of several widths, that with the fewest errors in fits of their own."""
        if not isinstance(self.width, (list, tuple)):
            return super()._encode(X, y, sample_weight)
        X, one = dna_sequences(X), copy(self)
        encoded = one.set_params(width=max(self.width))._encode(X, y, sample_weight)
        if len(self.width) > 1:
            classes = encoded.attributes["classes_"]
            y = classes[encoded.batch.label]
            errors = held_out_errors(self, X, y, encoded.batch.label, encoded.weights)
            best, positive = min(errors, key=errors.__getitem__), classes[1].item()
            one.set_params(width=best, positive=positive)
            encoded = one._encode(X, y, sample_weight)
            encoded.attributes["structure_"].errors = errors
            encoded.attributes["width_errors_"] = errors
        return encoded

    def _completed(self, encoded: Encoded, truths) -> None:
        """What the training samples say of the weights: letters at sites and outside."""
        batch, w = encoded.batch, self.coef_
        # at the sites that the final weights find, as prediction does
        found = complete_all(batch, w, self._threads())
        found = np.where(encoded.weights > 0, found, 0)
        self.counts_ = count_letters(batch, found)
        self.n_sites_ = int(np.count_nonzero(found))
        known = (batch.codes < 4) & (batch.back >= 0)
        codes, runs = batch.codes[known], batch.back[known]
        total = np.bincount(codes, w[runs], minlength=4)
        self.letter_background_ = total / np.maximum(np.bincount(codes, minlength=4), 1)

    def _search(self, X):
        """(a batch, the scores and the places of the best sites)."""
        return self._fitted().search(X, self._weights(), self._threads())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.classifier_tags.multi_class = False
        return tags

    # saving (files/model_file.py) ------------------------------------------------------

    def _loaded(self, saved, sizes) -> None:
        if "composition_scale" not in saved.state:  # a file older than compositions
            self.composition = False
        super()._loaded(saved, sizes)
        seen = int(self.counts_.sum(axis=1).max())
        self.n_sites_ = getattr(self, "n_sites_", seen)  # older files have none
        if self.n_sites_ < seen:
            raise ValueError(f"'n_sites' is {self.n_sites_}, out of range")
