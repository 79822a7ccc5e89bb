"""Scorers of label sequences."""

from maxmargin.metrics.scorer import Scorer

SPANS = ("SpanReport",)
TOKENS = "TokenReport", "SpanReport"

sequence_accuracy = Scorer(
    "sequence_accuracy", "sequence accuracy", "sequence_accuracy", TOKENS
)
"""Sequence accuracy of predictions, in `TokenReport` or `SpanReport`."""
span_f1 = Scorer("span_f1", "span F1", "f1", SPANS)
"""Span F1 of predictions, in `SpanReport`."""
span_precision = Scorer("span_precision", "span precision", "precision", SPANS)
"""Span precision of predictions, in `SpanReport`."""
span_recall = Scorer("span_recall", "span recall", "recall", SPANS)
"""Span recall of predictions, in `SpanReport`."""
token_accuracy = Scorer("token_accuracy", "accuracy", "token_accuracy", TOKENS)
"""Accuracy of predictions, in `TokenReport` or `SpanReport`."""
