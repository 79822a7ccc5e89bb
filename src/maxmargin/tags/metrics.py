"""How good predicted label sequences are: by spans, by tokens, by whole sequences.

All functions take the true and the predicted label sequences, as many and as long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import eq
from typing import Any, NamedTuple

import numpy as np

from maxmargin.tags.schemes import LabelTable, guess_scheme, read_spans

Labels = Sequence[Sequence[Any]]


class Counts(NamedTuple):
    """How many there are in truth, were predicted, and are the same in both.

    Quotients are from 0 to 1; they are 0 where nothing was predicted or is there.
    """

    truth: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.truth if self.truth else 0.0

    @property
    def f1(self) -> float:
        """2 precision recall / (precision + recall)."""
        both = self.truth + self.predicted
        return 2 * self.correct / both if both else 0.0


@dataclass(frozen=True)
class TokenReport:
    """Scores of single labels; ``str()`` shows them in the manner of conlleval."""

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

    def __str__(self) -> str:
        head = (
            f"processed {self.n_tokens} tokens in {self.n_sequences} sequences; "
            f"correct: {self.correct_tokens} tokens, {self.correct_sequences} sequences."
            f"\naccuracy: {100 * self.token_accuracy:6.2f}%; "
            f"sequence accuracy: {100 * self.sequence_accuracy:6.2f}%"
        )
        return "\n".join([head, *map(_line, self.labels, self.labels.values())])


@dataclass(frozen=True)
class SpanReport:
    """Scores of spans; ``str()`` prints what the script conlleval prints.

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
    truth, predicted = _pairs(truth, predicted)
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
    return _token_report(*_pairs(truth, predicted))


def scores(
    truth: Labels, predicted: Labels, scheme: str | None = "auto"
) -> SpanReport | TokenReport:
    """The report that fits the labels.

    That of :func:`span_scores` if all labels are written in a tagging scheme, else that
    of :func:`token_scores`. A scheme insists on spans, None on tokens.
    """
    truth, predicted = _pairs(truth, predicted)
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


def confusion(truth: Labels, predicted: Labels) -> tuple[list, np.ndarray]:
    """The labels, sorted, and how often each true one (row) got each other (column).

    Examples
    --------
    >>> labels, table = confusion([["a", "b", "b"]], [["a", "b", "a"]])
    >>> labels
    ['a', 'b']
    >>> table.tolist()
    [[1, 0], [1, 1]]
    """
    return _confusion(*_pairs(truth, predicted))


def _confusion(truth, predicted):
    labels = set(chain.from_iterable(truth)).union(chain.from_iterable(predicted))
    try:
        labels = sorted(labels)
    except TypeError:  # kinds that have no common order
        labels = sorted(labels, key=lambda label: (type(label).__name__, str(label)))
    k = len(labels)
    number = {label: j for j, label in enumerate(labels)}.__getitem__
    rows = np.fromiter(map(number, chain.from_iterable(truth)), np.int64)
    columns = np.fromiter(map(number, chain.from_iterable(predicted)), np.int64)
    table = np.bincount(rows * k + columns, minlength=k * k).reshape(k, k)
    return labels, table


def _token_report(truth, predicted) -> TokenReport:
    labels, table = _confusion(truth, predicted)
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


def _pairs(truth, predicted) -> tuple[list[list], list[list]]:
    """Both as lists of lists, checked to be as many and as long."""
    truth, predicted = _sequences("truth", truth), _sequences("predicted", predicted)
    if len(truth) != len(predicted):
        raise ValueError(
            f"truth has {len(truth)} sequences, but predicted has {len(predicted)}: "
            "give one predicted label sequence per true one."
        )
    for i, (row, guess) in enumerate(zip(truth, predicted, strict=True)):
        if len(row) != len(guess):
            raise ValueError(
                f"truth[{i}] has {len(row)} labels, but predicted[{i}] has "
                f"{len(guess)}: give one predicted label per true one."
            )
    return truth, predicted


def _sequences(name, y) -> list[list]:
    if isinstance(y, str) or not hasattr(y, "__iter__"):
        raise ValueError(f"{name} is {y!r}: give a list of label sequences.")
    out = []
    for i, row in enumerate(y):
        if isinstance(row, str) or not hasattr(row, "__iter__"):
            raise ValueError(
                f"{name}[{i}] is {row!r}, not a sequence of labels: give a list of "
                "label sequences."
            )
        # numpy's numbers and strings compare equal to plain ones, but slowly
        out.append(row.tolist() if isinstance(row, np.ndarray) else list(row))
        try:
            hash(tuple(out[-1]))
        except TypeError:
            raise ValueError(
                f"{name}[{i}] holds lists: its labels must be strings or integers."
            ) from None
    return out
