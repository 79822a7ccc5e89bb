"""Dependency trees: the head of every word of a sentence, and the label of the arc."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"DependencyParser": "estimator"},
    models=("DependencyParser.v1",),
    commands={"depend": "command"},
    warmups={"depend": "warmup"},
    files={"read_dependencies": "conll", "write_dependencies": "conll"},
    metrics={"DependencyReport": "metrics", "attachment_scores": "metrics"},
    plots={"plot_dependencies": "plots"},
    scorers={
        "attachment_score": "scorers",
        "labelled_attachment_score": "scorers",
        "plain_attachment_score": "scorers",
    },
    views={"dependencies": "view"},
    explains={"DependencyParser": "explaining"},
    reports={"DependencyParser": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
