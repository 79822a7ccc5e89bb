"""Held-out data in a fit: what may be given as ``dev``, and how good weights are on it."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.core.encoded import C_of, Encoded
from maxmargin.metrics.report import Report
from maxmargin.metrics.scorer import Scorer
from maxmargin.solvers.result import Limits


def check_dev(names: tuple[str, ...], dev: Any) -> tuple:
    """Held-out data as ``evaluate`` takes them, ``names`` of them or two at least."""
    if hasattr(dev, "shards"):  # a corpus on disk, which has its truth
        return (dev,)
    if not isinstance(dev, (tuple, list)) or not 2 <= len(dev) <= len(names):
        wanted = f"dev=({', '.join(f'{name}_dev' for name in names)})"
        raise ValueError(
            f"dev is of type {type(dev).__name__}"
            + (f" with {len(dev)} values" if isinstance(dev, (tuple, list)) else "")
            + f": give held-out inputs and their true outputs, as in {wanted}."
        )
    return check_held_out("dev", names, dev)


def check_held_out(what: str, names: tuple[str, ...], given: Any) -> tuple:
    """Inputs and true outputs that can be gone through more than once."""
    for name, values in zip(names, given, strict=False):
        if isinstance(values, Iterator):
            raise ValueError(
                f"{name} of {what} ({type(values).__name__}) can be read only once, but "
                "held-out data are looked at many times: make a list of it."
            )
    X, y = given[:2]
    if y is None:
        raise ValueError(f"there are no true outputs in {what}: give them as y.")
    if 0 in (_size(X), _size(y)):
        raise ValueError(f"{what} is empty: at least one sample is needed.")
    missing = [i for i, truth in enumerate(y) if truth is None] if _plain(y) else []
    if missing:
        raise ValueError(
            f"y of {what} is None at {missing[0]}, where the truth is not known: leave "
            "such samples out."
        )
    return tuple(given)


def _plain(values: Any) -> bool:
    return isinstance(values, (list, tuple)) or getattr(
        values, "dtype", None
    ) == np.dtype(object)


def _size(values: Any) -> int | None:
    """How many there are, where that can be told."""
    shape = getattr(values, "shape", None)
    if shape:
        return int(shape[0])
    return len(values) if isinstance(values, (list, tuple)) else None


def check_early_stopping(model: Any, limits: Limits) -> None:
    """Refuse what cannot be combined with it, before any work."""
    if limits.checkpoint is not None:
        raise ValueError(
            "dev and checkpoint do not go together: a checkpoint does not keep what "
            "held-out data have said so far. Leave one of them out."
        )
    if math.isinf(C_of(model)):
        raise ValueError(
            "dev cannot stop a hard margin (C=inf), whose weights separate the data at "
            "the end only: choose a finite C, or leave dev out."
        )


def watching(model: Any, encoded: Encoded, limits: Limits, dev: tuple) -> Limits:
    """Limits of a fit that looks at held-out data; these are tried before it begins."""
    score = HeldOutScore(model, encoded, dev)
    try:
        score(np.zeros(encoded.n_weights, encoded.dtype))
    except (ValueError, TypeError) as error:
        raise ValueError(f"dev cannot be used: {error}") from error
    return replace(limits, held_out=score)


class HeldOutScore:
    """How good weights are on held-out data, by the scorer of the family."""

    def __init__(self, model: Any, encoded: Encoded, dev: tuple):
        self.model, self.encoded, self.dev = model, encoded, dev
        self.title, self.smaller = "", False

    def __call__(self, w: np.ndarray) -> float:
        trial = copy.copy(self.model)
        trial.verbose = 0  # a look is no progress of its own
        trial._put(self.encoded, w)
        scorer, report = judged(trial, self.dev)
        self.title, self.smaller = scorer.title, scorer.smaller
        return scorer.value(report)


def judged(model: Any, dev: tuple) -> tuple[Scorer, Report]:
    """A fitted model's report on held-out data, and the scorer that it is chosen by."""
    report = model._evaluated(*dev)
    for scorer in model._scorers:
        if type(report).__name__ in scorer.reports:
            return scorer, report
    raise TypeError(
        f"{type(model).__name__} has no scorer of a {type(report).__name__} to choose by."
    )
