"""Constituency trees: objects, treebanks, grammars, parsers."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={
        "Grammar": "grammar.grammar",
        "GrammarParser": "parser",
        "PCFGParser": "pcfg",
        "Tree": "tree",
    },
    models=("GrammarParser.v1", "PCFGParser.v1"),
    commands={"parse": "command"},
    warmups={"parse": "warmup"},
    files={
        "iter_trees": "treebank",
        "read_trees": "treebank",
        "write_trees": "treebank",
    },
    metrics={"BracketReport": "report", "score_brackets": "metrics"},
    plots={"plot_tree": "plots", "plot_tree_errors": "plots"},
    scorers={
        "bracket_f1": "scorers",
        "bracket_precision": "scorers",
        "bracket_recall": "scorers",
        "tagging_accuracy": "scorers",
        "tree_exact_match": "scorers",
    },
    views={"tree": "view"},
    explains={"GrammarParser": "explaining", "PCFGParser": "explaining"},
    reports={"GrammarParser": "findings", "PCFGParser": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
