"""How good predictions are: scores of all families, bootstrap intervals."""

from maxmargin.families import lazily, places

_WHERE = {
    "Counts": "maxmargin.metrics.labels",
    "LossReport": "maxmargin.metrics.losses",
    "Report": "maxmargin.metrics.report",
    "confusion": "maxmargin.metrics.labels",
    **places("metrics"),
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily(__name__, _WHERE)
