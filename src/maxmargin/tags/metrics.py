"""How good predicted label sequences are: by spans, by tokens, by whole sequences.

All functions take the true and the predicted label sequences, as many and as long.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from operator import eq
from typing import Any

from maxmargin.metrics.labels import Counts, Labels, confusion_of, pairs_of
from maxmargin.metrics.report import Report
from maxmargin.tags.input import check_known
from maxmargin.tags.schemes import LabelTable, guess_scheme, read_spans


@dataclass(frozen=True)
class TokenReport(Report):
    """Scores of single labels; ``str()`` shows them in the style of conlleval."""

    n_tokens: int
    correct_tokens: int
    n_sequences: int
    correct_sequences: int
    labels: dict[Any, Counts] = field(default_factory=dict)

    @property
    def token_accuracy(self) -> float:
        """Share of labels that are right; 1 if there is none."""
        return self.correct_tokens / self.n_tokens if self.n_tokens else 1.0

    @property
    def sequence_accuracy(self) -> float:
        """Share of sequences in which every label is right; 1 if there is none."""
        return self.correct_sequences / self.n_sequences if self.n_sequences else 1.0

    def as_dict(self) -> dict[str, Any]:
        labels = {str(label): counts.as_dict() for label, counts in self.labels.items()}
        return {**self._measures(), "labels": labels}

    def _measures(self) -> dict[str, Any]:
        return {
            "tokens": self.n_tokens,
            "sequences": self.n_sequences,
            "token_accuracy": self.token_accuracy,
            "sequence_accuracy": self.sequence_accuracy,
        }

    def _parts(self):
        return "label", {label: c.as_dict() for label, c in self.labels.items()}

    def __str__(self) -> str:
        head = (
            f"processed {self.n_tokens} tokens in {self.n_sequences} sequences; "
            f"correct: {self.correct_tokens} tokens, {self.correct_sequences} sequences."
            f"\naccuracy: {100 * self.token_accuracy:6.2f}%; "
            f"sequence accuracy: {100 * self.sequence_accuracy:6.2f}%"
        )
        return "\n".join([head, *map(_line, self.labels, self.labels.values())])


@dataclass(frozen=True)
class SpanReport(Report):
    """Scores of spans; ``str()`` prints the same as the script conlleval.

    The number at the end of a line is that of predicted spans. Attributes ``overall``
    and ``types[...]`` are :class:`Counts`; ``tokens`` is a :class:`TokenReport`.
    """

    overall: Counts
    types: dict[str, Counts]
    tokens: TokenReport

    @property
    def precision(self) -> float:
        return self.overall.precision

    @property
    def recall(self) -> float:
        return self.overall.recall

    @property
    def f1(self) -> float:
        return self.overall.f1

    @property
    def token_accuracy(self) -> float:
        return self.tokens.token_accuracy

    @property
    def sequence_accuracy(self) -> float:
        return self.tokens.sequence_accuracy

    def as_dict(self) -> dict[str, Any]:
        _, types = self._parts()
        return {
            **self.tokens.as_dict(),
            "spans": self.overall.as_dict(),
            "types": types,
        }

    def _measures(self) -> dict[str, Any]:
        return {**self.overall.as_dict(), **self.tokens._measures()}

    def _parts(self):
        return "type", {kind: counts.as_dict() for kind, counts in self.types.items()}

    def __str__(self) -> str:
        total = self.overall
        lines = [
            f"processed {self.tokens.n_tokens} tokens with {total.truth} phrases; "
            f"found: {total.predicted} phrases; correct: {total.correct}."
        ]
        if self.tokens.n_tokens:
            accuracy = _percent(self.tokens.correct_tokens, self.tokens.n_tokens)
            lines.append(f"accuracy: {accuracy:6.2f}%; {_quotients(total)}")
        return "\n".join([*lines, *map(_line, self.types, self.types.values())])


def _quotients(counts: Counts) -> str:
    # per cent first, then F1 of those: as the script rounds, to the last digit
    p = _percent(counts.correct, counts.predicted)
    r = _percent(counts.correct, counts.truth)
    f1 = 2 * p * r / (p + r) if p + r else 0.0
    return f"precision: {p:6.2f}%; recall: {r:6.2f}%; FB1: {f1:6.2f}"


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _line(name, counts: Counts) -> str:
    return f"{name!s:>17}: {_quotients(counts)}  {counts.predicted}"


# scores ------------------------------------------------------------------------------


def span_scores(truth: Labels, predicted: Labels, scheme: str = "auto") -> SpanReport:
    """Precision, recall and F1 of spans, as the CoNLL shared tasks count them.

    A predicted span is correct if the truth has one with the same tokens and type.
    ``scheme`` is one of :mod:`maxmargin.tags.schemes`; "auto" takes the letters of all.
    Labels that are written in no scheme, as parts of speech are, hold no spans:
    :func:`token_scores` is for them, and :func:`scores` chooses.

    Examples
    --------
    >>> report = span_scores([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-VP"]])
    >>> print(report)
    processed 3 tokens with 1 phrases; found: 2 phrases; correct: 1.
    accuracy:  66.67%; precision:  50.00%; recall: 100.00%; FB1:  66.67
                   NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1
                   VP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
    >>> report.f1
    0.6666666666666666
    """
    truth, predicted = _known_pairs(truth, predicted)
    table = LabelTable(scheme)
    every: tuple[list, list, list] = [], [], []  # true, predicted and correct spans
    for i, (row, guess) in enumerate(zip(truth, predicted, strict=True)):
        a = _spans_of("truth", i, row, table)
        b = a if row == guess else _spans_of("predicted", i, guess, table)
        for kept, new in zip(every, (a, b, set(a).intersection(b)), strict=True):
            kept += new
    there, found, same = (Counter(kind for _, _, kind in kept) for kept in every)
    kinds = sorted({*there, *found})
    types = {kind: Counts(there[kind], found[kind], same[kind]) for kind in kinds}
    overall = Counts(there.total(), found.total(), same.total())
    return SpanReport(overall, types, _token_report(truth, predicted))


def _spans_of(name, i, row, table):
    try:
        return read_spans(row, table)
    except ValueError as error:
        raise ValueError(
            f"{name}[{i}]: {error}. Spans cannot be counted: token_scores counts labels."
        ) from None


def token_scores(truth: Labels, predicted: Labels) -> TokenReport:
    """Accuracy of tokens and sequences, and precision, recall and F1 of every label."""
    return _token_report(*_known_pairs(truth, predicted))


def scores(
    truth: Labels, predicted: Labels, scheme: str | None = "auto"
) -> SpanReport | TokenReport:
    """The report that fits the labels.

    That of :func:`span_scores` if all labels are written in a tagging scheme, else that
    of :func:`token_scores`. A scheme insists on spans, None on tokens.
    """
    truth, predicted = _known_pairs(truth, predicted)
    if scheme == "auto":
        seen = set(chain.from_iterable(chain(truth, predicted)))
        scheme = "auto" if guess_scheme(seen) else None
    if scheme is None:
        return _token_report(truth, predicted)
    return span_scores(truth, predicted, scheme)


def token_accuracy(truth: Labels, predicted: Labels) -> float:
    """Share of labels that are right; 1 if there is none."""
    return token_scores(truth, predicted).token_accuracy


def sequence_accuracy(truth: Labels, predicted: Labels) -> float:
    """Share of sequences in which every label is right; 1 if there is none."""
    return token_scores(truth, predicted).sequence_accuracy


def _known_pairs(truth: Labels, predicted: Labels) -> tuple[list[list], list[list]]:
    truth, predicted = pairs_of(truth, predicted)
    check_known(truth, "truth")
    return truth, predicted


def _token_report(truth, predicted) -> TokenReport:
    labels, table = confusion_of(truth, predicted)
    there, found = table.sum(axis=1).tolist(), table.sum(axis=0).tolist()
    right = table.diagonal().tolist()
    counts = {
        label: Counts(*row)
        for label, *row in zip(labels, there, found, right, strict=True)
    }
    return TokenReport(
        sum(there), sum(right), len(truth), sum(map(eq, truth, predicted)), counts
    )


# input -------------------------------------------------------------------------------
