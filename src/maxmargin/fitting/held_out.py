"""Held-out data in a fit: what may be given as ``dev``, and how good weights are on it."""

from __future__ import annotations

import copy
import math
import numbers
import warnings
from collections.abc import Iterable, Iterator, Mapping
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
    missing = [i for i, truth in enumerate(y) if unknown(truth)] if _flat(y) else []
    if missing:
        raise ValueError(
            f"y of {what} is {list(y)[missing[0]]} at {missing[0]}, where the truth is "
            "not known: leave such samples out."
        )
    return tuple(given)


def _flat(values: Any) -> bool:
    """Whether its items are truths, one of each sample."""
    return isinstance(values, (list, tuple)) or len(getattr(values, "shape", ())) == 1


def unknown(truth: Any) -> bool:
    """None, or what tables have in its place: NaN, and NA and NaT of pandas."""
    if isinstance(truth, numbers.Real):
        return math.isnan(truth)
    return truth is None or type(truth).__name__ in ("NAType", "NaTType")


def _size(values: Any) -> int | None:
    """How many there are, where that can be told."""
    shape = getattr(values, "shape", None)
    if shape:
        return int(shape[0])
    return len(values) if isinstance(values, (list, tuple)) else None


def check_early_stopping(model: Any, limits: Limits, dev: Any) -> tuple:
    """Held-out data as a tuple; refuses what cannot be combined, before any work."""
    if model._machines is not None:
        raise ValueError(
            f"{type(model).__name__} has no early stopping on held-out data, as its basis "
            "and its weights are found in stages: give Cs beside dev, to choose C by them, "
            "or leave dev out."
        )
    dev = check_dev(model._dev_names, dev)
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
    return dev


def watching(model: Any, encoded: Encoded, limits: Limits, dev: tuple) -> Limits:
    """Limits of a fit that looks at held-out data; these are tried before it begins."""
    return replace(limits, held_out=tried(model, encoded, dev))


def tried(model: Any, encoded: Encoded, dev: tuple) -> HeldOutScore:
    """What judges weights, after zero weights have been judged."""
    score = HeldOutScore(model, encoded, dev)
    trial = score.trial(np.zeros(encoded.n_weights, encoded.dtype))
    scorer, _ = first_judged(trial, dev)
    score.title, score.smaller = scorer.title, scorer.smaller
    return score


class HeldOutScore:
    """How good weights are on held-out data, by the scorer of the family."""

    def __init__(self, model: Any, encoded: Encoded, dev: tuple):
        self.model, self.encoded, self.dev = model, encoded, dev
        self.title, self.smaller = "", False

    def __call__(self, w: np.ndarray) -> float:
        scorer, report = judged(self.trial(w), self.dev)
        self.title, self.smaller = scorer.title, scorer.smaller
        return scorer.value(report)

    def trial(self, w: np.ndarray) -> Any:
        """A model with these weights."""
        trial = copy.copy(self.model)
        trial.verbose = 0  # a look is no progress of its own
        trial._put(self.encoded, w)
        return trial


def first_judged(model: Any, dev: tuple) -> tuple[Scorer, Report]:
    """As ``judged``, the first time; says what is wrong with the data."""
    try:
        if model._compares_labels and len(dev) > 1:
            _check_labels(model.classes_, dev[1])
        return _judged(model, dev)
    except (ValueError, TypeError) as error:
        raise ValueError(f"dev cannot be used: {error}") from error


def judged(model: Any, dev: tuple) -> tuple[Scorer, Report]:
    """A fitted model's report on held-out data, and the scorer that it is chosen by."""
    with warnings.catch_warnings():  # what the data are warned of was said at first
        warnings.simplefilter("ignore", UserWarning)
        return _judged(model, dev)


def _judged(model: Any, dev: tuple) -> tuple[Scorer, Report]:
    report = model._evaluated(*dev)
    for scorer in model._scorers:
        if type(report).__name__ in scorer.reports:
            return scorer, report
    raise TypeError(
        f"{type(model).__name__} has no scorer of a {type(report).__name__} to choose by."
    )


# labels that training has not seen ------------------------------------------------------


def _check_labels(classes: Any, y: Any) -> None:
    """Refuse a truth that is none: most of its labels are not known to the model."""
    known = set(_labels_in(classes))
    labels = [label for label in _labels_in(y) if not unknown(label)]
    if not labels:
        raise ValueError("y has no known label, so there is nothing to compare with.")
    strange = [label for label in labels if label not in known]
    if 2 * len(strange) > len(labels):
        some = ", ".join(sorted(map(repr, known))[:3])
        raise ValueError(
            f"{len(strange):,} of {len(labels):,} labels of y are not known to the model, "
            f"such as {strange[0]!r}; it knows {some}{', ...' if len(known) > 3 else ''}. "
            "Give the true labels as training has them."
        )


def _labels_in(values: Any) -> Iterator:
    """All single labels in lists, arrays or dicts of them."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if not hasattr(values, "tolist"):
        values = getattr(values, "y", values)  # of a graph of PyTorch Geometric
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, Mapping):
        values = values.values()
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        yield values
        return
    for value in values:
        yield from _labels_in(value)
