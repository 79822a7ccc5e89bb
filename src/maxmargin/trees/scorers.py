"""Scorers of trees."""

from maxmargin.metrics.scorer import Scorer

TREES = ("BracketReport",)

bracket_f1 = Scorer("bracket_f1", "bracket F1", "f1", TREES)
"""Bracket F1 of predictions, in `BracketReport`."""
bracket_precision = Scorer("bracket_precision", "bracket precision", "precision", TREES)
"""Bracket precision of predictions, in `BracketReport`."""
bracket_recall = Scorer("bracket_recall", "bracket recall", "recall", TREES)
"""Bracket recall of predictions, in `BracketReport`."""
tagging_accuracy = Scorer(
    "tagging_accuracy", "tagging accuracy", "tagging_accuracy", TREES
)
"""Tagging accuracy of predictions, in `BracketReport`."""
tree_exact_match = Scorer("tree_exact_match", "exact match", "exact_match", TREES)
"""Exact match of predictions, in `BracketReport`."""
