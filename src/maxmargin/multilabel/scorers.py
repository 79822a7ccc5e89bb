"""Scorers of sets of labels."""

from __future__ import annotations

from maxmargin.metrics.scorer import Scorer

SETS = ("MultilabelReport",)

hamming_loss = Scorer("hamming_loss", "Hamming loss", "hamming", SETS, smaller=True)
jaccard = Scorer("jaccard", "Jaccard", "jaccard", SETS)
ranking_loss = Scorer("ranking_loss", "ranking loss", "ranking", SETS, smaller=True)
sample_f1 = Scorer("sample_f1", "F1", "f1", SETS)
subset_accuracy = Scorer("subset_accuracy", "whole sets right", "subset", SETS)
