"""Choosing C for a classifier: on a file of its own, or by cross-validation."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from maxmargin.tags.command_choice import Score, best_of, table

if TYPE_CHECKING:
    from maxmargin.classes.command_files import Sample
    from maxmargin.cli.common import Interrupts

__all__ = ["USUAL", "Score", "best_of", "best_on", "cross_validate", "table"]

USUAL = (0.01, 0.1, 1.0, 10.0, 100.0)  # tried if only --cv is given


def best_on(model, train: Sample, dev: Sample, Cs, interrupts: Interrupts):
    """(model, scores): one model per C, and the one that is best on another file."""
    began = interrupts.fits_begun
    models = model.path(train.X, train.y, Cs)
    models.sort(key=lambda model: model.C)  # the order in which they were trained
    if interrupts.seen:
        models = models[: max(interrupts.fits_begun - began, 1)]
    scores = [
        Score(m.C, None, m.score(dev.X, dev.y), m.history_[-1]["seconds"])
        for m in models
    ]
    return models[best_of(scores)], scores


def cross_validate(
    model, sample: Sample, Cs, folds: int, interrupts: Interrupts, quiet: bool
) -> list[Score]:
    """Accuracy of every C on samples that were left out of training, all together."""
    import numpy as np

    if not 2 <= folds <= sample.n:
        raise ValueError(
            f"--cv {folds} is not possible: there are {sample.n} samples, and folds must "
            "be two at least and not more than these."
        )
    Cs = sorted(Cs)
    fold = np.random.default_rng(model.random_state or 0).permutation(sample.n) % folds
    right, seconds = dict.fromkeys(Cs, 0.0), dict.fromkeys(Cs, 0.0)
    for k in range(folds):
        began = time.perf_counter()
        rest = sample.select(np.flatnonzero(fold != k))
        held = sample.select(np.flatnonzero(fold == k))
        models = model.path(rest.X, rest.y, Cs)
        if interrupts.seen:
            raise KeyboardInterrupt
        for C, fitted in zip(Cs, models, strict=True):
            seconds[C] += fitted.history_[-1]["seconds"]
            right[C] += fitted.score(held.X, held.y) * held.n
        if not quiet:
            spent = time.perf_counter() - began
            print(f"fold {k + 1} of {folds}: {spent:.1f} s", file=sys.stderr)
    return [Score(C, None, right[C] / sample.n, seconds[C]) for C in Cs]
