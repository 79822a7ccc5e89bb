"""Motifs as the tests of families' structures want them.

A plain StructuralSVM has one start, so these have one.
"""

import numpy as np

from maxmargin import MotifFinder


def sequences():
    rng = np.random.default_rng(3)
    letters = rng.choice(list("ACGT"), size=(40, 30))
    letters[::2, 12:18] = list("TATAAG")
    X = ["".join(row) for row in letters]
    return X, [1, 0] * 20, X


CASES = {
    "motifs": (MotifFinder(6, n_restarts=1), sequences),
    "motifs alone": (
        MotifFinder(
            6, order=1, composition=False, n_restarts=1, init="given", shifts=2
        ),
        sequences,
    ),
}
