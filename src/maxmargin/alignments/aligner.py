"""SequenceAligner: learn to align pairs of sequences from examples of good alignments."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.alignments.batch import right_pairs
from maxmargin.alignments.input import (
    check_loss_and_ends,
    check_sequences,
    matched_pairs,
    references,
)
from maxmargin.alignments.metrics import AlignmentReport, alignment_report
from maxmargin.alignments.parameters import SequenceAlignerParameters
from maxmargin.alignments.scorers import alignment_q
from maxmargin.alignments.structure import Alignments
from maxmargin.alignments.sums import values
from maxmargin.alignments.view import shown
from maxmargin.core.decode import decode
from maxmargin.core.encoded import check_weights
from maxmargin.core.listed import given_or, listed
from maxmargin.core.structure import check_k
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.calibration import Chances, of_parts, temperature_of
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import floats, number
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class SequenceAligner(SequenceAlignerParameters, Shown, MaxMarginEstimator, init=False):
    """Pairwise alignment with learnt substitution and gap scores.

    An alignment matches positions i of a target s with positions j of a template t, both
    increasing. Its score is a sum over matched pairs and unmatched runs, and

        1/2 |w|^2 + C sum_i weight_i max_y [loss(y_i, y) - w.(Psi(x_i, y_i) - Psi(x_i, y))]

    is minimised, after Yu, Joachims, Elber & Pillardy (2008).

    Parameters
    ----------
    model : str or list of str, default "simple"
        How a matched pair is scored: "simple" (with letters alone: a substitution
        matrix), "anova2", "tensor", "sum", "window", "profile", or a list of terms such
        as ``["residue/residue", "ss[5]/ss[5]"]``; see
        :mod:`maxmargin.alignments.features.models`.
    gaps : "affine", "linear" or "position", default "affine"
        A run of k unmatched positions scores ``open + k * extend``; "linear" has no open;
        with "position", open also depends on the symbols where the run begins and on
        those on both sides of its place in the other sequence.
    scope : "global" or "local", default "global"
        "local": unmatched positions before the first match and after the last are free.
    free_ends : None, "target" or "template", default None
        With a global scope: the unmatched ends of this sequence are free.
    loss : "q", "q4", "hamming" or "q" with another shift, default "q"
        "q" is one minus the share of reference pairs that are found; with "q4" a pair
        (i, j) counts if the reference has (u, j) with ``|i - u| <= 4``; "hamming" counts
        wrong and missed pairs.
    alphabet : None, str, list of str or dict, default None
        The symbols of each track; learnt from X if None. A dict has a value per track,
        and a value can be a dict ``{"target": ..., "template": ...}``.
    groups : dict or None, default None
        Groups of symbols per track, as windows see them, such as
        ``{"residue": ["AGPST", "C", ...]}``. By default amino acids are in seven groups.
    unknown : None, str or dict, default None
        The symbol (per track) that stands for symbols outside the alphabet and for a
        track that a sequence does not have. Without it both are errors.
    symmetric : bool or "auto", default "auto"
        (a, b) and (b, a) have one weight, and gaps score the same in s and t. "auto": if
        both sides have the same alphabets and no track holds vectors.
    normalize : bool, default True
        Divide the features of a pair by ``len(s) + len(t)``.
    C : float, default 10.0
        As features are divided by lengths, values from 3 to 1000 are usual.
    unlabelled_weight : float, default 0.1
        Factor for the sample weight of pairs whose alignment is None (unknown). (i, None)
        in an alignment means that the partner of position i of s is unknown
        (``docs/partial-labels.md``).
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`.
    prior : bool, default True
        Start from the usual scores of letters and gaps, and learn the differences: BLOSUM62
        for amino acids; otherwise one score for equal symbols and one for different ones
        (:mod:`maxmargin.alignments.features.prior`). The alphabet then has all amino acids
        or nucleotides, whether X has them or not. With the losses "q", regions that
        references leave unaligned on both sides are completed
        (:mod:`maxmargin.alignments.loops`). Needs a term that scores the first track alone,
        such as "residue/residue".

    Attributes
    ----------
    model_ : AlignmentModel
        Terms, alphabets and places of weights.
    coef_ : ndarray
        All weights, the prior included.
    prior_factor_ : float
        How much of the prior they hold, learnt with what differs from it; 0 without one.
    n_features_ : int
        Weights of matched pairs; ``coef_`` has those of gaps too.
    alphabet_ : tuple of str
        Symbols of the first track (of both sides, where they differ).
    substitution_matrix_ : ndarray of shape (letters, letters)
        If single letters against letters are all that counts.
    gap_open_, gap_extend_ : float
        If they do not depend on the position.
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from maxmargin import SequenceAligner
    >>> X = [("HEAGAWGHEE", "PAWHEAE"), ("GATTACA", "GCATGCA")]
    >>> y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("G-ATTACA", "GCA-TGCA")]
    >>> model = SequenceAligner(C=100).fit(X, y)
    >>> model.predict(X)[0][:3]
    [(2, 0), (4, 1), (5, 2)]
    """

    _view = staticmethod(shown)

    _structure_class = Alignments
    _model_name = "SequenceAligner.v1"
    _scorers = (alignment_q,)
    _left = (
        *MaxMarginEstimator._left,
        "substitution_matrix_",
        "gap_open_",
        "gap_extend_",
    )
    _fields = floats("coef_", "n"), number("prior_factor_", optional=True)
    prior_factor_ = 0.0  # of models from before there was a prior

    # prediction ------------------------------------------------------------------------

    @over_cluster()
    def predict(self, X: Any) -> list[list[tuple[int, int]]]:
        """The best alignment of every pair (s, t): its matched pairs (i, j)."""
        return self._predicted(X)

    def decision_function(self, X: Any, y: Any = None) -> np.ndarray:
        """Scores of the best alignments, or of those given as y."""
        batch = self._fitted().encode(X, y)
        labels = self._decode(batch) if y is None else batch.y
        return values(batch, self.coef_, labels, self._threads())

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[list, float]]]:
        """The k best alignments of every pair with their scores, best first."""
        k = check_k(k)
        return self._fitted().predict_k_best(X, self.coef_, k, self._threads())

    def predict_marginals(self, X: Any, sharpness: float = 1.0) -> list[np.ndarray]:
        """Probabilities of all pairs (i, j), an array (len(s), len(t)) for every sample.

        Alignments y have probabilities proportional to exp(sharpness * score): those
        that were fitted, with objective="log" and sharpness 1. Other objectives fit
        none, and features are not divided by ``len(s) + len(t)``: probabilities say
        which pairs compete, not how often they are right, unless ``calibrate`` has
        divided the scores by a temperature.
        """
        if not isinstance(sharpness, numbers.Real) or not 0 < sharpness < math.inf:
            raise ValueError(
                f"sharpness={sharpness!r} is not possible: it must be a positive number."
            )
        structure = self._fitted()
        if self.objective != "log":
            structure = copy(structure)
            structure.normalize = False
        factor = float(sharpness) / temperature_of(self)
        return structure.predict_marginals(X, self.coef_, self._threads(), factor)

    def _chances(self, X: Any, y: Any, predicted: Any) -> Chances:
        said: list[float] = []
        right: list[bool] = []
        rows = zip(self.predict_marginals(X), self._pairs(X, y), predicted, strict=True)
        for table, truth, found in rows:
            said += [float(table[pair]) for pair in found]
            right += [pair in truth for pair in found]
        return of_parts(said, right)

    def _right(self, X: Any, y: Any) -> list[bool]:
        pairs = zip(self.predict(X), self._pairs(X, y), strict=True)
        return [set(found) == truth for found, truth in pairs]

    def _pairs(self, X: Any, y: Any) -> list[set]:
        """The matched pairs of true alignments."""
        batch = self._fitted().encode(X, y)
        parts = np.split(batch.y, batch.start[1:-1])
        return [set(matched_pairs(labels)) for labels in parts]

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Mean Q: the share of the reference pairs that are found, averaged over samples.

        Where a sample of y has a core, only its pairs count. Samples without any are
        left out.
        """
        batch = self._fitted().encode(X, y)
        weights = check_weights(sample_weight, len(batch.start) - 1)
        labels = self._decode(batch)
        right = right_pairs(batch, labels)
        some = (batch.counted > 0) & (weights > 0)
        if not some.any():
            raise ValueError("y has no matched pairs that count: there is no score.")
        shares = right[some] / batch.counted[some]
        return float(np.average(shares, weights=weights[some]))

    def evaluate(
        self,
        X: Any,
        y: Any,
        *,
        families: Sequence[str] | None = None,
        shift: int = 4,
        predicted: Any = None,
    ) -> AlignmentReport:
        """Q, Q4 and precision of predictions, with standard errors.

        ``families`` names the family of every pair, for means over families; ``shift`` is
        how far a match of the second score may be off. ``predicted`` is what
        ``predict(X)`` has returned, if that is known already.
        """
        check_is_fitted(self, "coef_")
        y = listed(y, "y must be a list of alignments.")
        truth, cores = references(y, *check_sequences(X))
        found = given_or(predicted, lambda: self.predict(X), len(truth))
        return alignment_report(truth, found, cores, families, shift)

    # weights by name -------------------------------------------------------------------

    def term_weights(self, name: str) -> np.ndarray:
        """The weights of one term, as a table (symbols of s, symbols of t)."""
        check_is_fitted(self, "coef_")
        if name not in self.model_.names:
            raise ValueError(
                f"the model has no term {name!r}; it has {', '.join(self.model_.names)}."
            )
        return self.coef_[self.model_.places(name)]

    # training --------------------------------------------------------------------------

    def _check(self) -> None:
        check_loss_and_ends(self.loss, self.scope, self.free_ends)

    def _decode(self, batch) -> np.ndarray:
        return decode(batch, self.coef_, self._threads())

    # saving (files/model_file.py) ------------------------------------------------------

    def _loaded(self, saved, sizes) -> None:
        super()._loaded(saved, sizes)
        self.__dict__.update(self.structure_.named(self.coef_))
