"""Looking into fitted models: pictures of training, weights and predictions."""

from maxmargin.inspect.plots import (
    plot_convergence,
    plot_predictions,
    plot_transitions,
)

__all__ = ["plot_convergence", "plot_predictions", "plot_transitions"]
