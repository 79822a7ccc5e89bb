"""Scorers of sequences with and without a motif."""

from __future__ import annotations

from maxmargin.metrics.scorer import Scorer

MOTIFS = ("MotifReport",)

motif_accuracy = Scorer("motif_accuracy", "accuracy", "accuracy", MOTIFS)
motif_f1 = Scorer("motif_f1", "F1", "f1", MOTIFS)
motif_precision = Scorer("motif_precision", "precision", "precision", MOTIFS)
motif_recall = Scorer("motif_recall", "recall", "recall", MOTIFS)
