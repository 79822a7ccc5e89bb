"""Probabilities of classes, from their scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.fitting.calibration import calibrated, temperature_of


def class_probabilities(model: Any, scores: np.ndarray) -> np.ndarray:
    """exp(score / T) / Z of every class."""
    scores = scores / temperature_of(model)
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def has_probabilities(model: Any) -> bool:
    """Whether ``predict_proba`` is there; AttributeError says what is missing."""
    if model.objective == "log" or calibrated(model):
        return True
    raise AttributeError(
        "margins are no probabilities: calibrate the model with held-out data, as in "
        "calibrate(X_held_out, y_held_out), or train with objective='log' if it has that."
    )
