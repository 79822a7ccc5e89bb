"""Sets of labels: any number of labels for each input."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"MultilabelSVM": "estimator"},
    models=("MultilabelSVM.v1",),
    commands={"multilabel": "command"},
    warmups={"multilabel": "warmup"},
    metrics={"MultilabelReport": "metrics", "multilabel_scores": "metrics"},
    plots={"plot_label_scores": "plots"},
    scorers={
        "hamming_loss": "scorers",
        "jaccard": "scorers",
        "ranking_loss": "scorers",
        "sample_f1": "scorers",
        "subset_accuracy": "scorers",
    },
    explains={"MultilabelSVM": "explaining"},
    reports={"MultilabelSVM": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
