"""Scorers of alignments, and of the search for homologs."""

from maxmargin.metrics.scorer import Scorer

PAIRS, HOMOLOGS = ("AlignmentReport",), ("HomologReport",)

alignment_precision = Scorer("alignment_precision", "f_M", "overall.f_m.mean", PAIRS)
"""F_M of predictions, in `AlignmentReport`."""
alignment_q = Scorer("alignment_q", "Q", "overall.q.mean", PAIRS)
"""Q of predictions, in `AlignmentReport`."""
alignment_q4 = Scorer(
    "alignment_q4", "Q4", "overall.q_shift.mean", PAIRS, options={"shift": 4}
)
"""Q4 of predictions, in `AlignmentReport`."""
homolog_rank = Scorer("homolog_rank", "MRR", "mean_reciprocal_rank", HOMOLOGS)
"""MRR of predictions, in `HomologReport`."""
homologs_found = Scorer("homologs_found", "homologs found", "found", HOMOLOGS)
"""Homologs found of predictions, in `HomologReport`."""
