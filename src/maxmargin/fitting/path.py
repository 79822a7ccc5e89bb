"""Fits on the same data, for values of a parameter, each started from the last."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from maxmargin.core.encoded import Encoded, masses
from maxmargin.core.jobs import at_most
from maxmargin.engine.interrupts import INTERRUPTED
from maxmargin.fitting.fit import Settings, check_C, installed, settings_of, train
from maxmargin.fitting.held_out import tried
from maxmargin.solvers.checkpoints.checkpoint import kept, path_places
from maxmargin.waiting import stage, watched


def path(model, X, y, sample_weight, values, dev=None, name: str = "C") -> list:
    """One fitted model per value of a parameter; those after Ctrl-C are left out.

    Whether held-out data ``dev`` can be used is tried before training.
    """
    try:
        values = list(values)
    except TypeError:
        what = "Cs" if name == "C" else name
        raise ValueError(
            f"{what}={values!r} is not possible: give a list of values of {name}, also "
            "for one."
        ) from None
    if name == "C":
        for C in values:
            check_C(model, C, X)
        values = [float(C) for C in values]
    together = model._machines is not None
    if together and model.checkpoint is not None:
        raise ValueError(
            f"path of a {type(model).__name__} keeps no checkpoints: fit one model for "
            "each value, each with a folder of its own."
        )
    own = settings_of(model) if together else None
    models = [clone(model).set_params(**{name: value}) for value in values]
    settings = [each._settings() for each in models]
    places = path_places([each.limits.checkpoint for each in settings], values)
    settings = [
        replace(each, limits=replace(each.limits, checkpoint=place))
        for each, place in zip(settings, places, strict=True)
    ]
    with at_most(model._blas_threads()), kept(*places):
        encoder = model
        if models and not together:
            encoder = models[int(np.argmax(values))]  # of most precision
        with watched(model.verbose == 1), stage("encoding"):
            encoded = encoder._encode(X, y, sample_weight)
        if not models:
            return []
        if dev is not None:
            tried(encoder, encoded, dev)
        if together:
            with closing(model._machines(encoded, own, name, values)) as found:
                fitted = _until_interrupted(
                    (i, installed(models[i], encoded, one)) for i, one in found
                )
        else:
            fits = _one_by_one(models, encoded, values, settings)
            fitted = _until_interrupted(fits)
    return [models[position] for position in sorted(fitted)]


def _until_interrupted(fits: Iterator[tuple[int, str]]) -> list[int]:
    """The positions of the models that were fitted before Ctrl-C."""
    fitted = []
    try:
        for position, status in fits:
            fitted.append(position)
            if status == INTERRUPTED:
                break
    except KeyboardInterrupt:  # before there is anything to keep of this one
        if not fitted:
            raise
    return fitted


def _one_by_one(
    models: list, encoded: Encoded, Cs: list[float], settings: list[Settings]
) -> Iterator[tuple[int, str]]:
    """Train one model per C: (its position, how its training ended)."""
    for C in Cs:
        masses(C, encoded.weights)
    state = None
    for position in np.argsort(Cs, kind="stable").tolist():
        model = models[position]
        status = train(model, encoded, settings[position], state, keep=True)
        state = getattr(model, "_dual_state", None)
        if state is not None and not settings[position].warm_start:
            del model._dual_state
        yield position, status
