"""Scorers of reports that several families give."""

from __future__ import annotations

from maxmargin.metrics.scorer import Scorer

CLASSES = "ClassReport", "TaxonomyReport"

accuracy = Scorer("accuracy", "accuracy", "accuracy", (*CLASSES, "NodeSetReport"))
loss = Scorer("loss", "loss", "loss", ("LossReport",), smaller=True)
macro_f1 = Scorer(
    "macro_f1", "macro F1", "macro_f1", (*CLASSES, "NodeSetReport", "MultilabelReport")
)
micro_f1 = Scorer(
    "micro_f1", "micro F1", "micro_f1", ("NodeSetReport", "MultilabelReport")
)
