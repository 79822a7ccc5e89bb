"""HomologFinder: which of many sequences is related to this one?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.alignments.homologs.counting import CountingObjective
from maxmargin.alignments.homologs.input import check_inputs, check_numbers
from maxmargin.alignments.homologs.metrics import HomologReport, homolog_scores
from maxmargin.alignments.homologs.structure import HomologChoice
from maxmargin.alignments.homologs.view import homologs
from maxmargin.alignments.parameters import HomologFinderParameters
from maxmargin.alignments.scorers import homologs_found
from maxmargin.core.decode import decode
from maxmargin.core.encoded import Encoded, check_weights
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import floats, number, value
from maxmargin.views.view import View

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class LocalFinder:
    """Prediction by local alignment scores; subclasses set the four attributes."""

    scope = "local"
    alphabet_: str
    substitution_matrix_: (
        np.ndarray
    )  # (letters of the native, letters of the candidate)
    gap_open_: float  # per run, a score
    gap_extend_: float  # per letter
    _threads: Callable[[], int]

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """The best local alignment score of every candidate of every sample."""
        w = self._weights()
        return self._fitted().candidate_scores(X, w, self._threads())

    def predict(self, X: Any) -> np.ndarray:
        """The number of the candidate with the largest score, the first on ties."""
        return self._fitted().predict(X, self._weights(), self._threads())

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Share of samples whose homolog is found; one of m candidates that tie counts 1/m.

        The order of candidates says nothing, so a tie is not a find, wherever the homolog
        stands. y holds numbers of candidates, or pairs as for ``fit``, of which the first
        counts.
        """
        return self.evaluate(X, y, sample_weight).found

    def evaluate(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> HomologReport:
        """Share of homologs found, as for ``score``, and how far in front they are."""
        truth = check_numbers(check_inputs(X), y)
        if not len(truth):
            raise ValueError("X is empty: there is no score without samples.")
        weights = check_weights(sample_weight, len(truth))
        return homolog_scores(truth, self.decision_function(X), weights)

    def align(self, x: str, z: str) -> list[tuple[int, int]]:
        """The matched pairs of the best local alignment of two sequences.

        The list is empty if no alignment scores more than 0.
        """
        found = decode(self._fitted().encode([(x, [z])]), self._weights())[1:]
        return [(p, int(q)) for p, q in enumerate(found) if q >= 0]

    def show(self, x: Any, y: Any = None, **options: Any) -> View:
        """The best candidates of one sample, and the alignment with the first of them.

        With the number of the homolog y, or a pair as for ``fit``, where that one stands.
        ``options`` go to :func:`maxmargin.views.homologs`.
        """
        ((native, candidates),) = check_inputs([x])
        scores = self.decision_function([x])[0]
        pairs = self.align(native, candidates[int(scores.argmax())])
        return homologs(x, scores, pairs, y, **options)

    def _fitted(self) -> HomologChoice:
        """The structure for predictions, as the fitted attributes describe it."""
        check_is_fitted(self, "substitution_matrix_")
        structure = HomologChoice("affine" if self.gap_open_ else "linear")
        structure.letters = self.alphabet_
        return structure

    def _weights(self) -> np.ndarray:
        return self._fitted().join(self)


class HomologFinder(
    HomologFinderParameters, LocalFinder, MaxMarginEstimator, init=False
):
    """Learns substitution scores and gap costs that tell homologs from decoys.

    For every native sequence x_i there is a homolog z_i with a given alignment a_i, and
    decoys z_t. Minimises ``1/2 |w|^2 + C sum_i s_i xi_i`` where, for all decoys,

        w.Psi(x_i, z_i, a_i) - max_a w.Psi(x_i, z_t, a) >= 1 - xi_i,

    Psi counts matched pairs of letters and letters in gaps of local (Smith-Waterman)
    alignments. The alignment with the homolog stays as given; those with decoys are all
    that there are. (Joachims 2003; Tsochantaridis et al. 2004.)

    Parameters
    ----------
    C : float, default 1.0
    gaps : {"linear", "affine"}
        One score per unmatched letter between two matches; "affine" adds one per run.
    alphabet : str or None
        The letters that sequences may have; None takes those of the training data.
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`. The loss is 0 or 1, so both kinds of
        rescaling are the same.

    Attributes
    ----------
    alphabet_ : str
    substitution_matrix_ : ndarray (letters of the native, letters of the candidate)
    gap_open_, gap_extend_ : float
        Scores (costs are negative) of a run of unmatched letters, and of each of them.
    n_constraints_ : int or None
        Different violated outputs that were found and kept: the size of the working set.
        Known for ``solver="n-slack"`` only.
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from maxmargin import HomologFinder
    >>> from maxmargin.alignments.homologs.invented import make_homologs
    >>> X, y = make_homologs(20, random_state=0)
    >>> native, candidates = X[0]
    >>> homolog, pairs = y[0]
    >>> finder = HomologFinder(C=0.1).fit(X, y)
    >>> finder.score(X, y) > 0.9
    True
    """

    _structure_class = HomologChoice
    _model_name = "HomologFinder.v1"
    _scorers = (homologs_found,)
    _fields = (
        value("alphabet_", str),
        floats("substitution_matrix_", "k", "k", dtype=None),
        number("gap_open_"),
        number("gap_extend_"),
        value("n_constraints_", int, type(None)),
    )
    _no_sums = "this family has none over candidates and their alignments"

    def _make_objective(self, *arguments):
        if self.solver != "n-slack":
            return super()._make_objective(*arguments)
        return CountingObjective(*arguments)

    def _installed(self, encoded: Encoded, solution, objective) -> None:
        found = getattr(objective, "found", None)
        self.n_constraints_ = None if found is None else len(found)
