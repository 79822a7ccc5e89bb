"""Looking into fitted models: pictures of training, weights and predictions."""

from maxmargin.inspect.page import tagged_page
from maxmargin.inspect.plots import plot_convergence, plot_predictions
from maxmargin.inspect.sequence_plots import (
    feature_table,
    plot_confusion,
    plot_top_features,
    plot_transitions,
    top_features,
    transition_table,
)
from maxmargin.inspect.tree_plots import plot_tree, plot_tree_errors

__all__ = [
    "feature_table",
    "plot_confusion",
    "plot_convergence",
    "plot_predictions",
    "plot_top_features",
    "plot_transitions",
    "plot_tree",
    "plot_tree_errors",
    "tagged_page",
    "top_features",
    "transition_table",
]
