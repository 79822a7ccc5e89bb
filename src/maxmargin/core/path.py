"""Fits of growing C on the same data, each started from the last."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from maxmargin.core.estimator import Encoded, masses
from maxmargin.core.interrupts import INTERRUPTED


def train_path(
    models: list, encoded: Encoded, Cs: list[float], settings, places, keep: bool
) -> list[int]:
    """Train one model per C; the positions of those that were before Ctrl-C.

    With ``keep``, each has a dual state for later fits.
    """
    for C in Cs:
        masses(C, encoded.weights)
    state, fitted = None, []
    for position in np.argsort(Cs, kind="stable").tolist():
        model, (form, limits, *rest) = models[position], settings[position]
        limits = replace(limits, checkpoint=places[position])
        try:
            status = model._train(encoded, (form, limits, *rest), state, True)
        except KeyboardInterrupt:  # before there is anything to keep of this one
            if not fitted:
                raise
            break
        fitted.append(position)
        state = getattr(model, "_dual_state", None)
        if state is not None and not keep:
            del model._dual_state
        if status == INTERRUPTED:
            break
    return fitted
