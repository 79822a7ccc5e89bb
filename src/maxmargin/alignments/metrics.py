"""How good predicted alignments are: Q, Q4 and precision, with standard errors.

Alignments are lists of matched pairs (i, j), the reference R and the prediction P:

    Q      = |R & P| / |R|                                  share of R that was found
    Q4     = |{(i, j) in P: some (u, j) in R, |i - u| <= 4}| / |R|     shifts forgiven
    f_M    = |R & P| / |P|                                  share of P that is right

With a core mask (one truth value per pair of R), only core pairs of R count; f_M then
asks which of the predicted pairs that touch a position of the core are right. If R has no
pair at all, Q and Q4 are 1: nothing was missed. If nothing was predicted, f_M is 1 if
there was nothing to predict, else 0. Where a mask leaves no pair to count there is nothing
to say: all three are nan, and reports leave such alignments out.
(Sauder, Arthur & Dunbrack 2000; Yu, Joachims, Elber & Pillardy 2008.)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.metrics.report import Report, plain

Pairs = Iterable[tuple[int, int]]


def q_score(reference: Pairs, predicted: Pairs, core=None) -> float:
    """Share of the reference's pairs that were predicted.

    >>> q_score([(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 0), (1, 1), (2, 3)])
    0.5
    """
    wanted = {*_counted(reference, core)}
    return len(wanted & {*predicted}) / len(wanted) if wanted else _nothing(core)


def shift_score(reference: Pairs, predicted: Pairs, shift: int = 4, core=None) -> float:
    """The same, where (i, j) counts if the reference has (u, j) with |i - u| <= shift.

    >>> shift_score([(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 0), (1, 1), (2, 3)])
    0.75
    """
    if shift < 0:
        raise ValueError(f"shift={shift!r} is not possible: it must be 0 or more.")
    partner = {j: u for u, j in _counted(reference, core)}
    near = sum(j in partner and abs(i - partner[j]) <= shift for i, j in predicted)
    return near / len(partner) if partner else _nothing(core)


def pair_precision(reference: Pairs, predicted: Pairs, core=None) -> float:
    """f_M: share of the predicted pairs that are in the reference.

    >>> pair_precision([(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 0), (1, 1), (2, 3), (4, 4)])
    0.5
    """
    wanted = {*_counted(reference, core)}
    made = {*predicted}
    if core is not None:
        of_a, of_b = {i for i, _ in wanted}, {j for _, j in wanted}
        made = {(i, j) for i, j in made if i in of_a or j in of_b}
    if not made:
        return 0.0 if wanted else _nothing(core)
    return len(wanted & made) / len(made)


def _nothing(core) -> float:
    """The score where no pair counts."""
    unmasked = core is None or (hasattr(core, "__len__") and len(core) == 0)
    return 1.0 if unmasked else math.nan


def _counted(reference: Pairs, core) -> list[tuple[int, int]]:
    reference = list(reference)
    if core is None:
        return reference
    core = list(core)
    if len(core) != len(reference):
        raise ValueError(
            f"the core mask has {len(core)} values, but the reference has "
            f"{len(reference)} pairs: one value per pair is needed."
        )
    return [pair for pair, counts in zip(reference, core, strict=True) if counts]


# reports -----------------------------------------------------------------------------


class MeanScore(NamedTuple):
    """A mean of numbers from 0 to 1, and its standard error (nan for fewer than two)."""

    mean: float
    error: float


class FamilyScores(NamedTuple):
    """Mean scores of some alignments."""

    n: int
    q: MeanScore
    q_shift: MeanScore
    f_m: MeanScore


@dataclass(frozen=True)
class AlignmentReport(Report):
    """Scores of many alignments; ``str()`` shows them as a table, in per cent.

    ``overall`` is the mean over alignments. Those of one family resemble each other, so
    its standard error is too small where families are large; ``by_family`` is the mean over
    means of families, which are independent. It is None without families.
    """

    overall: FamilyScores
    by_family: FamilyScores | None
    families: dict[str, FamilyScores]
    shift: int
    each: np.ndarray  # (alignments, 3): Q, Q4 and f_M of every alignment, or nan

    def as_dict(self) -> dict[str, Any]:
        out = {"overall": self._numbers(self.overall)}
        if self.by_family is not None:
            out["by_family"] = by_family = self._numbers(self.by_family)
            by_family["families"] = by_family.pop("alignments")
            out["families"] = {k: self._numbers(v) for k, v in self.families.items()}
        return plain(out)

    def _numbers(self, scores: FamilyScores) -> dict[str, Any]:
        found: dict[str, Any] = {"alignments": scores.n}
        for name, (mean, error) in self._named(scores):
            found[name] = {"mean": mean, "standard_error": error}
        return found

    def _named(self, scores: FamilyScores) -> list[tuple[str, MeanScore]]:
        names = "q", f"q{self.shift}", "f_m"
        return list(zip(names, scores[1:], strict=True))

    def _row(self, scores: FamilyScores) -> dict[str, Any]:
        row: dict[str, Any] = {"n": scores.n}
        for name, (mean, error) in self._named(scores):
            row |= {name: mean, f"{name}_error": error}
        return row

    def _measures(self) -> dict[str, Any]:
        return self._row(self.overall)

    def _parts(self):
        rows = {name: self._row(scores) for name, scores in self.families.items()}
        return ("family", rows) if rows else ("", {})

    def __str__(self) -> str:
        head = f"{'':24}{'n':>6}{'Q':>16}{f'Q{self.shift}':>16}{'f_M':>16}"
        rows = [("alignments", self.overall)]
        if self.by_family is not None:
            rows.append(("families", self.by_family))
            rows += [(f"  {name}", scores) for name, scores in self.families.items()]
        return "\n".join([head, *(_line(name, scores) for name, scores in rows)])


def alignment_report(
    references: Sequence[Pairs],
    predictions: Sequence[Pairs],
    cores: Sequence | None = None,
    families: Sequence[str] | None = None,
    shift: int = 4,
) -> AlignmentReport:
    """Compare predicted alignments with references.

    Parameters
    ----------
    references, predictions : lists of lists of pairs (i, j)
    cores : list of masks, one truth value per reference pair, or None for all pairs
        A mask may be None: then all pairs of that reference count.
    families : list of names, or None
    shift : int
        How far a match may be off in the second score.

    >>> report = alignment_report([[(0, 0), (1, 1)], [(0, 0)]], [[(0, 0)], [(0, 0)]])
    >>> report.overall.q
    MeanScore(mean=0.75, error=0.25)
    """
    references, predictions = list(references), list(predictions)
    n = len(references)
    cores = [None] * n if cores is None else list(cores)
    families = None if families is None else list(families)
    if not n:
        raise ValueError("there are no alignments to compare.")
    for what, values in (
        ("predictions", predictions),
        ("core masks", cores),
        ("families", families),
    ):
        if values is not None and len(values) != n:
            raise ValueError(f"there are {n} references, but {len(values)} {what}.")
    each = np.empty((n, 3))
    for k in range(n):
        reference: list[Any] = [tuple(pair) for pair in references[k]]
        predicted: list[Any] = [tuple(pair) for pair in predictions[k]]
        try:
            each[k] = (
                q_score(reference, predicted, cores[k]),
                shift_score(reference, predicted, shift, cores[k]),
                pair_precision(reference, predicted, cores[k]),
            )
        except ValueError as error:
            raise ValueError(f"alignment {k}: {error}") from None
    scored = np.isfinite(each.sum(axis=1))
    if not scored.any():
        raise ValueError(
            "no alignment has a pair that counts, because the core masks are empty: "
            "without masks all pairs count."
        )
    groups: dict[str, list[int]] = {}
    for k, family in enumerate(families or ()):
        if scored[k]:
            groups.setdefault(str(family), []).append(k)
    by_family = None
    if groups:
        by_family = _means(
            np.array([each[rows].mean(axis=0) for rows in groups.values()])
        )
    return AlignmentReport(
        overall=_means(each[scored]),
        by_family=by_family,
        families={name: _means(each[rows]) for name, rows in groups.items()},
        shift=shift,
        each=each,
    )


def _means(table: np.ndarray) -> FamilyScores:
    n = len(table)
    error = table.std(axis=0, ddof=1) / math.sqrt(n) if n > 1 else np.full(3, math.nan)
    columns = zip(table.mean(axis=0).tolist(), error.tolist(), strict=True)
    return FamilyScores(n, *(MeanScore(mean, e) for mean, e in columns))


def _line(name: str, scores: FamilyScores) -> str:
    cells = []
    for mean, error in (scores.q, scores.q_shift, scores.f_m):
        beside = "" if math.isnan(error) else f"+-{100 * error:.1f}"
        cells.append(f"{100 * mean:8.1f} {beside:<7}")
    return f"{name:<24}{scores.n:>6}{''.join(cells)}".rstrip()
