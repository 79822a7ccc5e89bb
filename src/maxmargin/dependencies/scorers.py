"""Scorers of dependency trees."""

from maxmargin.metrics.scorer import Scorer

TREES = ("DependencyReport",)

attachment_score = Scorer("attachment_score", "UAS", "uas", TREES)
"""Words with the true head, in `DependencyReport`."""
labelled_attachment_score = Scorer("labelled_attachment_score", "LAS", "las", TREES)
"""Words with the true head and label, in `DependencyReport`."""
plain_attachment_score = Scorer(
    "plain_attachment_score", "UAS without punctuation", "plain_uas", TREES
)
"""Words that are no punctuation with the true head, in `DependencyReport`."""
