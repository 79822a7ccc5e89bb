"""What HomologFinder is given: natives with candidates, homologs with alignments."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.alignments.biopython import is_alignment, rows_or_pairs
from maxmargin.alignments.files.pairs import check_pairs, first_difference, ungapped
from maxmargin.core.listed import listed
from maxmargin.core.objects import letters_of
from maxmargin.files.messages import kind_of, short

Inputs = list[tuple[str, list[str]]]
MOST_LETTERS = 255


def check_inputs(X: Any, decoys_needed: bool = False) -> Inputs:
    """X as a list of (native, candidates); a sentence for the first thing that is wrong."""
    checked: Inputs = []
    for i, sample in enumerate(_listed("X", X)):
        if isinstance(sample, str) or not _has_length(sample, 2):
            raise ValueError(
                f"X[{i}] is {kind_of(sample)}, but it must be a pair: a native sequence "
                "and the list of its candidates."
            )
        native, candidates = sample
        native = _sequence(native, f"X[{i}]: the native sequence")
        if hasattr(candidates, "tolist"):  # an array, a Series
            candidates = candidates.tolist()
        if isinstance(candidates, str) or not isinstance(candidates, Sequence):
            raise ValueError(
                f"X[{i}]: the candidates are {kind_of(candidates)}, but they must be a "
                "list of sequences."
            )
        candidates = [
            _sequence(candidate, f"X[{i}]: candidate {k}")
            for k, candidate in enumerate(candidates)
        ]
        if len(candidates) < 1 + decoys_needed:
            what = "a homolog and at least one decoy" if decoys_needed else "one"
            raise ValueError(
                f"X[{i}] has {len(candidates)} candidates, but it needs {what}."
            )
        checked.append((native, candidates))
    if decoys_needed and not checked:
        raise ValueError("X is empty: there are no samples.")
    return checked


def check_truth(X: Inputs, y: Any) -> list[tuple[int, list[tuple[int, int]]]]:
    """y as a list of (number of the homolog, matched pairs)."""
    y = _same_length(X, y)
    checked = []
    for i, ((native, candidates), truth) in enumerate(zip(X, y, strict=True)):
        if isinstance(truth, str) or not _has_length(truth, 2):
            raise ValueError(
                f"y[{i}] is {kind_of(truth)}, but it must be a pair: the number of the "
                "homolog among the candidates, and its alignment with the native."
            )
        number = check_number(truth[0], len(candidates), i)
        try:
            pairs = _pairs(truth[1], native, candidates[number])
        except ValueError as error:
            raise ValueError(f"y[{i}]: {error}") from None
        if not pairs:
            raise ValueError(
                f"y[{i}]: the alignment is empty, so there is nothing to learn from: give "
                "matched pairs, or leave the sample out."
            )
        checked.append((number, pairs))
    return checked


def check_numbers(X: Inputs, y: Any) -> np.ndarray:
    """The numbers of the homologs, from numbers or from pairs as for ``fit``."""
    y = _same_length(X, y)
    return np.array(
        [
            check_number(
                truth[0] if isinstance(truth, (tuple, list)) and truth else truth,
                len(candidates),
                i,
            )
            for i, ((_, candidates), truth) in enumerate(zip(X, y, strict=True))
        ]
    )


def check_number(number: Any, n: int, i: int) -> int:
    if not isinstance(number, numbers.Integral) or isinstance(number, bool):
        raise ValueError(
            f"y[{i}]: the homolog is {number!r}, but it must be its number among the "
            "candidates, counted from 0."
        )
    if not 0 <= number < n:
        raise ValueError(
            f"y[{i}]: the homolog is candidate {number}, but there are {n} candidates, "
            "counted from 0."
        )
    return int(number)


def _pairs(alignment, native: str, homolog: str) -> list[tuple[int, int]]:
    """Matched pairs, given as such, as two rows with gaps or as Biopython has them."""
    if is_alignment(alignment):
        alignment = rows_or_pairs(alignment, native, homolog, "the alignment")
    if _has_length(alignment, 2) and all(isinstance(row, str) for row in alignment):
        a, b, pairs = ungapped(*alignment)
        for row, sequence, what in ((a, native, "first"), (b, homolog, "second")):
            if row != sequence:
                at = first_difference(row, sequence)
                raise ValueError(
                    f"without gaps, the {what} row of the alignment is {short(row)}, but "
                    f"the sequence is {short(sequence)}; they differ at letter {at}."
                )
        return pairs
    if isinstance(alignment, (set, frozenset)):  # it has no order of its own
        with contextlib.suppress(TypeError):
            alignment = sorted(alignment)
    pairs = listed(
        alignment,
        f"the alignment is {kind_of(alignment)}, but it must be a list of matched pairs "
        "(i, j), or two rows with gaps.",
    )
    return check_pairs(pairs, len(native), len(homolog))


# letters -----------------------------------------------------------------------------


def check_alphabet(alphabet: Any, X: Inputs) -> str:
    """The letters that a model knows: given, or all that occur, in order."""
    if alphabet is None:
        found = {
            letter for native, others in X for s in (native, *others) for letter in s
        }
        alphabet = "".join(sorted(found))
    if not isinstance(alphabet, str) or not alphabet:
        raise ValueError(
            f"alphabet={alphabet!r} is not possible: it must be a string of letters, or "
            "None for all that occur in training."
        )
    if len({*alphabet}) < len(alphabet):
        twice = next(x for x in alphabet if alphabet.count(x) > 1)
        raise ValueError(
            f"alphabet={alphabet!r} is not possible: {twice!r} is in it twice."
        )
    if len(alphabet) > MOST_LETTERS:
        raise ValueError(
            f"there are {len(alphabet)} different letters, but at most {MOST_LETTERS} are "
            "possible."
        )
    return alphabet


def number_sequences(X: Inputs, alphabet: str):
    """(different sequences as arrays, number of every native, numbers of candidates)."""
    code = {letter: k for k, letter in enumerate(alphabet)}
    numbers_of: dict[str, int] = {}
    sequences: list[np.ndarray] = []

    def number(sequence: str, where: str) -> int:
        if sequence not in numbers_of:
            try:
                letters = np.array([code[x] for x in sequence], np.uint8)
            except KeyError as error:
                letter = error.args[0]
                raise ValueError(
                    f"{where} has {letter!r} at position {sequence.index(letter)}, which "
                    f"is not in the alphabet {short(alphabet)}: correct it, or name all "
                    "letters with alphabet= before fitting."
                ) from None
            numbers_of[sequence] = len(sequences)
            sequences.append(letters)
        return numbers_of[sequence]

    natives, lists = [], []
    for i, (native, candidates) in enumerate(X):
        natives.append(number(native, f"X[{i}]: the native sequence"))
        lists.append(
            [number(z, f"X[{i}]: candidate {k}") for k, z in enumerate(candidates)]
        )
    return sequences, natives, lists


def _sequence(sequence: Any, what: str) -> str:
    sequence = letters_of(sequence, what)
    if not isinstance(sequence, str):
        raise ValueError(f"{what} is {kind_of(sequence)}, but it must be a string.")
    if not sequence:
        raise ValueError(f"{what} is empty.")
    return sequence


def _listed(name: str, values: Any) -> list:
    return listed(
        values, f"{name} is {kind_of(values)}, but it must be a list of samples."
    )


def _same_length(X: Inputs, y: Any) -> list:
    y = _listed("y", y)
    if len(X) != len(y):
        raise ValueError(f"X has {len(X)} samples, but y has {len(y)}.")
    return y


def _has_length(value: Any, n: int) -> bool:
    return isinstance(value, Sequence) and len(value) == n
