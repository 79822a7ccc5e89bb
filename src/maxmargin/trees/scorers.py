"""Scorers of trees."""

from __future__ import annotations

from maxmargin.metrics.scorer import Scorer

TREES = ("BracketReport",)

bracket_f1 = Scorer("bracket_f1", "bracket F1", "f1", TREES)
bracket_precision = Scorer("bracket_precision", "bracket precision", "precision", TREES)
bracket_recall = Scorer("bracket_recall", "bracket recall", "recall", TREES)
tagging_accuracy = Scorer(
    "tagging_accuracy", "tagging accuracy", "tagging_accuracy", TREES
)
tree_exact_match = Scorer("tree_exact_match", "exact match", "exact_match", TREES)
