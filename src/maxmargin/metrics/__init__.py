"""How good predictions are: tags here, brackets, alignments and others in modules."""

from maxmargin.metrics.tags import (
    Counts,
    SpanReport,
    TokenReport,
    confusion,
    scores,
    sequence_accuracy,
    span_scores,
    token_accuracy,
    token_scores,
)

__all__ = [
    "Counts",
    "SpanReport",
    "TokenReport",
    "confusion",
    "scores",
    "sequence_accuracy",
    "span_scores",
    "token_accuracy",
    "token_scores",
]
