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
    plots={"plot_tree": "plots", "plot_tree_errors": "plots"},
    reports={"GrammarParser": "findings", "PCFGParser": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
