"""How good the labels of nodes are: accuracy, and the overlap label by label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.metrics.labels import Counts
from maxmargin.metrics.report import Report


class Overlap(Counts):
    """How much of a label is there in truth, was predicted, and is the same in both.

    Nodes count by their sizes. ``iou`` is intersection over union, 1 where both are empty.
    """

    @property
    def iou(self) -> float:
        union = self.truth + self.predicted - self.correct
        return self.correct / union if union else 1.0

    def as_dict(self) -> dict[str, float]:
        return super().as_dict() | {"iou": self.iou}


@dataclass(frozen=True)
class GraphReport(Report):
    """Scores of labels; ``str()`` is a table. Nodes count by their sizes."""

    n_graphs: int
    n_nodes: int
    correct_graphs: int
    total: float
    correct: float
    labels: dict[Any, Overlap] = field(default_factory=dict)

    @property
    def accuracy(self) -> float:
        """Share of the nodes, by size, whose labels are right; 1 if there is none."""
        return self.correct / self.total if self.total else 1.0

    @property
    def graph_accuracy(self) -> float:
        """Share of the graphs whose labels are all right."""
        return self.correct_graphs / self.n_graphs if self.n_graphs else 1.0

    @property
    def mean_iou(self) -> float:
        """Mean of the labels' intersection over union."""
        each = [overlap.iou for overlap in self.labels.values()]
        return float(np.mean(each)) if each else 1.0

    def as_dict(self) -> dict[str, Any]:
        labels = {str(label): found.as_dict() for label, found in self.labels.items()}
        return {**self._measures(), "labels": labels}

    def _measures(self) -> dict[str, Any]:
        return {
            "accuracy": self.accuracy,
            "graph_accuracy": self.graph_accuracy,
            "mean_iou": self.mean_iou,
            "graphs": self.n_graphs,
            "nodes": self.n_nodes,
        }

    def _parts(self):
        return "label", {label: found.as_dict() for label, found in self.labels.items()}

    def __str__(self) -> str:
        lines = [
            f"{self.n_graphs} graphs, {self.n_nodes} nodes with known labels",
            f"accuracy {self.accuracy:.4f}, graphs all right {self.graph_accuracy:.4f}, "
            f"mean IoU {self.mean_iou:.4f}",
            f"{'label':>12} {'precision':>10} {'recall':>8} {'f1':>8} {'iou':>8}",
        ]
        lines += [
            f"{label!s:>12} {o.precision:10.4f} {o.recall:8.4f} {o.f1:8.4f} {o.iou:8.4f}"
            for label, o in self.labels.items()
        ]
        return "\n".join(lines)


def graph_scores(
    truth: Sequence[Sequence[Any]],
    predicted: Sequence[Sequence[Any]],
    sizes: Sequence[Sequence[float]] | None = None,
) -> GraphReport:
    """Compare labels of nodes, graph by graph; nodes whose truth is None do not count.

    >>> print(graph_scores([["sky", "sea"]], [["sky", "sky"]]).accuracy)
    0.5
    """
    truth, predicted = (
        [np.asarray(row, object).ravel().tolist() for row in rows]
        for rows in (truth, predicted)
    )
    if [len(row) for row in truth] != [len(row) for row in predicted]:
        raise ValueError(
            "truth and predicted differ in their numbers of graphs or of nodes."
        )
    found: dict[Any, list[float]] = {}
    n_nodes = whole = 0
    for i, (row, guess) in enumerate(zip(truth, predicted, strict=True)):
        weights = np.ones(len(row)) if sizes is None else np.asarray(sizes[i], float)
        known = [v for v, label in enumerate(row) if label is not None]
        n_nodes += len(known)
        whole += all(row[v] == guess[v] for v in known)
        for v in known:
            a, b, size = row[v], guess[v], float(weights[v])
            found.setdefault(a, [0.0, 0.0, 0.0])[0] += size
            found.setdefault(b, [0.0, 0.0, 0.0])[1] += size
            found[a][2] += size * (a == b)
    labels = {label: Overlap(*found[label]) for label in sorted(found, key=_order)}  # type: ignore[arg-type]
    total = sum(o.truth for o in labels.values())
    correct = sum(o.correct for o in labels.values())
    return GraphReport(len(truth), n_nodes, whole, total, correct, labels)


def _order(label) -> tuple:
    """Numbers by value, before texts."""
    return isinstance(label, str), label
