"""Fits of growing C on the same data, each started from the last."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import clone

from maxmargin.core.encoded import Encoded, masses
from maxmargin.core.jobs import at_most
from maxmargin.engine.interrupts import INTERRUPTED
from maxmargin.fitting.fit import Settings, check_C, train
from maxmargin.fitting.held_out import tried
from maxmargin.solvers.checkpoint import kept, path_places
from maxmargin.waiting import stage, watched


def path(model, X, y, sample_weight, Cs, dev=None) -> list:
    """One fitted model per C; those after Ctrl-C are left out.

    Whether held-out data ``dev`` can be used is tried before training.
    """
    try:
        Cs = list(Cs)
    except TypeError:
        raise ValueError(
            f"Cs={Cs!r} is not possible: give a list of values of C, also for one."
        ) from None
    for C in Cs:
        check_C(model, C, X)
    Cs = [float(C) for C in Cs]
    models = [clone(model).set_params(C=C) for C in Cs]
    settings = [each._settings() for each in models]
    places = path_places([each.limits.checkpoint for each in settings], Cs)
    settings = [
        replace(each, limits=replace(each.limits, checkpoint=place))
        for each, place in zip(settings, places, strict=True)
    ]
    with at_most(1), kept(*places):
        encoder = models[int(np.argmax(Cs))] if Cs else model  # of most precision
        with watched(model.verbose == 1), stage("encoding"):
            encoded = encoder._encode(X, y, sample_weight)
        if dev is not None and Cs:
            tried(encoder, encoded, dev)
        fitted = _train(models, encoded, Cs, settings)
    return [models[position] for position in sorted(fitted)]


def _train(
    models: list, encoded: Encoded, Cs: list[float], settings: list[Settings]
) -> list[int]:
    """Train one model per C; the positions of those that were before Ctrl-C."""
    for C in Cs:
        masses(C, encoded.weights)
    state, fitted = None, []
    for position in np.argsort(Cs, kind="stable").tolist():
        model = models[position]
        try:
            status = train(model, encoded, settings[position], state, keep=True)
        except KeyboardInterrupt:  # before there is anything to keep of this one
            if not fitted:
                raise
            break
        fitted.append(position)
        state = getattr(model, "_dual_state", None)
        if state is not None and not settings[position].warm_start:
            del model._dual_state
        if status == INTERRUPTED:
            break
    return fitted
