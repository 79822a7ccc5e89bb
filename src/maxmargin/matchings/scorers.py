"""Scorers of word alignments; none draws an interval."""

from maxmargin.metrics.scorer import Scorer

LINKS, ALONE = ("AlignmentScores",), {"bootstrap": 0}

aer = Scorer("aer", "AER", "aer", LINKS, smaller=True, options=ALONE)
"""AER of predictions, in `AlignmentScores`; negative, as smaller is better."""
link_precision = Scorer(
    "link_precision", "link precision", "precision", LINKS, options=ALONE
)
"""Link precision of predictions, in `AlignmentScores`."""
link_recall = Scorer("link_recall", "link recall", "recall", LINKS, options=ALONE)
"""Link recall of predictions, in `AlignmentScores`."""
