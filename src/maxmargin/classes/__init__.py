"""Classes: one of several labels, flat or in a taxonomy."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={
        "ClassCorpus": "corpus",
        "MulticlassSVM": "multiclass",
        "Taxonomy": "taxonomy.taxonomy",
        "TaxonomySVM": "taxonomy.estimator",
    },
    models=("MulticlassSVM.v1", "TaxonomySVM.v1"),
    commands={"classify": "command"},
    warmups={"classify": "warmup", "taxonomy": "warmup"},
    files={
        "read_svmlight": "svmlight",
        "read_taxonomy": "taxonomy.file",
        "read_texts": "texts",
    },
    metrics={
        "ClassReport": "report",
        "NodeSetReport": "taxonomy.metrics",
        "TaxonomyReport": "taxonomy.metrics",
        "class_report": "report",
    },
    plots={
        "plot_taxonomy_confusion": "taxonomy.plots",
        "plot_taxonomy_errors": "taxonomy.plots",
    },
    scorers={
        "tree_distance": "taxonomy.scorers",
        "tree_loss": "taxonomy.scorers",
    },
    views={"classes": "view", "taxonomy": "taxonomy.view"},
    explains={"MulticlassSVM": "explaining", "TaxonomySVM": "explaining"},
    reports={"MulticlassSVM": "findings", "TaxonomySVM": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
