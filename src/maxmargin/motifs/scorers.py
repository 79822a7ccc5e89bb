"""Scorers of sequences with and without a motif."""

from maxmargin.metrics.scorer import Scorer

MOTIFS = ("MotifReport",)

motif_accuracy = Scorer("motif_accuracy", "accuracy", "accuracy", MOTIFS)
"""Accuracy of predictions, in `MotifReport`."""
motif_f1 = Scorer("motif_f1", "F1", "f1", MOTIFS)
"""F1 of predictions, in `MotifReport`."""
motif_precision = Scorer("motif_precision", "precision", "precision", MOTIFS)
"""Precision of predictions, in `MotifReport`."""
motif_recall = Scorer("motif_recall", "recall", "recall", MOTIFS)
"""Recall of predictions, in `MotifReport`."""
