"""Probabilities of classes, from their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from maxmargin.fitting.calibration import (
    Chances,
    calibrated,
    of_table,
    temperature_of,
    top_two,
)


def has_probabilities(model: Any) -> bool:
    """Whether ``predict_proba`` is there; AttributeError says what is missing."""
    if model.objective == "log" or calibrated(model):
        return True
    raise AttributeError(
        "margins are no probabilities: calibrate the model with held-out data, as in "
        "calibrate(X_held_out, y_held_out), or train with objective='log' if it has that."
    )


class ClassProbabilities:
    """Of estimators whose ``_scores`` are those of ``classes_``."""

    classes_: np.ndarray

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities (samples, classes), of objective="log" or after calibrate()."""
        scores = self._scores(X) / temperature_of(self)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def _scores(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def _chances(self, X: Any, y: Any, predicted: Any) -> Chances:
        truth = column_or_1d(y).tolist()
        return of_table(self.predict_proba(X), self.classes_.tolist(), truth, predicted)

    def _margins(self, X: Any) -> np.ndarray:
        return top_two(self._scores(X))
