"""Motifs: which sequences of DNA have one, and where, found from labels of sequences."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"MotifFinder": "estimator"},
    models=("MotifFinder.v1",),
    commands={"motif": "command"},
    warmups={"motif": "warmup"},
    files={
        "Motif": "formats",
        "read_jaspar": "formats",
        "read_meme": "formats",
        "write_bed": "sites",
        "write_gff": "sites",
        "write_jaspar": "formats",
        "write_meme": "formats",
    },
    metrics={"MotifReport": "metrics", "motif_scores": "metrics"},
    plots={"plot_logo": "plots", "plot_site_scores": "plots"},
    scorers={
        "motif_accuracy": "scorers",
        "motif_f1": "scorers",
        "motif_precision": "scorers",
        "motif_recall": "scorers",
    },
    views={"sites": "view"},
    explains={"MotifFinder": "explaining"},
    reports={"MotifFinder": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
