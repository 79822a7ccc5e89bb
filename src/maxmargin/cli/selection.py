"""Choosing C, and what else a task lets choose: on another file, or by cross-validation."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from maxmargin.fitting.choosing import Score, best_of, seconds_of
from maxmargin.solvers.checkpoints.checkpoint import Checkpoint, place_of

if TYPE_CHECKING:
    from maxmargin.cli.command import Command, Sample
    from maxmargin.cli.common import Interrupts


def fit(model, sample: Sample, dev: Sample | None = None):
    """Networks end early on the file to evaluate on, if there is one."""
    more = _weights(sample)
    if dev is not None and getattr(model, "_ends_early", False):
        more["dev"] = dev.X, dev.y
    return model.fit(sample.X, sample.y, **more)


def _path(model, sample: Sample, Cs) -> list:
    """One model per C, in the order in which they are trained."""
    models = model.path(sample.X, sample.y, Cs, **_weights(sample))
    return sorted(models, key=lambda model: model.C_)


def _weights(sample: Sample) -> dict[str, Any]:
    return {} if sample.weights is None else {"sample_weight": sample.weights}


def best_on(
    command: Command, model, train, dev, Cs, interrupts: Interrupts, others: list[dict]
):
    """(model, scores): one model per C and each of ``others``, and the best on a file.

    After Ctrl-C, it is chosen among those whose training had begun.
    """
    models: list = []
    scores: list[Score] = []
    try:
        for settings in others:
            began = interrupts.fits_begun
            found = _path(model.set_params(**settings), train, Cs)
            if interrupts.seen:
                found = found[: max(interrupts.fits_begun - began, 1)]
            models += found
            for m in found:
                measures = command.measures(m, dev, command.predict(m, dev))
                scores.append(Score(m.C_, measures, seconds_of(m), settings))
            if interrupts.seen:
                break
    except KeyboardInterrupt:  # chosen among those that were tried
        if not models:
            raise
        if not scores:
            return models[0], scores
    return models[best_of(scores, command.smaller)], scores


def check_folds(folds: int | None, sample: Sample, items: str) -> None:
    if folds is not None and folds > len(sample):
        raise ValueError(
            f"--cv {folds} is not possible: there are {len(sample)} {items}, and folds "
            "must be two at least and not more than these."
        )


def cross_validate(
    command, model, sample: Sample, Cs, folds: int, interrupts, quiet: bool, others
) -> list[Score]:
    """Scores of every C with each of ``others``, on samples left out of training."""
    scores = []
    for settings in others:
        model.set_params(**settings)
        found = _of_folds(command, model, sample, Cs, folds, interrupts, quiet)
        scores += [score._replace(settings=settings) for score in found]
    return scores


def _of_folds(command, model, sample, Cs, folds, interrupts, quiet) -> list[Score]:
    Cs, verbose = sorted(Cs), model.verbose
    model.set_params(verbose=0)
    outputs: dict[float, list[Any]] = {C: [None] * len(sample) for C in Cs}
    seconds = dict.fromkeys(Cs, 0.0)
    for k, (rest, held) in enumerate(_folds(sample, folds, model.random_state or 0), 1):
        began = time.perf_counter()
        models = _path(_of_fold(model, k), sample.select(rest), Cs)
        if interrupts.seen:
            raise KeyboardInterrupt
        test = sample.select(held)
        for C, fitted in zip(Cs, models, strict=True):
            seconds[C] += seconds_of(fitted)
            for i, output in zip(held, command.predict(fitted, test), strict=True):
                outputs[C][i] = output
        if not quiet:
            spent = time.perf_counter() - began
            print(f"fold {k} of {folds}: {spent:.1f} s", file=sys.stderr)
    model.set_params(verbose=verbose)
    last = dict(zip(Cs, models, strict=True))
    return [
        Score(C, command.measures(last[C], sample, outputs[C]), seconds[C]) for C in Cs
    ]


def _of_fold(model, k: int):
    """The model, with a folder of its own for checkpoints if it keeps any."""
    place = place_of(model)
    if place is None:
        return model
    from sklearn.base import clone

    folder = os.path.join(place.folder, f"fold-{k}")
    return clone(model).set_params(checkpoint=Checkpoint(folder, place.every))


def _folds(sample: Sample, folds: int, seed: int):
    """(indices to train on, indices to test on) of every fold; groups stay together."""
    import numpy as np

    groups = sample.groups
    if groups is None or len(set(groups)) < folds:
        groups = list(range(len(sample)))
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    for k in range(folds):
        out = {names[i] for i in order[k::folds]}
        yield (
            [i for i, group in enumerate(groups) if group not in out],
            [i for i, group in enumerate(groups) if group in out],
        )


def table(scores: list[Score], smaller: bool = False) -> str:
    """The scores as text, in per cent."""
    best, names = best_of(scores, smaller), list(scores[0].measures)
    others = list(scores[0].settings)
    lines = ["".join(f"{name:>10}" for name in [*others, "C"])]
    lines[0] += "".join(f"   {name}" for name in names) + "   seconds"
    for k, row in enumerate(scores):
        cells = [f"{100 * row.measures[name]:>{len(name) + 3}.2f}" for name in names]
        mark = "  <- best" if k == best else ""
        tried = "".join(f"{row.settings[name]:>10.4g}" for name in others)
        lines.append(f"{tried}{row.C:>10g}{''.join(cells)}{row.seconds:>10.1f}{mark}")
    return "\n".join(lines)
