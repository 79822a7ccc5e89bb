"""The choice of a width: errors on samples that are held out."""

from __future__ import annotations

import numbers

import numpy as np
from sklearn.base import clone

HELD_OUT = 5  # one sample in so many


def held_out_errors(model, X, y, label, weights) -> dict[int, float]:
    """By width, the share of errors: the same samples are left out for every one.

    Of motifs alone: a composition that tells as much would make all widths look alike.
    """
    seed = model.random_state
    seed = seed if isinstance(seed, numbers.Integral) else 0
    out = np.zeros(len(X), bool)
    for kind in (0, 1):
        members = np.random.default_rng(seed).permutation(np.flatnonzero(label == kind))
        out[members[: max(len(members) // HELD_OUT, 1)]] = True
    rest, held = np.flatnonzero(~out), np.flatnonzero(out)
    if len(np.unique(label[rest])) < 2 or not weights[held].any():
        raise ValueError(
            "width lists several, but there are too few samples to hold some out: "
            "give two of each label at least, or one width."
        )
    few = [X[i] for i in rest], y[rest], weights[rest]
    unseen = [X[i] for i in held], y[held].tolist(), weights[held]
    own = {"positive": y[label == 1][0].item(), "warm_start": False}
    own["composition"] = False
    errors = {}
    for width in dict.fromkeys(model.width):
        fitted = clone(model).set_params(**own, width=width).fit(*few)
        errors[int(width)] = 1.0 - fitted.score(*unseen)
    return errors
