"""Which features decided a prediction: what ``model.explain(x)`` returns."""

from maxmargin.families import lazily

_WHERE = {
    "Explanation": "maxmargin.explain.explanation",
    "Part": "maxmargin.explain.explanation",
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily(__name__, _WHERE)
