"""Learnt substitution scores for other programs: Biopython, parasail, files as of BLOSUM.

A fitted aligner scores a matched pair of letters (x, y) by ``matrix[x, y]``, x from the
first sequence, and a run of k unmatched letters by ``gap_open + k gap_extend``. Other
programs count the first letter of a run with its opening; the functions here change from
one convention to the other.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.files.messages import short
from maxmargin.files.text_files import RawText, read_text, write_text

if TYPE_CHECKING:
    from Bio.Align import PairwiseAligner
    from Bio.Align.substitution_matrices import Array

LARGEST = 1000  # largest whole number in a matrix for parasail


class Scoring(NamedTuple):
    """All that a plain alignment program needs. Costs are negative scores."""

    letters: str
    matrix: np.ndarray  # (letters, letters): first sequence, second sequence
    gap_open: float = math.nan  # once per run; nan if it is not known
    gap_extend: float = math.nan  # for every letter of a run
    scope: str = "global"


class ParasailScoring(NamedTuple):
    """A matrix of parasail, and its costs of gaps as positive whole numbers."""

    matrix: Any
    open: int
    extend: int
    scale: float  # scores of parasail are scale times ours, but for rounding


def scoring_of(model: Any) -> Scoring:
    """The scores of a fitted model (or a Scoring itself), if two letters decide them."""
    if isinstance(model, Scoring):
        return model
    name = type(model).__name__
    matrix = getattr(model, "substitution_matrix_", None)
    letters = getattr(model, "alphabet_", None)
    if matrix is None or letters is None:
        raise ValueError(
            f"{name} has no substitution matrix: only fitted models that score single "
            "letters against each other, with gaps that do not depend on the position, "
            "can be used by other programs."
        )
    letters = "".join(letters)
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.shape != (len(letters), len(letters)):
        raise ValueError(
            f"the substitution matrix of {name} has shape {matrix.shape}, but there are "
            f"{len(letters)} letters, each written with one character."
        )
    if getattr(model, "free_ends", None) is not None:
        raise ValueError(
            "the model leaves one sequence free at its ends (free_ends), which cannot be "
            "said to other programs in general: train without it."
        )
    opening = getattr(model, "gap_open_", math.nan)
    extension = getattr(model, "gap_extend_", math.nan)
    scope = getattr(model, "scope", "local")
    return Scoring(letters, matrix, float(opening), float(extension), scope)


# Biopython ---------------------------------------------------------------------------


def biopython_matrix(model: Any) -> Array:
    """The substitution matrix as an Array of Bio.Align.substitution_matrices."""
    scoring = scoring_of(model)
    try:
        from Bio.Align.substitution_matrices import Array as NewArray
    except ImportError:
        raise missing("Biopython", "biopython") from None
    array = NewArray(alphabet=scoring.letters, dims=2)
    array[:, :] = scoring.matrix
    return array


def biopython_aligner(model: Any) -> PairwiseAligner:
    """A PairwiseAligner with the scores and the scope (global or local) of a model.

    Its targets are our first sequences and its queries our second ones.
    """
    scoring = _with_gaps(model)
    matrix = biopython_matrix(scoring)
    from Bio.Align import PairwiseAligner as NewAligner

    aligner = NewAligner()
    aligner.mode = scoring.scope
    aligner.substitution_matrix = matrix
    aligner.open_gap_score = scoring.gap_open + scoring.gap_extend
    aligner.extend_gap_score = scoring.gap_extend
    return aligner


# parasail ----------------------------------------------------------------------------


def parasail_matrix(
    model: Any, largest: int = LARGEST, symmetric: bool = False
) -> ParasailScoring:
    """The scores as whole numbers for parasail, scaled so that none exceeds ``largest``.

    parasail's kernels do not agree on which sequence the rows of a matrix belong to, so
    it must be symmetric; ``symmetric=True`` makes it so, by the mean of (x, y) and (y, x).

        found = parasail_matrix(model)
        parasail.sw_trace_scan_32(a, b, found.open, found.extend, found.matrix)
    """
    scoring = _with_gaps(model)
    if largest < 1:
        raise ValueError(f"largest={largest!r} is not possible: it must be 1 or more.")
    try:
        import parasail
    except ImportError:
        raise missing("parasail", "parasail") from None
    matrix = scoring.matrix
    if symmetric:
        matrix = (matrix + matrix.T) / 2
    elif not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-9):
        raise ValueError(
            "the substitution matrix is not symmetric, which parasail cannot use: train "
            "with symmetric=True, or say symmetric=True here for the mean of both halves."
        )
    costs = np.array([-(scoring.gap_open + scoring.gap_extend), -scoring.gap_extend])
    if (costs < 0).any():
        raise ValueError(
            f"a gap earns a score (open {scoring.gap_open:g}, extend "
            f"{scoring.gap_extend:g}), but in parasail it can only cost."
        )
    biggest = max(np.abs(matrix).max(initial=0.0), costs.max())
    scale = largest / biggest if biggest > 0 else 1.0
    whole = np.rint(scale * matrix).astype(int)
    made = parasail.matrix_create(scoring.letters, 0, 0)
    for x, y in np.ndindex(whole.shape):
        made.set_value(x, y, int(whole[x, y]))
    opening, extension = np.rint(scale * costs).astype(int).tolist()
    return ParasailScoring(made, opening, extension, scale)


def _with_gaps(model) -> Scoring:
    scoring = scoring_of(model)
    if not (math.isfinite(scoring.gap_open) and math.isfinite(scoring.gap_extend)):
        raise ValueError(
            "the costs of gaps are not known or depend on the position, which other "
            "programs cannot use: train with gaps='affine' or gaps='linear'."
        )
    return scoring


def missing(what: str, package: str) -> ImportError:
    return ImportError(
        f"{what} is not installed: install it with  pip install {package}"
    )


# text --------------------------------------------------------------------------------


def matrix_text(model: Any, largest: int | None = None) -> str:
    """The matrix as NCBI writes BLOSUM62: a line of letters, then a line per letter.

    The numbers have six digits, or are whole and scaled so that none exceeds ``largest``.
    Rows are letters of the first sequence. The scores of gaps stand in the remarks above.
    """
    scoring = scoring_of(model)
    matrix, scale = scoring.matrix, 1.0
    if not np.isfinite(matrix).all():
        raise ValueError("the substitution matrix holds numbers that are not finite.")
    if any(letter.isspace() or letter == "#" for letter in scoring.letters):
        raise ValueError(
            f"the letters {scoring.letters!r} cannot be written: white space and # have "
            "a meaning of their own in such files."
        )
    if largest is not None:
        biggest = float(np.abs(matrix).max(initial=0.0))
        scale = largest / biggest if biggest > 0 else 1.0
        matrix = np.rint(scale * matrix).astype(int)
    lines = ["# substitution scores; rows: first sequence, columns: second sequence"]
    if math.isfinite(scoring.gap_open):
        lines.append(
            "# a run of k unmatched letters scores open + k extend, "
            f"open = {scale * scoring.gap_open:.6g}, "
            f"extend = {scale * scoring.gap_extend:.6g}"
        )
    cells = [[f"{value:.6g}" for value in row] for row in matrix.tolist()]
    width = max([2, *(len(cell) for row in cells for cell in row)])
    lines.append("  " + " ".join(f"{x:>{width}}" for x in scoring.letters))
    lines += [
        f"{x} " + " ".join(f"{cell:>{width}}" for cell in row)
        for x, row in zip(scoring.letters, cells, strict=True)
    ]
    return "\n".join(lines) + "\n"


def write_matrix(
    path: str | os.PathLike, model: Any, largest: int | None = None
) -> None:
    """Write :func:`matrix_text` to a file, whole or not at all."""
    write_text(path, matrix_text(model, largest), "utf-8")


def read_matrix(path: str | os.PathLike | RawText) -> Scoring:
    """A substitution matrix from a file such as BLOSUM62; costs of gaps stay nan.

    Errors are ValueErrors that name the file and the line.
    """
    text, name = read_text(path, "utf-8")
    letters: list[str] | None = None
    rows: dict[str, list[float]] = {}
    for number, line in enumerate(text.decode().split("\n"), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        try:
            if letters is None:
                letters = _header(words)
            else:
                if words[0] not in letters:
                    raise ValueError(
                        f"{short(words[0])} is not a letter of the columns"
                    )
                if words[0] in rows:
                    raise ValueError(f"there are two rows {words[0]!r}")
                rows[words[0]] = _numbers(words[1:], len(letters))
        except ValueError as error:
            raise ValueError(f"{name}, line {number}: {error}.") from None
    if letters is None:
        raise ValueError(f"{name} has no substitution matrix: it is empty.")
    for letter in letters:
        if letter not in rows:
            raise ValueError(f"{name} is cut off: there is no row of {letter!r}.")
    return Scoring("".join(letters), np.array([rows[letter] for letter in letters]))


def _header(words: list[str]) -> list[str]:
    for word in words:
        if len(word) != 1:
            raise ValueError(
                f"{short(word)} is not one letter: the first line names the columns"
            )
        if words.count(word) > 1:
            raise ValueError(f"the column {word!r} is named twice")
    return words


def _numbers(words: list[str], n: int) -> list[float]:
    if len(words) != n:
        raise ValueError(f"there are {len(words)} numbers in {n} columns")
    values = []
    for word in words:
        try:
            values.append(float(word))
        except ValueError:
            raise ValueError(f"{short(word)} is not a number") from None
        if not math.isfinite(values[-1]):
            raise ValueError(f"{short(word)} is not finite")
    return values
