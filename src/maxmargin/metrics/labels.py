"""Labels of any kind beside the true ones: how often each was taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

Labels = Sequence[Sequence[Any]]


class Counts(NamedTuple):
    """Numbers of true, predicted and correctly predicted items.

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

    def as_dict(self) -> dict[str, float]:
        """Precision, recall and F1, and what they are made of."""
        rates = {name: getattr(self, name) for name in ("precision", "recall", "f1")}
        return rates | self._asdict()


def confusion(truth: Labels, predicted: Labels) -> tuple[list, np.ndarray]:
    """The labels, sorted, and how often each true one (row) was predicted as each (column).

    Examples
    --------
    >>> labels, table = confusion([["a", "b", "b"]], [["a", "b", "a"]])
    >>> labels
    ['a', 'b']
    >>> table.tolist()
    [[1, 0], [1, 1]]
    """
    return confusion_of(*pairs_of(truth, predicted))


def confusion_of(truth, predicted):
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


def pairs_of(truth, predicted) -> tuple[list[list], list[list]]:
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
