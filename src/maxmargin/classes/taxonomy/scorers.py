"""Scorers of classes in a taxonomy: how far off predictions are."""

from maxmargin.metrics.scorer import Scorer

TREES = ("TaxonomyReport",)

tree_distance = Scorer(
    "tree_distance", "tree distance", "tree_distance", TREES, smaller=True
)
"""Tree distance of predictions, in `TaxonomyReport`; negative, as smaller is better."""
tree_loss = Scorer("tree_loss", "tree loss", "tree_height", TREES, smaller=True)
"""Tree loss of predictions, in `TaxonomyReport`; negative, as smaller is better."""
