"""Samples of which nothing is known: their weight (``core/partial.py`` has the rest)."""

from __future__ import annotations

import numpy as np

from maxmargin.fitting.parameters import UNLABELLED


def weigh(model, weights, labelled) -> np.ndarray:
    """Sample weights, times ``unlabelled_weight`` where nothing is known."""
    labelled = np.asarray(labelled, bool)
    if not (labelled & (weights > 0)).any():
        raise ValueError(
            "y holds no known label of a sample with a weight: at least one sample must "
            "have some."
        )
    share = float(getattr(model, "unlabelled_weight", UNLABELLED))
    return np.where(labelled, weights, share * weights)


def split_known(y):
    """(y with some known label in place of None, which ones were known); or (y, None)."""
    if isinstance(y, (list, tuple)):
        labels = list(y)
    else:
        labels = np.asarray(y)
        if labels.ndim != 1 or labels.dtype != object:
            return y, None
        labels = labels.tolist()
    known = np.array([label is not None for label in labels], bool)
    if known.all():
        return y, None
    if not known.any():
        raise ValueError("y holds no known label: at least one sample must have one.")
    example = labels[int(known.argmax())]
    return [example if label is None else label for label in labels], known
