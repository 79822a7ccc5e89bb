"""The numbers of bracket scores, and their summary in the layout of evalb."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.metrics import Counts
from maxmargin.metrics.report import Report

SHORT = 40  # words up to which evalb gives a second summary


class SentenceScores(NamedTuple):
    """The numbers of one sentence."""

    length: int  # words, punctuation included
    truth: int  # brackets
    predicted: int
    correct: int
    correct_spans: int  # whatever their labels
    crossing: int  # predicted brackets that cross a true one
    words: int  # without punctuation
    correct_tags: int
    status: str = "valid"  # "failed": no predicted tree; "skipped": other words


@dataclass(frozen=True)
class BracketReport(Report):
    """Scores of brackets; ``str()`` is a summary in the layout of evalb.

    Quotients are from 0 to 1; they are 0 where nothing was predicted or is there.
    ``sentences`` has a row of numbers for every sentence, ``labels`` the
    :class:`~maxmargin.metrics.Counts` of every label.
    """

    sentences: tuple[SentenceScores, ...]
    labels: dict[str, Counts]

    def _sum(self, name: str) -> int:
        return sum(getattr(row, name) for row in self.sentences)

    def _share(self, good: Iterable[bool]) -> float:
        good = list(good)
        return sum(good) / len(good) if good else 0.0

    def _compared(self) -> list[SentenceScores]:
        """Sentences that were not skipped."""
        return [row for row in self.sentences if row.status != "skipped"]

    @property
    def n_sentences(self) -> int:
        return len(self.sentences)

    @property
    def n_skipped(self) -> int:
        """Sentences whose two trees have different words; they count for nothing."""
        return sum(row.status == "skipped" for row in self.sentences)

    @property
    def n_failed(self) -> int:
        """Sentences without a predicted tree; all their brackets are missed."""
        return sum(row.status == "failed" for row in self.sentences)

    @property
    def counts(self) -> Counts:
        return Counts(self._sum("truth"), self._sum("predicted"), self._sum("correct"))

    @property
    def precision(self) -> float:
        return self.counts.precision

    @property
    def recall(self) -> float:
        return self.counts.recall

    @property
    def f1(self) -> float:
        return self.counts.f1

    @property
    def unlabelled_f1(self) -> float:
        """F1 of brackets without their labels."""
        return self.counts._replace(correct=self._sum("correct_spans")).f1

    @property
    def exact_match(self) -> float:
        """Share of sentences with all brackets right and no other."""
        return self._share(map(is_exact, self._compared()))

    @property
    def average_crossing(self) -> float:
        """Predicted brackets that cross a true one, per sentence with a tree."""
        rows = [row.crossing for row in self.sentences if row.status == "valid"]
        return sum(rows) / len(rows) if rows else 0.0

    @property
    def no_crossing(self) -> float:
        """Share of the sentences with a tree in which no bracket crosses a true one."""
        return self._crossing_up_to(0)

    @property
    def two_or_less_crossing(self) -> float:
        return self._crossing_up_to(2)

    def _crossing_up_to(self, n: int) -> float:
        rows = [row for row in self.sentences if row.status == "valid"]
        return self._share(row.crossing <= n for row in rows)

    @property
    def tagging_accuracy(self) -> float:
        """Share of words, without punctuation, that have their true tag."""
        words = self._sum("words")
        return self._sum("correct_tags") / words if words else 0.0

    def table(self) -> np.ndarray:
        """True, predicted and correct brackets of every sentence, as rows."""
        rows = [(row.truth, row.predicted, row.correct) for row in self.sentences]
        return np.array(rows, np.float64).reshape(-1, 3)

    def as_dict(self) -> dict[str, Any]:
        """The numbers of the summary by name, and those of every label."""
        _, labels = self._parts()
        return {**self._measures(), **self.counts._asdict(), "labels": labels}

    def _parts(self):
        return "label", {label: found.as_dict() for label, found in self.labels.items()}

    def _measures(self) -> dict[str, Any]:
        names = (
            "n_sentences n_failed n_skipped precision recall f1 unlabelled_f1 "
            "exact_match average_crossing no_crossing two_or_less_crossing "
            "tagging_accuracy"
        )
        return {name: getattr(self, name) for name in names.split()}

    def __str__(self) -> str:
        short = [row for row in self.sentences if row.length <= SHORT]
        all_, few = self._measures(), BracketReport(tuple(short), {})._measures()
        lines = [f"{'':26}{'all':>10}{f'<= {SHORT} words':>14}"]
        for title, name, scale in _LINES:
            digits = 0 if name.startswith("n_") else 2
            cells = [scale * numbers[name] for numbers in (all_, few)]
            lines.append(f"{title:<26}{cells[0]:>10.{digits}f}{cells[1]:>14.{digits}f}")
        return "\n".join(lines)


_LINES = (
    ("sentences", "n_sentences", 1),
    ("  without a parse", "n_failed", 1),
    ("  skipped (other words)", "n_skipped", 1),
    ("bracket recall %", "recall", 100),
    ("bracket precision %", "precision", 100),
    ("bracket F1 %", "f1", 100),
    ("F1 without labels %", "unlabelled_f1", 100),
    ("exact match %", "exact_match", 100),
    ("crossing brackets, mean", "average_crossing", 1),
    ("none crossing %", "no_crossing", 100),
    ("at most two crossing %", "two_or_less_crossing", 100),
    ("tagging accuracy %", "tagging_accuracy", 100),
)


def is_exact(row: SentenceScores) -> bool:
    return row.status == "valid" and row.truth == row.predicted == row.correct
