"""Weighted hypergraphs: any dynamic programme, and the door for one in Python."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={
        "DynamicProgram": "program",
        "Hypergraph": "graph",
        "HypergraphBuilder": "builder",
    },
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
