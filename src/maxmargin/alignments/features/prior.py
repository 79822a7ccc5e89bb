"""Substitution and gap scores that are known before training.

Training learns how far the scores of a family of sequences are from usual ones, prior[k]:

    score of part k  =  scale[k] w[k] + w[factor] prior[k]

and minimises 1/2 |w|^2 with all of these weights. With few examples, w[factor] is what
pays: one weight whose feature is the prior score of a whole alignment. The best alignments
are then those of the usual scores, whatever its value. With many examples the others say
more. Fitted weights are the sums on the right: only training knows of a prior.

Amino acids have BLOSUM62 (Henikoff & Henikoff 1992) and the gaps of BLAST, nucleotides and
all other symbols one score for equal symbols and one for others. Gaps are learnt slowly
(GAP_SCALE): their features are counts of letters, tens of times larger than those of pairs
of letters, and structural alignments with many gaps would else make all gaps cheap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.alignments.features.models import AMINO_ACIDS, SIDES, AlignmentModel

BLOSUM62_LETTERS = "ARNDCQEGHILKMFPSTWYVBZX"
BLOSUM62 = """
 4
-1  5
-2  0  6
-2 -2  1  6
 0 -3 -3 -3  9
-1  1  0  0 -3  5
-1  0  0  2 -4  2  5
 0 -2  0 -1 -3 -2 -2  6
-2  0  1 -1 -3  0  0 -2  8
-1 -3 -3 -3 -1 -3 -3 -4 -3  4
-1 -2 -3 -4 -1 -2 -3 -4 -3  2  4
-1  2  0 -1 -3  1  1 -2 -1 -3 -2  5
-1 -1 -2 -3 -1  0 -2 -3 -2  1  2 -1  5
-2 -3 -3 -3 -2 -3 -3 -3 -1  0  0 -3  0  6
-1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4  7
 1 -1  1  0 -1  0  0  0 -1 -2 -2  0 -1 -2 -1  4
 0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  1  5
-3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1  1 -4 -3 -2 11
-2 -2 -2 -3 -2 -1 -2 -3  2 -1 -1 -2 -1  3 -3 -2 -2  2  7
 0 -3 -3 -3 -1 -2 -2 -3 -3  3  1 -2  1 -1 -2 -2  0 -3 -1  4
-2 -1  3  4 -3  0  1 -1  0 -3 -4  0 -3 -3 -2  0 -1 -4 -3 -3  4
-1  0  0  1 -3  3  4 -2  0 -3 -3  1 -1 -3 -1  0 -1 -3 -2 -2  1  4
 0 -1 -1 -1 -2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -2  0  0 -2 -1 -1 -1 -1 -1
"""
RARE_AMINO_ACIDS = "UOJ*"  # scored as X
NUCLEOTIDES = "ACGTUNRYSWKMBDHV"  # of IUPAC
PROTEIN_GAPS = -11.0, -1.0  # a run of k letters scores open + k extend
EQUAL, OTHER, OTHER_GAPS = 5.0, -4.0, (-10.0, -1.0)
GAP_SCALE = 0.2  # by cross-validation, as C is


class Prior(NamedTuple):
    """A score and a factor for every weight of a model; empty without a prior."""

    scores: np.ndarray
    scale: np.ndarray

    def folded(self, w: np.ndarray) -> np.ndarray:
        """The scores of parts that w (with w[factor] behind all others) stands for.

        Without w[factor], they are scores already: those of a fitted model.
        """
        if not 0 < len(self.scores) < len(w):
            return w
        return (self.scale * w[:-1] + w[-1] * self.scores).astype(w.dtype)

    def unfolded(self, scores: np.ndarray, factor: float) -> np.ndarray:
        """The w of the objective for scores of parts and the factor that they hold."""
        if not len(self.scores):
            return scores
        return np.append((scores - factor * self.scores) / self.scale, factor)


NONE = Prior(np.zeros(0), np.zeros(0))


def is_nucleic(symbols) -> bool:
    return set(symbols) <= set(NUCLEOTIDES)


def is_protein(symbols) -> bool:
    known = set(BLOSUM62_LETTERS + RARE_AMINO_ACIDS)
    return set(symbols) <= known and not is_nucleic(symbols)


def with_usual_letters(symbols: list[str]) -> list[str]:
    """These symbols, and the amino acids or nucleotides that are missing among them."""
    usual = ""
    if is_nucleic(symbols):
        usual = "ACGU" if "U" in symbols else "ACGT"
    elif is_protein(symbols):
        usual = AMINO_ACIDS + "X"
    return sorted({*symbols, *usual})


def make_prior(model: AlignmentModel) -> Prior:
    """Usual scores for the letters (the first track) and gaps of a model.

    There are none if letters are not scored against letters alone.
    """
    first = model.tracks[0]
    left, right = model.alphabets[first]
    name = f"{first}/{first}"
    if name not in model.names or not set(left) & set(right):
        return NONE
    scores, scale = np.zeros(model.n_weights), np.ones(model.n_weights)
    places = model.places(name)
    if is_protein(left + right):
        scores[places] = _blosum62(left, right)
        opening, extension = PROTEIN_GAPS
    else:
        equal = np.array(left)[:, None] == np.array(right)[None, :]
        scores[places] = np.where(equal, EQUAL, OTHER)
        opening, extension = OTHER_GAPS
    for side in SIDES:
        gaps = model.gap_places[side]
        scores[gaps["extend"]], scale[gaps["extend"]] = extension, GAP_SCALE
        if gaps["open"] is not None:
            scores[gaps["open"]], scale[gaps["open"]] = opening, GAP_SCALE
        else:  # linear: a run of three costs the same
            scores[gaps["extend"]] += opening / 3
    return Prior(scores, scale)


def _blosum62(left, right) -> np.ndarray:
    n = len(BLOSUM62_LETTERS)
    matrix = np.zeros((n, n))
    matrix[np.tril_indices(n)] = np.array(BLOSUM62.split(), float)
    matrix += np.tril(matrix, -1).T
    row = {letter: k for k, letter in enumerate(BLOSUM62_LETTERS)}
    a, b = ([row.get(letter, row["X"]) for letter in side] for side in (left, right))
    return matrix[np.ix_(a, b)]
