"""Clusterings: groups of the mentions in a document, found by links between pairs."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={
        "LinkClusterer": "estimator",
        "Mention": "documents",
        "MentionDocument": "documents",
    },
    models=("LinkClusterer.v1",),
    commands={"cluster": "command"},
    warmups={"cluster": "warmup"},
    files={
        "read_conll2012": "conll",
        "write_conll2012": "conll",
        "read_mentions": "json_lines",
        "write_mentions": "json_lines",
    },
    metrics={"ClusterReport": "metrics", "cluster_scores": "metrics"},
    plots={"plot_clusters": "plots"},
    scorers={
        "b_cubed_f1": "scorers",
        "ceaf_e_f1": "scorers",
        "conll_f1": "scorers",
        "mitre_loss": "scorers",
        "muc_f1": "scorers",
        "pair_loss": "scorers",
    },
    views={"clusters": "view"},
    explains={"LinkClusterer": "explaining"},
    reports={"LinkClusterer": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
