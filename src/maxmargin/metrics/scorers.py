"""Scorers of reports that several families give."""

from maxmargin.metrics.scorer import Scorer

CLASSES = "ClassReport", "TaxonomyReport"

accuracy = Scorer("accuracy", "accuracy", "accuracy", (*CLASSES, "NodeSetReport"))
"""Accuracy of predictions, in `ClassReport` or `TaxonomyReport` or `NodeSetReport`."""
loss = Scorer("loss", "loss", "loss", ("LossReport",), smaller=True)
"""Loss of predictions, in `LossReport`; negative, as smaller is better."""
macro_f1 = Scorer(
    "macro_f1", "macro F1", "macro_f1", (*CLASSES, "NodeSetReport", "MultilabelReport")
)
"""Macro F1 of predictions, in `ClassReport` or `TaxonomyReport` or `NodeSetReport` or
`MultilabelReport`.
"""
micro_f1 = Scorer(
    "micro_f1", "micro F1", "micro_f1", ("NodeSetReport", "MultilabelReport")
)
"""Micro F1 of predictions, in `NodeSetReport` or `MultilabelReport`."""
