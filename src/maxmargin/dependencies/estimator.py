"""DependencyParser: the head of every word, by maximum spanning trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.encoded import check_lengths, check_weights
from maxmargin.core.listed import given_or
from maxmargin.dependencies.input import read_sentences, read_trees
from maxmargin.dependencies.metrics import DependencyReport, attachment_scores
from maxmargin.dependencies.parameters import DependencyParserParameters
from maxmargin.dependencies.scorers import labelled_attachment_score
from maxmargin.dependencies.structure import Dependencies
from maxmargin.dependencies.view import dependencies
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.calibration import Chances, of_parts, temperature_of
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import floats
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class DependencyParser(
    DependencyParserParameters, Shown, MaxMarginEstimator, init=False
):
    """Find the head of every word, and the label of the arc between them.

    The score of a tree is a sum over its arcs (order=1), and over neighbouring modifiers
    of one head (order=2); arcs have the features of McDonald, Crammer & Pereira (2005).
    The best tree is found exactly, in training, too, where wrong heads and wrong labels
    cost 1 each: by Eisner's algorithm among projective trees, or as the maximum spanning
    arborescence with one root among all (McDonald et al. 2005).

    Parameters
    ----------
    C : float or None
        Per sentence, not divided by their number (``maxmargin.convert_C`` translates).
        None, the default, is 0.03 for the hinge and 0.3 for objective="log".
    projective : bool, default True
        Search among trees without crossing arcs. Trees in training that have some are
        changed (Nivre & Nilsson 2005), which is a warning; ``n_lifted_`` counts them.
    order : {1, 2}, default 1
        1 scores single arcs, 2 also pairs of neighbouring modifiers on one side of a head
        (McDonald & Pereira 2006), for projective trees and the hinge.
    rows : int or None
        Rows of the table that features are hashed into, a power of two. None chooses by
        the number of words in training: three rows per word, at most 2**20.
    tol : float, default 0.1
        The relative gap at which to stop. On the WSJ sample, 0.02 takes three times as
        long and attaches no more words right.
    unlabelled_weight : float, default 0.1
        Factor for the sample weight of sentences of which no head is known. None in place
        of a head means that it is not known (``docs/partial-labels.md``).
    rescaling, penalty, solver, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    coef_ : ndarray, 16 weights for each row of arc features, then those of labels
    labels_ : list of str, the labels of arcs; empty if heads had none
    n_lifted_ : int
    C_ : float, the C of the training
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from maxmargin import DependencyParser
    >>> X = [[("the", "DT"), ("dog", "NN"), ("barks", "VBZ")],
    ...      [("cats", "NNS"), ("see", "VBP"), ("a", "DT"), ("dog", "NN")]]
    >>> y = [[(2, "det"), (3, "subj"), (0, "root")],
    ...      [(2, "subj"), (0, "root"), (4, "det"), (2, "obj")]]
    >>> parser = DependencyParser(C=1).fit(X, y)
    >>> parser.predict([[("the", "DT"), ("cat", "NN"), ("sleeps", "VBZ")]])
    [[(2, 'det'), (3, 'subj'), (0, 'root')]]
    """

    _view = staticmethod(dependencies)
    _structure_class = Dependencies
    _model_name = "DependencyParser.v1"
    _scorers = (labelled_attachment_score,)
    _fields = (floats("coef_", "n", dtype=None),)

    @over_cluster()
    def predict(self, X: Any) -> list[list]:
        """The head of every word, counted from 1, 0 for the root; or (head, label)."""
        return self._predicted(X)

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[list, float]]]:
        """The k best trees of every sentence with their scores, best first."""
        structure = self._fitted()
        return structure.predict_k_best(X, self._weights(), k, self._threads())

    def predict_marginals(self, X: Any, threshold: float = 1e-3) -> list[dict]:
        """Per sentence {(head, word): probability} under exp(score) / Z.

        With labels, {(head, word, label): probability}. What is below the threshold is
        left out. Scores of a maximum-margin model are not calibrated: these rank arcs, but
        0.9 need not mean right nine times out of ten. objective="log" fits them, and so
        does ``calibrate`` with held-out data. With order=2 there are none.
        """
        structure = self._fitted()
        tables = structure.chances(X, self._cooled())
        return [structure.named_chances(table, threshold) for table in tables]

    def complete(self, X: Any, y: Any) -> list[list]:
        """The best tree of every sentence that has the heads that are known.

        y has None in place of a head that is not known, or of all heads of a sentence.
        """
        structure = self._fitted()
        return structure.completions(X, y, self._weights(), self._threads())

    def evaluate(
        self, X: Any, y: Any, *, predicted: Any = None, **options: Any
    ) -> DependencyReport:
        """Predict X and compare with the true heads y: UAS, LAS and more.

        ``options`` are those of
        :func:`maxmargin.dependencies.metrics.attachment_scores`; ``predicted`` is what
        ``predict(X)`` has returned, if that is known already.
        """
        check_is_fitted(self, "coef_")
        X, y = check_lengths(X, y)
        found = given_or(predicted, lambda: self.predict(X), len(X))
        return attachment_scores(X, y, found, **options)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Share of words with the right head and label, punctuation included."""
        report = self.evaluate(X, y)
        if sample_weight is None:
            return report.las
        weights = check_weights(sample_weight, len(report.sentences))
        words = weights @ [row.words for row in report.sentences]
        right = weights @ [row.both for row in report.sentences]
        return float(right / words) if words else 0.0

    def _check(self) -> None:
        if self.order == 2 and not self.projective:
            raise ValueError(
                "order=2 is not possible with projective=False, as the best tree is then "
                "hard to find: choose order=1, or projective trees."
            )
        if self.order == 2 and self._objective().problem == "log":
            raise ValueError(
                "order=2 has no sums over trees here, which objective='log' needs: choose "
                "order=1, or another objective."
            )

    def _cooled(self) -> np.ndarray:
        """Weights at the temperature of the calibration."""
        temperature = temperature_of(self)
        w = self._weights()
        return w if temperature == 1.0 else w.astype(np.float64) / temperature

    def _chances(self, X: Any, y: Any, predicted: Any) -> Chances:
        structure, X = self._fitted(), read_sentences(X)
        trees = read_trees(y, [len(sentence) for sentence in X])
        number = {label: k for k, label in enumerate(structure.labels)}
        said: list[float] = []
        at = 0
        for table, heads in zip(
            structure.chances(X, self._cooled()), predicted, strict=True
        ):
            for m, found in enumerate(heads, 1):
                head, label = found if number else (found, None)
                said.append(float(table[head, m, number.get(label, 0)]))
                at += 1
        right = [
            value == (head, label) if number else value == head
            for value, head, label in zip(
                (v for heads in predicted for v in heads),
                trees.heads.tolist(),
                trees.labels,
                strict=True,
            )
        ]
        return of_parts(said, right)

    def _right(self, X: Any, y: Any) -> list[bool]:
        report = self.evaluate(X, y)
        return [row.both == row.words for row in report.sentences]
