"""Matchings: links between the words of two sentences."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"WordAligner": "word_aligner"},
    models=("WordAligner.v1",),
    commands={"match": "command"},
    warmups={"match": "warmup"},
    files={
        "read_aligned": "bitext",
        "read_bitext": "bitext",
        "read_naacl": "bitext",
        "read_pharaoh": "bitext",
        "write_aligned": "bitext",
        "write_pharaoh": "bitext",
    },
    metrics={"AlignmentScores": "metrics", "alignment_scores": "metrics"},
    plots={"plot_links": "plots"},
    scorers={
        "aer": "scorers",
        "link_precision": "scorers",
        "link_recall": "scorers",
    },
    views={"links": "view"},
    explains={"WordAligner": "explaining"},
    reports={"WordAligner": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
