"""Inputs and outputs as they look in a notebook: HTML and SVG of our own, no scripts.

Every function returns a :class:`View`. A notebook shows it as the last value of a cell; its
``save(path)`` writes a page. Nothing is asked of any other host, and all text is escaped.
"""

from maxmargin.families import lazily, places

_WHERE = {
    "View": "maxmargin.views.view",
    "weights": "maxmargin.explain.weights",
    **places("views"),
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily(__name__, _WHERE)
