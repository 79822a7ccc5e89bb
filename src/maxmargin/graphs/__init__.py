"""Graphs: Markov random fields over any graph, with a label for every node."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"GraphLabeler": "estimator", "grid_graph": "grids"},
    models=("GraphLabeler.v1",),
    commands={"graph": "command"},
    warmups={"graph": "warmup", "graph-wide": "warmup"},
    files={
        "read_graph_file": "graph_file",
        "read_networkx": "networks",
        "write_graph_file": "graph_file",
    },
    metrics={"GraphReport": "metrics", "graph_scores": "metrics"},
    plots={
        "plot_edge_weights": "edge_plots",
        "plot_fractional": "plots",
        "plot_segmentation": "plots",
    },
    scorers={
        "graph_accuracy": "scorers",
        "mean_iou": "scorers",
        "node_accuracy": "scorers",
    },
    views={"graph": "view"},
    explains={"GraphLabeler": "explaining"},
    reports={"GraphLabeler": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
