"""Invented natives, homologs and decoys, to learn to tell homologs from decoys.

A native sequence is random. Its homolog repeats a stretch of it with changes: a random
string of operations is applied from a random place on,

    match          copy the letter
    substitution   copy another letter in its place: the next one of the alphabet (or
                   one drawn by a table of probabilities)
    insertion      add a random letter
    deletion       leave the letter out

and random letters on both sides make it as long as the native. Decoys are random sequences
of that length, or homologs of other natives.

The kind of data and the defaults follow Joachims 2003 (Learning to align sequences) as far
as they are remembered: 20 letters, length 50, 30 operations, with probabilities 0.2, 0.4,
0.2 and 0.2. The number of decoys is our choice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from maxmargin.core.checks import whole

AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
DECOYS = ("random", "homologs")


class Homologs(NamedTuple):
    """Inputs and truth as :class:`maxmargin.HomologFinder` takes them."""

    X: list[tuple[str, list[str]]]  # native, candidates
    y: list[tuple[int, list[tuple[int, int]]]]  # number of the homolog, matched pairs


def make_homologs(
    n_samples: int = 20,
    n_decoys: int = 10,
    *,
    length: int = 50,
    operations: int = 30,
    match: float = 0.2,
    substitution: float = 0.4,
    insertion: float = 0.2,
    deletion: float = 0.2,
    substitutions=None,
    decoys: str = "random",
    alphabet: str = AMINO_ACIDS,
    random_state=None,
) -> Homologs:
    """Random samples, each with one homolog among decoys at a random place.

    Parameters
    ----------
    n_samples, n_decoys : int
        Natives, and decoys of each.
    length : int
        Letters of every sequence.
    operations : int
        Length of the string of operations; at most ``length``.
    match, substitution, insertion, deletion : float
        Probabilities of the operations; they must add up to 1.
    substitutions : array (letters, letters) or None
        Row x has the probabilities of the letters that replace x. None: always the next.
    decoys : {"random", "homologs"}
        "homologs" takes homologs of natives that are not in the samples.
    alphabet : str
    random_state : int, RandomState or None

    >>> X, y = make_homologs(2, n_decoys=3, random_state=0)
    >>> native, candidates = X[0]
    >>> len(native), len(candidates), len(y[0][1]) > 0
    (50, 4, True)
    """
    rates = np.array([match, substitution, insertion, deletion], dtype=float)
    _check(n_samples, n_decoys, length, operations, rates, decoys, alphabet)
    table = _substitution_table(substitutions, len(alphabet))
    rng = check_random_state(random_state)

    def draw(n):
        return rng.randint(len(alphabet), size=n)

    def relative(native):
        return _homolog(native, operations, rates, table, rng)

    X, y = [], []
    for _ in range(n_samples):
        native = draw(length)
        homolog, pairs = relative(native)
        others = [draw(length) for _ in range(n_decoys)]
        if decoys == "homologs":
            others = [relative(other)[0] for other in others]
        place = int(rng.randint(n_decoys + 1))
        others.insert(place, homolog)
        texts = ["".join(alphabet[k] for k in s) for s in [native, *others]]
        X.append((texts[0], texts[1:]))
        y.append((place, pairs))
    return Homologs(X, y)


def _homolog(native, operations, rates, table, rng):
    """A homolog as long as the native, and their matched pairs; there is one at least."""
    n_letters, length = len(table), len(native)
    while True:
        steps = rng.choice(4, size=operations, p=rates)
        if (steps < 2).any():
            break
    used = int((steps != 2).sum())  # letters of the native
    made = int((steps != 3).sum())  # letters of the homolog
    p = int(rng.randint(length - used + 1))
    before = int(rng.randint(length - made + 1))
    letters = list(rng.randint(n_letters, size=before))
    pairs = []
    for step in steps:
        if step < 2:
            pairs.append((int(p), len(letters)))
            same = step == 0
            letters.append(
                native[p] if same else rng.choice(n_letters, p=table[native[p]])
            )
        elif step == 2:
            letters.append(rng.randint(n_letters))
        p += step != 2
    letters += list(rng.randint(n_letters, size=length - len(letters)))
    return letters, pairs


def _substitution_table(substitutions, k) -> np.ndarray:
    if substitutions is None:
        return np.roll(np.eye(k), 1, axis=1)
    table = np.asarray(substitutions, dtype=float)
    if table.shape != (k, k) or not (table >= 0).all():
        raise ValueError(
            f"substitutions must be a table of probabilities with {k} rows and columns, "
            "one per letter."
        )
    bad = np.flatnonzero(~np.isclose(table.sum(axis=1), 1.0))
    if len(bad):
        raise ValueError(
            f"row {bad[0]} of substitutions adds up to {table[bad[0]].sum():g}, not to 1."
        )
    return table


def _check(n_samples, n_decoys, length, operations, rates, decoys, alphabet) -> None:
    for name, value in (
        ("n_samples", n_samples),
        ("n_decoys", n_decoys),
        ("length", length),
        ("operations", operations),
    ):
        whole(name, value, "a positive whole number")
    if operations > length:
        raise ValueError(
            f"operations={operations} is not possible: there are only {length} letters."
        )
    if not (rates >= 0).all() or not np.isclose(rates.sum(), 1.0):
        raise ValueError(
            f"match, substitution, insertion and deletion are {rates.tolist()}: they must "
            "be zero or more and add up to 1."
        )
    if rates[:2].sum() <= 0:
        raise ValueError("match or substitution must be possible: both are 0.")
    if decoys not in DECOYS:
        raise ValueError(
            f"decoys={decoys!r} is not known: choose 'random' or 'homologs'."
        )
    if len(alphabet) < 2 or len({*alphabet}) < len(alphabet):
        raise ValueError(
            f"alphabet={alphabet!r} is not possible: it must have at least two letters, "
            "all different."
        )
