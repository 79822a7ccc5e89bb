"""From X and y to what a network learns from, and what is held out of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain as chain_lists
from typing import Any

import numpy as np

from maxmargin.core.encoded import check_weights
from maxmargin.core.fingerprint import fingerprint
from maxmargin.core.saved import Saved
from maxmargin.core.warn import warn
from maxmargin.fitting.held_out import check_dev, first_judged, judged
from maxmargin.neural.backend import backend
from maxmargin.neural.readers import as_given, new_reader, warn_of_columns
from maxmargin.solvers.checkpoints.checkpoint import kept
from maxmargin.solvers.watching.held_out import DevScore
from maxmargin.tags.files.columns import Columns
from maxmargin.tags.input import (
    barrier_with,
    check_allowed,
    check_matching,
    check_samples,
    fill_rows,
    label_set,
    warn_of_length,
)
from maxmargin.tags.schemes import check_scheme
from maxmargin.waiting import stage, watched

# Parameters that say nothing of what is learned: a checkpoint may go on with others.
LIMITS = (
    *("max_iter", "max_time", "patience", "n_jobs", "device", "verbose", "callbacks"),
    *("checkpoint", "resume", "encoder", "random_state"),
)
FEW = 2  # sequences of which all is known: of fewer, none is held out


@dataclass
class Prepared:
    """Arguments of a fit."""

    reader: Any
    labels: list
    data: Any
    judge: Any
    plan: Any

    @property
    def arguments(self) -> tuple:
        return self.plan, self.reader, self.labels, self.data, self.judge

    def kept(self) -> Any:
        return kept(self.plan.place)


def prepare(tagger: Any, settings: Any, X: Any, y: Any, weights: Any, dev: Any) -> Any:
    """Read what is learned from; ``dev`` is held-out data, or None for a part of X."""
    training = backend("training")
    backend("building").device_of(tagger.device)
    X, y = check_samples(as_given(X), y, unlabelled=True)
    weights = check_weights(weights, len(y))
    labels, gaps = label_set(y)
    if not labels:
        raise ValueError(
            "y holds no known label: at least one sequence must have some."
        )
    if tagger.scheme is not None and not gaps:
        check_scheme(y, tagger.scheme)
    held = None
    if dev is not None:
        held = check_dev(("X", "y"), dev)
        held = as_given(held[0]), held[1]
    else:
        chosen = _held_out(tagger, settings.seed, y)
        if len(chosen):
            held = _few(X, chosen), [y[i] for i in chosen]
            rest = np.setdiff1d(np.arange(len(y)), chosen)
            X, y, weights = _few(X, rest), [y[i] for i in rest], weights[rest]
    reader = new_reader(tagger, X)
    with watched(int(tagger.verbose) == 1), stage("encoding"):
        tokens, hiding = reader.fit_encode(X)
        y = fill_rows(y, tokens.start) if gaps else y
        check_matching(tokens.start, y)
        numbers = {label: k for k, label in enumerate(labels)} | {None: -1}
        every = map(numbers.__getitem__, chain_lists.from_iterable(y))
        flat = np.fromiter(every, np.int64)
    if reader.kind == "columns":
        warn_of_columns(X, reader.read, y)
    warn_of_length(tokens.start)
    _check_allowed(tagger, labels, flat, tokens.start)
    data = training.Data(tokens, flat, weights, hiding)
    identity = _identity(tagger, settings.seed, data) if settings.place else {}
    plan = training.Plan(settings.seed, settings.threads, settings.place, identity)
    judge = None
    if held is not None:
        judge = Judge(tagger, plan, reader, labels, held)
    return Prepared(reader, labels, data, judge, plan)


def _held_out(tagger: Any, seed: int, y: list) -> np.ndarray:
    """Numbers of the sequences to hold out, of those of which all is known."""
    known = [i for i, row in enumerate(y) if row is not None and len(row)]
    known = [i for i in known if None not in list(y[i])]
    count = round(tagger.validation_fraction * len(y))
    count = min(max(count, int(tagger.validation_fraction > 0)), len(known) - 1)
    if count < 1 or len(known) < FEW:
        return np.zeros(0, np.int64)
    order = np.random.default_rng(seed).permutation(known)
    return np.sort(order[:count])


def _few(X: Any, chosen: np.ndarray) -> Any:
    return X.select(chosen) if isinstance(X, Columns) else [X[i] for i in chosen]


def _check_allowed(tagger: Any, labels: list, flat: np.ndarray, start: Any) -> None:
    """What is known of the labels obeys the constraints."""
    wall = barrier_with(tagger.scheme, tagger.forbidden, labels)
    if wall is None:
        return
    if (flat >= 0).all():
        check_allowed(wall, flat, start, labels)
        return
    k = len(labels)
    free = np.isfinite(wall)
    for i in range(len(start) - 1):
        reached = free[k]
        row = flat[start[i] : start[i + 1]]
        for t, label in enumerate(row.tolist()):
            if t:
                reached = (reached[:, None] & free[:k]).any(axis=0)
            if label >= 0:
                reached = reached & (np.arange(k) == label)
        if len(row) and not (reached & free[k + 1]).any():
            raise ValueError(
                f"y[{i}]: what is known of it cannot be completed without forbidden "
                "transitions: correct the data or allow more."
            )


def _identity(tagger: Any, seed: int, data: Any) -> dict[str, str]:
    """What must be equal for a checkpoint to be of this fit."""
    params = {
        name: value
        for name, value in tagger.get_params(deep=False).items()
        if name not in LIMITS
    }
    params["encoder"] = (
        repr(tagger.encoder) if callable(tagger.encoder) else str(tagger.encoder)
    )
    described = {
        "data": (data.labels, *_arrays(data.tokens)),
        "masses": data.weights,
        "objective": params,
        "random": seed,
    }
    return {name: fingerprint(value) for name, value in described.items()}


def _arrays(tokens: Any) -> Iterator[Any]:
    yield from (tokens.start, *tokens.columns, tokens.spellings, tokens.numbers)
    if tokens.bag is not None:
        yield from (tokens.bag.indptr, tokens.bag.indices, tokens.bag.values)


class Judge:
    """How good a network is on held-out data, by the scorer of taggers."""

    def __init__(self, tagger: Any, plan: Any, reader: Any, labels: list, held: tuple):
        self.threads, (X, self.y) = plan.threads, held
        self.trial = copy.copy(tagger)
        self.trial.verbose = 0
        self.title, self.smaller = "", False
        self.held: Any = None
        self.X, self.reader, self.labels = X, reader, labels

    def begin(self, network: Any) -> None:
        """Try an untrained network, which says what is wrong with the data."""
        try:
            X, y = check_samples(self.X, self.y)
            tokens = self.reader.encode(X)
            check_matching(tokens.start, y)
        except (ValueError, TypeError) as error:
            raise ValueError(f"dev cannot be used: {error}") from error
        self.held = tokens, y
        self.trial._install(self.reader, self.labels, network)
        scorer, _ = first_judged(self.trial, self.held)
        self.title, self.smaller = scorer.title, scorer.smaller

    def __call__(self, network: Any) -> float:
        scorer, report = judged(self.trial, self.held)
        self.title, self.smaller = scorer.title, scorer.smaller
        return scorer.value(report)


# after a fit, and from model files ------------------------------------------------------


def say_how_it_ended(interrupted: bool, history: list[dict]) -> None:
    """A word on a fit that Ctrl-C ended."""
    if interrupted:
        n = len(history)
        warn(
            f"Training interrupted in pass {n}: the weights are the best found until then."
        )


def restored_history(saved: Saved) -> list[dict]:
    rows = saved.value("history", list)
    plain = all(type(r) is dict and set(map(type, r)) <= {str} for r in rows)
    if not plain or not all(type(r.get("seconds")) is float for r in rows):
        raise ValueError("its history is not valid")
    return rows


def restored_dev(saved: Saved) -> DevScore:
    values = saved.value("dev", list)
    if list(map(type, values)) != [str, float, int, bool, bool]:
        raise ValueError("'dev' is not a score on held-out data")
    return DevScore(*values)
