"""Label sequences: a label for every token."""

from maxmargin.families import Family, lazily
from maxmargin.tags.formats import public

FAMILY = Family(
    __name__,
    public={"HMMTagger": "hmm", "SequenceTagger": "tagger", "TagCorpus": "corpus"},
    models=("HMMTagger.v1", "SequenceTagger.v1"),
    commands={"tag": "command"},
    warmups={"tag": "warmup", "tag-arrays": "warmup"},
    files={
        **public(),
        "Column": "files.columns",
        "Columns": "files.columns",
        "annotate_docs": "files.docs",
        "DigitStrings": "digits",
        "columns_from": "files.columns",
        "digit_strings": "digits",
        "frame_column": "files.frames",
        "read_columns": "files.reader",
        "read_docs": "files.docs",
        "read_frame": "files.frames",
        "tag_file": "files.writers",
        "write_columns": "files.writers",
    },
    metrics={
        "SpanReport": "metrics",
        "TokenReport": "metrics",
        "scores": "metrics",
        "sequence_accuracy": "metrics",
        "span_scores": "metrics",
        "token_accuracy": "metrics",
        "token_scores": "metrics",
    },
    plots={
        "feature_table": "plots",
        "plot_top_features": "plots",
        "plot_transitions": "plots",
        "tagged_page": "page",
        "top_features": "plots",
        "transition_table": "plots",
    },
    scorers={
        "sequence_accuracy": "scorers",
        "span_f1": "scorers",
        "span_precision": "scorers",
        "span_recall": "scorers",
        "token_accuracy": "scorers",
    },
    views={"tags": "view"},
    explains={"HMMTagger": "explaining", "SequenceTagger": "explaining"},
    reports={"HMMTagger": "findings", "SequenceTagger": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
