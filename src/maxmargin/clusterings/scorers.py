"""Scorers of clusters of mentions."""

from maxmargin.metrics.scorer import Scorer

CLUSTERS = ("ClusterReport",)

b_cubed_f1 = Scorer("b_cubed_f1", "B-cubed F1", "b_cubed.f1", CLUSTERS)
"""B-cubed F1 of predictions, in `ClusterReport`."""
ceaf_e_f1 = Scorer("ceaf_e_f1", "CEAF F1", "ceaf_e.f1", CLUSTERS)
"""CEAF F1 of predictions, in `ClusterReport`."""
conll_f1 = Scorer("conll_f1", "CoNLL F1", "conll", CLUSTERS)
"""CoNLL F1 of predictions, in `ClusterReport`."""
mitre_loss = Scorer("mitre_loss", "MITRE loss", "mitre_loss", CLUSTERS, smaller=True)
"""MITRE loss of predictions, in `ClusterReport`; negative, as smaller is better."""
muc_f1 = Scorer("muc_f1", "MUC F1", "muc.f1", CLUSTERS)
"""MUC F1 of predictions, in `ClusterReport`."""
pair_loss = Scorer("pair_loss", "pair loss", "pair_loss", CLUSTERS, smaller=True)
"""Pair loss of predictions, in `ClusterReport`; negative, as smaller is better."""
