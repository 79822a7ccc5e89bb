"""Looking into fitted models: pictures, pages and tables of all families."""

from maxmargin.families import lazily, places

_WHERE = {
    "plot_confusion": "maxmargin.plots.confusion",
    "plot_convergence": "maxmargin.plots.convergence",
    "plot_predictions": "maxmargin.plots.training",
    "plot_weights": "maxmargin.plots.weights",
    "weights_frame": "maxmargin.explain.weights",
    **places("plots"),
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily(__name__, _WHERE)
