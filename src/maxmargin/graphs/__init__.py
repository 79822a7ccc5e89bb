"""Graphs: Markov random fields over any graph, with a label for every node."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"GraphLabeler": "estimator", "grid_graph": "grids"},
    models=("GraphLabeler.v1",),
    warmups={"graph": "warmup", "graph-wide": "warmup"},
    metrics={"GraphReport": "metrics", "graph_scores": "metrics"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
