"""How good predicted classes are, all together and one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import precision_recall_fscore_support

from maxmargin.metrics.report import Report

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

MOST = 30  # classes in a table


@dataclass(frozen=True)
class ClassScore:
    """One class: samples that have it, precision, recall and F1 of predicting it."""

    label: Any
    n: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class ClassReport(Report):
    """Numbers from 0 to 1; prints as a table.

    ``macro_f1`` is the mean over classes that occur, as truth or prediction.
    """

    n: int
    accuracy: float
    macro_f1: float
    classes: tuple[ClassScore, ...]

    def _measures(self) -> dict[str, Any]:
        return {"n": self.n, "accuracy": self.accuracy, "macro_f1": self.macro_f1}

    def _parts(self):
        rows = {score.label: vars(score) for score in self.classes}
        return "class", {
            label: {name: row[name] for name in ("n", "precision", "recall", "f1")}
            for label, row in rows.items()
        }

    def __str__(self) -> str:
        lines = [
            f"samples   {self.n:>9,}",
            f"accuracy  {100 * self.accuracy:>9.2f} %",
            f"macro F1  {100 * self.macro_f1:>9.2f} %",
            "",
        ]
        shown = sorted(self.classes, key=lambda c: -c.n)[:MOST]
        shown = [c for c in self.classes if c in shown]
        width = max(5, *(len(str(c.label)) for c in shown))
        lines.append(f"{'class':<{width}}  samples  precision   recall       F1")
        for c in shown:
            rates = f"{100 * c.precision:9.2f}{100 * c.recall:9.2f}{100 * c.f1:9.2f}"
            lines.append(f"{c.label!s:<{width}}{c.n:>9,}  {rates}")
        if len(shown) < len(self.classes):
            lines.append(f"({len(self.classes) - len(shown)} smaller classes)")
        return "\n".join(lines)


def class_report(truth: ArrayLike, predicted: ArrayLike) -> ClassReport:
    """Compare predicted classes with the truth.

    >>> print(class_report(["eel", "eel", "cod"], ["eel", "cod", "cod"]))
    samples           3
    accuracy      66.67 %
    macro F1      66.67 %
    <BLANKLINE>
    class  samples  precision   recall       F1
    cod          1      50.00   100.00    66.67
    eel          2     100.00    50.00    66.67
    """
    truth, predicted = (
        np.asarray(list(labels) if isinstance(labels, Iterator) else labels)
        for labels in (truth, predicted)
    )
    if truth.shape != predicted.shape or truth.ndim != 1 or not len(truth):
        raise ValueError(
            f"the true and the predicted classes have shapes {truth.shape} and "
            f"{predicted.shape}: give a class per sample in both."
        )
    both = np.concatenate([truth, predicted])
    try:
        names, numbers = np.unique(both, return_inverse=True)
    except TypeError:  # they have no common order
        kinds = sorted({type(label).__name__ for label in both.tolist()})
        raise ValueError(
            f"the classes are of several kinds ({', '.join(kinds)}): write them all in one "
            "way, and leave out samples whose class is not known."
        ) from None
    a, b = numbers[: len(truth)], numbers[len(truth) :]
    precision, recall, f1, n = precision_recall_fscore_support(a, b, zero_division=0)
    columns = (part.tolist() for part in (names, n.astype(int), precision, recall, f1))
    classes = tuple(ClassScore(*score) for score in zip(*columns, strict=True))
    return ClassReport(len(a), float((a == b).mean()), float(f1.mean()), classes)
