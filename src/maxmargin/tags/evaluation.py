"""What all taggers know of their predictions, however these are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.core.encoded import check_weights
from maxmargin.core.listed import given_or
from maxmargin.tags.input import (
    check_known,
    check_matching,
    check_samples,
)
from maxmargin.tags.metrics import SpanReport, TokenReport, scores
from maxmargin.tags.view import tags
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class TagEvaluation(Shown):
    """Scores of what ``predict`` returns; tables of ``predict_marginals`` by label."""

    _view = staticmethod(tags)
    classes_: np.ndarray

    if TYPE_CHECKING:

        def predict_marginals(self, X: Any) -> list[np.ndarray]: ...

    def score(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Share of labels predicted right."""
        X, y = check_samples(X, y)
        check_known(y)
        weights = check_weights(sample_weight, len(y))
        predicted = self.predict(X)
        check_matching(np.cumsum([0, *map(len, predicted)]), y)
        right = total = 0.0
        for weight, truth, found in zip(weights, y, predicted, strict=True):
            right += weight * sum(a == b for a, b in zip(truth, found, strict=True))
            total += weight * len(truth)
        return right / total if total else 1.0

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        scheme: str | None = "auto",
        predicted: Any = None,
    ) -> SpanReport | TokenReport:
        """Scores of spans if the labels are written in a tagging scheme, else of labels.

        A ``scheme`` insists on spans, None on labels. ``predicted`` is what
        ``predict(X)`` has returned, if that is known already.
        """
        if predicted is None:
            X, y = check_samples(X, y)
        return scores(y, given_or(predicted, lambda: self.predict(X)), scheme)

    def predict_single(self, x: Any) -> list[Any]:
        """The best label sequence of one input."""
        return self.predict([x])[0]

    def predict_marginals_single(self, x: Any) -> list[dict[Any, float]]:
        """Per token {label: probability}; see ``predict_marginals``."""
        (table,) = self.predict_marginals([x])
        labels = self.classes_.tolist()
        return [dict(zip(labels, row, strict=True)) for row in table.tolist()]
