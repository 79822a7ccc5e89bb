"""Scorers of word alignments; none draws an interval."""

from __future__ import annotations

from maxmargin.metrics.scorer import Scorer

LINKS, ALONE = ("AlignmentScores",), {"bootstrap": 0}

aer = Scorer("aer", "AER", "aer", LINKS, smaller=True, options=ALONE)
link_precision = Scorer(
    "link_precision", "link precision", "precision", LINKS, options=ALONE
)
link_recall = Scorer("link_recall", "link recall", "recall", LINKS, options=ALONE)
