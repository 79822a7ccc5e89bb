"""Probabilities of classes, from their scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from maxmargin.fitting.calibration import (
    Chances,
    calibrated,
    of_table,
    temperature_of,
    top_two,
)
from maxmargin.fitting.held_out import unknown


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
        scores = self._scores(X) / temperature_of(self)
        scores -= scores.max(axis=1, keepdims=True)
        table = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return of_table(table, self.classes_.tolist(), self._truth(y), predicted)

    def _right(self, X: Any, y: Any) -> list[bool]:
        """Whether each prediction is right."""
        found, truth = self.predict(X).tolist(), self._truth(y)  # type: ignore[attr-defined]
        if len(found) != len(truth):
            raise ValueError(
                f"X has {len(found)} samples, but y has {len(truth)}: give one output per "
                "input."
            )
        return [a == b for a, b in zip(found, truth, strict=True)]

    def _truth(self, y: Any) -> list:
        """True classes, in a column or not, as the model writes them; all are known."""
        check_is_fitted(self, "classes_")
        truth, names = column_or_1d(np.asarray(y)).tolist(), self.classes_.tolist()
        for i, label in enumerate(truth):
            if unknown(label):
                raise ValueError(
                    f"y[{i}] is {label!r}, where the truth is not known: leave such "
                    "samples out."
                )
        if _texts(truth) != _texts(names):  # compared as evaluate does
            written = {str(name): name for name in names}
            return [written.get(str(label), label) for label in truth]
        return truth

    def _margins(self, X: Any) -> np.ndarray:
        return top_two(self._scores(X))


def _texts(labels: list) -> bool:
    return any(isinstance(label, str) for label in labels)
