"""Scorers of classes in a taxonomy: how far off predictions are."""

from __future__ import annotations

from maxmargin.metrics.scorer import Scorer

TREES = ("TaxonomyReport",)

tree_distance = Scorer(
    "tree_distance", "tree distance", "tree_distance", TREES, smaller=True
)
tree_loss = Scorer("tree_loss", "tree loss", "tree_height", TREES, smaller=True)
