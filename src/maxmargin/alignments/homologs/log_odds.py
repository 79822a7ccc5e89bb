"""LogOddsFinder: the generative way to find homologs, for comparison."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from maxmargin.alignments.homologs.estimator import LocalFinder
from maxmargin.alignments.homologs.input import (
    check_alphabet,
    check_inputs,
    check_numbers,
    check_truth,
)
from maxmargin.alignments.parameters import LogOddsFinderParameters

GAP_SCORES = tuple(-0.25 * 2 ** (k / 2) for k in range(13))  # -0.25 to -16


class LogOddsFinder(LogOddsFinderParameters, LocalFinder, BaseEstimator, init=False):
    """Finds homologs by local alignment with log-odds scores.

        substitution[a, b] = log( P(a, b) / (P(a) P(b)) )

    P(a, b) are the frequencies of matched letters in the training alignments and P(a), P(b)
    those of letters in all training sequences, natives and candidates. All counts begin at
    ``pseudocount`` (Laplace).

    Parameters
    ----------
    pseudocount : float, default 1.0
    gap : float or None
        Score of an unmatched letter between matches. None tries several and takes the one
        that finds most homologs in training; of those that find as many, the middle one.
    alphabet : str or None

    Attributes
    ----------
    alphabet_, substitution_matrix_, gap_open_, gap_extend_
        As in :class:`maxmargin.HomologFinder`.
    """

    def fit(self, X, y) -> LogOddsFinder:
        """Count, and choose the score of gaps."""
        self._check_parameters()
        X = check_inputs(X, decoys_needed=True)
        truth = check_truth(X, y)
        alphabet = check_alphabet(self.alphabet, X)
        matrix = log_odds(X, truth, alphabet, self.pseudocount)
        self.alphabet_ = alphabet
        self.substitution_matrix_ = matrix
        self.gap_open_ = 0.0
        self.gap_extend_ = (
            self._best_gap(X, truth) if self.gap is None else float(self.gap)
        )
        return self

    def _threads(self) -> int:
        return 1

    def _best_gap(self, X, truth) -> float:
        wanted = check_numbers(X, truth)
        found = []
        for score in GAP_SCORES:
            self.gap_extend_ = score
            found.append(int(np.sum(self.predict(X) == wanted)))
        best = np.flatnonzero(np.array(found) == max(found))
        return GAP_SCORES[best[len(best) // 2]]


def log_odds(X, truth, alphabet: str, pseudocount: float = 1.0) -> np.ndarray:
    """The substitution matrix of :class:`LogOddsFinder`."""
    code = {letter: k for k, letter in enumerate(alphabet)}
    k = len(alphabet)
    pairs = np.full((k, k), float(pseudocount))
    ours, theirs = np.full(k, float(pseudocount)), np.full(k, float(pseudocount))
    for (native, candidates), (homolog, matched) in zip(X, truth, strict=True):
        for p, q in matched:
            pairs[code[native[p]], code[candidates[homolog][q]]] += 1
        for letter in native:
            ours[code[letter]] += 1
        for candidate in candidates:
            for letter in candidate:
                theirs[code[letter]] += 1
    expected = np.outer(ours / ours.sum(), theirs / theirs.sum())
    return np.log(pairs / pairs.sum() / expected)
