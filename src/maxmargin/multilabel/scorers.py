"""Scorers of sets of labels."""

from maxmargin.metrics.scorer import Scorer

SETS = ("MultilabelReport",)

hamming_loss = Scorer("hamming_loss", "Hamming loss", "hamming", SETS, smaller=True)
"""Hamming loss of predictions, in `MultilabelReport`; negative, as smaller is
better.
"""
jaccard = Scorer("jaccard", "Jaccard", "jaccard", SETS)
"""Jaccard of predictions, in `MultilabelReport`."""
ranking_loss = Scorer("ranking_loss", "ranking loss", "ranking", SETS, smaller=True)
"""Ranking loss of predictions, in `MultilabelReport`; negative, as smaller is
better.
"""
sample_f1 = Scorer("sample_f1", "F1", "f1", SETS)
"""F1 of predictions, in `MultilabelReport`."""
subset_accuracy = Scorer("subset_accuracy", "whole sets right", "subset", SETS)
"""Whole sets right of predictions, in `MultilabelReport`."""
