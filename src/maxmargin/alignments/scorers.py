"""Scorers of alignments, and of the search for homologs."""

from __future__ import annotations

from maxmargin.metrics.scorer import Scorer

PAIRS, HOMOLOGS = ("AlignmentReport",), ("HomologReport",)

alignment_precision = Scorer("alignment_precision", "f_M", "overall.f_m.mean", PAIRS)
alignment_q = Scorer("alignment_q", "Q", "overall.q.mean", PAIRS)
alignment_q4 = Scorer(
    "alignment_q4", "Q4", "overall.q_shift.mean", PAIRS, options={"shift": 4}
)
homolog_rank = Scorer("homolog_rank", "MRR", "mean_reciprocal_rank", HOMOLOGS)
homologs_found = Scorer("homologs_found", "homologs found", "found", HOMOLOGS)
