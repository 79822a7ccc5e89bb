"""Looking into fitted models: pictures of training, weights and predictions."""

from maxmargin.inspect.alignment_export import (
    biopython_aligner,
    biopython_matrix,
    parasail_matrix,
    read_matrix,
    write_matrix,
)
from maxmargin.inspect.alignment_plots import (
    plot_alignment,
    plot_alignment_path,
    plot_substitutions,
)
from maxmargin.inspect.matching_plots import plot_links
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
from maxmargin.inspect.taxonomy_plots import (
    plot_taxonomy_confusion,
    plot_taxonomy_errors,
)
from maxmargin.inspect.tree_plots import plot_tree, plot_tree_errors

__all__ = [
    "biopython_aligner",
    "biopython_matrix",
    "feature_table",
    "parasail_matrix",
    "plot_alignment",
    "plot_alignment_path",
    "plot_confusion",
    "plot_convergence",
    "plot_links",
    "plot_predictions",
    "plot_substitutions",
    "plot_taxonomy_confusion",
    "plot_taxonomy_errors",
    "plot_top_features",
    "plot_transitions",
    "plot_tree",
    "plot_tree_errors",
    "read_matrix",
    "tagged_page",
    "top_features",
    "transition_table",
    "write_matrix",
]
