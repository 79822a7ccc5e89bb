"""What a report shows of classes, and of sets of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from maxmargin.classes.report import class_report
from maxmargin.classes.taxonomy.metrics import class_scores, node_set_scores
from maxmargin.report.findings import (
    Findings,
    Kind,
    Test,
    chosen,
    columns_of,
    strongest,
)
from maxmargin.report.markup import Markup, element, named
from maxmargin.report.measures import Measure, f1, f1_of, share
from maxmargin.report.rows import drawn_row, row_name

MOST = 50  # classes, for an interval of the macro F1


class RowFindings(Findings):
    """Samples that are rows of features, or texts."""

    items = "samples"

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        self.columns = columns_of(model, test)

    def name(self, i: int) -> str:
        return row_name(self.test, i)

    def draw(self, i: int, outputs: Any) -> Markup:
        return element(
            "div", drawn_row(self.test, i, self.columns), self.draw_other(i, outputs)
        )

    def row_names(self) -> list[str]:
        """What has a row of weights."""
        return list(map(str, getattr(self.model, "nodes_", self.model.classes_)))

    def weights(self, top: int) -> list[tuple[str, str, float]]:
        rows = dict(zip(self.row_names(), self.model.coef_, strict=True))
        return strongest(rows, self.columns, top)


class ClassFindings(RowFindings):
    """One label per sample."""

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        self.truth = list(map(str, _listed(test.y)))

    def summary(self, outputs: Any) -> Any:
        if not hasattr(self.model, "taxonomy_"):
            return class_report(self.truth, self._texts(outputs))
        tree = self.model.taxonomy_with(_listed(self.test.y))
        return class_scores(tree, _listed(self.test.y), _listed(outputs))

    def measures(self, outputs: Any) -> list[Measure]:
        pairs = list(zip(self.truth, self._texts(outputs), strict=True))
        found = [share("accuracy", [a == b for a, b in pairs])]
        labels = sorted({*self.truth, *map(str, self.model.classes_)})
        if len(labels) <= MOST:
            number = {label: k for k, label in enumerate(labels)}
            a, b = (np.array([number[p[side]] for p in pairs]) for side in (0, 1))
            marks = np.arange(len(labels))
            there, other = a[:, None] == marks, b[:, None] == marks
            table = np.stack([there, other, there & other], axis=2).astype(float)
            flat = table.reshape(len(pairs), -1)
            about = "mean over classes"
            found.append(Measure("macro F1", flat, _macro_f1, about=about))
        return found

    def errors(self, outputs: Any) -> list[list[Kind]]:
        pairs = zip(self.truth, self._texts(outputs), strict=True)
        return [[Kind(a, b)] if a != b else [] for a, b in pairs]

    def weight(self, outputs: Any, errors: Sequence[list[Kind]]) -> Sequence[float]:
        """By margin where there is one score per class: sure errors are the worst."""
        wrong = np.array([len(found) for found in errors], float)
        scores = np.asarray(self.model.decision_function(self.test.X), float)
        if scores.ndim == 1:
            scores = np.stack([-scores, scores], axis=1)
        if scores.shape[1] < 2:
            return wrong.tolist()
        best = np.sort(scores, axis=1)
        sure = best[:, -1] - best[:, -2]
        return np.where(wrong > 0, 1.0 + sure, -sure).tolist()

    def right(self, outputs: Any) -> dict[str, int]:
        pairs = zip(self.truth, self._texts(outputs), strict=True)
        return dict(Counter(a for a, b in pairs if a == b))

    def draw_other(self, i: int, outputs: Any) -> Markup:
        truth, found = self.truth[i], str(_listed(outputs)[i])
        cls = "good-text" if truth == found else "bad-text"
        parts = [named("predicted", element("span", found, cls=cls))]
        if truth != found:
            parts.append(named("truth", truth))
        return element("div", *parts)

    def chances(self, outputs: Any, few: Any) -> Any:
        if not hasattr(self.model, "predict_proba"):
            return None
        table = self.model.predict_proba(chosen(self.test.X, few))
        right = [self.truth[i] == str(_listed(outputs)[i]) for i in few]
        return np.asarray(table).max(axis=1), right

    def _texts(self, outputs: Any) -> list[str]:
        return list(map(str, _listed(outputs)))


class SetFindings(RowFindings):
    """A set of labels per sample."""

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        self.truth = self.sets(test.y)

    def sets(self, y: Any) -> list[set[str]]:
        """Sets of labels as texts, from what y or predictions are."""
        return [set(map(str, self._closed(z))) for z in self.model._as_sets(y)]

    def _closed(self, labels: Collection) -> set:
        tree = self.model.taxonomy_
        return tree.closure(z for z in labels if z in tree) | set(labels)

    def summary(self, outputs: Any) -> Any:
        truth = self.model._as_sets(self.test.y)
        tree = self.model.taxonomy_with(set().union(*truth))
        return node_set_scores(tree, truth, self.model._as_sets(outputs))

    def measures(self, outputs: Any) -> list[Measure]:
        pairs = list(zip(self.truth, self.sets(outputs), strict=True))
        rows = [(len(a), len(b), len(a & b)) for a, b in pairs]
        each = [2 * c / (a + b) if a + b else 1.0 for a, b, c in rows]
        return [
            f1("micro F1", rows, about="over all labels"),
            share("F1 of samples", each),
            share("whole sets right", [a == b for a, b in pairs]),
        ]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        pairs = zip(self.truth, self.sets(outputs), strict=True)
        return [
            [
                *(Kind(z, "") for z in sorted(a - b)),
                *(Kind("", z) for z in sorted(b - a)),
            ]
            for a, b in pairs
        ]

    def draw_other(self, i: int, outputs: Any) -> Markup:
        (found,) = self.sets(outputs[i : i + 1])
        truth, parts = self.truth[i], list[Markup | str]()
        for title, labels, cls in (
            ("right", truth & found, "good-text"),
            ("missed", truth - found, "bad-text"),
            ("invented", found - truth, "bad-text"),
        ):
            if labels:
                chips = (element("span", z, cls=f"chip {cls}") for z in sorted(labels))
                parts.append(named(title, *chips))
        return element("div", *(parts or ["no label, as in truth"]))


def FINDINGS(model: Any, test: Test) -> RowFindings:
    """By what y is."""
    sets = bool(getattr(model, "multilabel", False))
    return SetFindings(model, test) if sets else ClassFindings(model, test)


def _listed(values: Any) -> list:
    return np.ravel(values).tolist() if hasattr(values, "shape") else list(values)


def _macro_f1(sums: np.ndarray) -> np.ndarray:
    """The mean of F1 over the classes that occur."""
    table = sums.reshape(*sums.shape[:-1], -1, 3)
    there = (table[..., 0] + table[..., 1]) > 0
    return (f1_of(table) * there).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1)
