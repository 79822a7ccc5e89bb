"""SequenceAligner: learn to align pairs of sequences from examples of good alignments."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.alignments.batch import align_batch, norms, right_pairs
from maxmargin.alignments.features.encoder import learn_tracks, length_of
from maxmargin.alignments.features.models import AlignmentModel
from maxmargin.alignments.features.prior import (
    NONE,
    Prior,
    make_prior,
    with_usual_letters,
)
from maxmargin.alignments.features.settings import (
    check_alphabet,
    make_model,
    model_from_state,
    model_state,
)
from maxmargin.alignments.input import (
    check_alignments,
    check_loss_and_ends,
    check_sequences,
    matched_pairs,
    references,
    split_unknown,
)
from maxmargin.alignments.k_best import k_best
from maxmargin.alignments.loops import complete_loops
from maxmargin.alignments.metrics import AlignmentReport, alignment_report
from maxmargin.alignments.parameters import SequenceAlignerParameters
from maxmargin.alignments.scorers import alignment_q
from maxmargin.alignments.sums import match_marginals, values
from maxmargin.alignments.view import shown
from maxmargin.core.decode import decode
from maxmargin.core.encoded import Encoded, check_weights
from maxmargin.core.listed import given_or, listed
from maxmargin.core.partial import partly_known
from maxmargin.core.structure import Outputs, check_k
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.calibration import Chances, of_parts, temperature_of
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import floats, number
from maxmargin.fitting.tables import weigh
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
        batch = self._batch(X)
        labels = self._decode(batch)
        cut = batch.start
        return Outputs(
            matched_pairs(labels[cut[i] : cut[i + 1]]) for i in range(len(cut) - 1)
        )

    def decision_function(self, X: Any, y: Any = None) -> np.ndarray:
        """Scores of the best alignments, or of those given as y."""
        batch = self._batch(X, y)
        labels = batch.y
        if y is None:
            labels = self._decode(batch)
        return values(batch, self.coef_, labels, self._threads())

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[list, float]]]:
        """The k best alignments of every pair with their scores, best first."""
        k = check_k(k)
        batch = self._batch(X)
        labels, scores = k_best(batch, self.coef_, k, self._threads())
        cut = batch.start
        return [
            [
                (matched_pairs(row[cut[i] : cut[i + 1]]), float(found[i]))
                for row, found in zip(labels, scores, strict=True)
                if found[i] > -np.inf
            ]
            for i in range(len(cut) - 1)
        ]

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
        batch = self._batch(X)
        norm = batch.norm if self.objective == "log" else np.ones(len(batch.norm))
        batch = batch._replace(norm=float(sharpness) / temperature_of(self) * norm)
        return match_marginals(batch, self.coef_, self._threads())

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
        batch = self._batch(X, y)
        parts = np.split(batch.y, batch.start[1:-1])
        return [set(matched_pairs(labels)) for labels in parts]

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Mean Q: the share of the reference pairs that are found, averaged over samples.

        Where a sample of y has a core, only its pairs count. Samples without any are
        left out.
        """
        batch = self._batch(X, y)
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
        term = self.model_.terms[self.model_.names.index(name)]
        sizes = self.model_.size(term.left, 0), self.model_.size(term.right, 1)
        return self.coef_[term.places(*sizes)]

    # training --------------------------------------------------------------------------

    def _check(self) -> None:
        check_loss_and_ends(self.loss, self.scope, self.free_ends)

    def _encode(self, X, y, sample_weight) -> Encoded:
        shift, free = check_loss_and_ends(self.loss, self.scope, self.free_ends)
        if X is None or y is None:
            raise ValueError("both X and y are needed: one alignment per pair.")
        targets, templates = check_sequences(X)
        if not targets:
            raise ValueError("X is empty: at least one pair of sequences is needed.")
        y, known = split_unknown(y, targets)
        labels, counts = check_alignments(y, targets, templates)
        if not counts.any():
            raise ValueError(
                "y has no matched pair that counts, because all core masks are empty: "
                "leave the masks out, or give alignments with core columns."
            )
        weights = check_weights(sample_weight, len(targets))
        if known is not None:
            weights = weigh(self, weights, [mask.any() for mask in known])
        model = self._make_model(targets, templates)
        norm = norms(targets, templates, self.normalize)
        dtype = np.float64
        prior = make_prior(model) if self.prior else NONE
        forgiving = shift != "hamming" and self.objective != "log"
        if len(prior.scores) and forgiving and known is None:
            labels, counts = complete_loops(
                model, prior, targets, templates, labels, counts, free, dtype
            )
        batch = align_batch(
            model, targets, templates, labels, counts, norm, shift, free, dtype, prior
        )
        if known is not None:
            batch = partly_known(batch, np.concatenate(known))
        n_weights = model.n_weights + (len(prior.scores) > 0)
        return Encoded(batch, n_weights, dtype, weights, {"model_": model})

    def _make_model(self, targets, templates) -> AlignmentModel:
        found, dense = learn_tracks(targets + templates, self.unknown)
        if self.prior and found:
            first = next(iter(found))
            found[first] = with_usual_letters(found[first])
        alphabet = found if self.alphabet is None else self.alphabet
        known = check_alphabet(alphabet)
        return make_model(
            model=self.model,
            alphabet=alphabet,
            groups=self.groups,
            unknown=self.unknown,
            gaps=self.gaps,
            symmetric=self.symmetric,
            dense={name: size for name, size in dense.items() if name not in known},
        )

    def _install(self, encoded: Encoded, w) -> None:
        terms = encoded.batch.terms
        self.coef_ = Prior(terms.prior, terms.scale).folded(w).astype(np.float64)
        self.prior_factor_ = float(w[-1]) if len(terms.prior) else 0.0
        self._name_weights(encoded.attributes["model_"])

    def _name_weights(self, model: AlignmentModel) -> None:
        self.model_ = model
        self.n_features_ = model.n_features
        first = model.tracks[0]
        both = model.alphabets[first]
        self.alphabet_ = tuple(dict.fromkeys(both[0] + both[1]))
        if model.names == (f"{first}/{first}",) and both[0] == both[1]:
            self.substitution_matrix_ = self.term_weights(model.names[0])
        if model.gaps != "position":
            places = model.gap_places["target"]
            self.gap_extend_ = float(self.coef_[places["extend"]])
            place = places["open"]
            self.gap_open_ = 0.0 if place is None else float(self.coef_[place])

    def _batch(self, X, y=None):
        check_is_fitted(self, "coef_")
        shift, free = check_loss_and_ends(self.loss, self.scope, self.free_ends)
        targets, templates = check_sequences(X)
        size = sum(map(length_of, targets))
        labels, counts = np.full(size, -1, np.int32), np.ones(size, bool)
        if y is not None:
            labels, counts = check_alignments(y, targets, templates)
        norm = norms(targets, templates, self.normalize)
        return align_batch(
            self.model_, targets, templates, labels, counts, norm, shift, free,
            np.float64,
        )  # fmt: skip

    def _decode(self, batch) -> np.ndarray:
        return decode(batch, self.coef_, self._threads())

    # saving (files/model_file.py) ------------------------------------------------------

    def _more_state(self):
        return {}, model_state(self.model_)

    def _loaded(self, saved, sizes) -> None:
        model = model_from_state(saved.state)
        if model.n_weights != sizes["n"]:
            raise ValueError("weights and terms do not fit together")
        self._name_weights(model)
