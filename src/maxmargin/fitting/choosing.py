"""Choosing C by held-out data: one model per value along a path, and the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from maxmargin.core.warn import warn
from maxmargin.engine.interrupts import whole
from maxmargin.fitting.held_out import check_dev, judged
from maxmargin.solvers.watching.held_out import DevScore


class Score(NamedTuple):
    """How good the predictions with one C are, and with what else was tried."""

    C: float
    measures: dict[str, float]  # the first decides
    seconds: float  # of training
    settings: dict[str, Any] = {}  # noqa: RUF012


def best_of(scores: Sequence[Score], smaller: bool = False) -> int:
    """The best; of equals the first, which has the smallest C."""
    values = [next(iter(score.measures.values())) for score in scores]
    return values.index(min(values) if smaller else max(values))


def seconds_of(model: Any) -> float:
    """How long the training of a model took."""
    return model.history_[-1]["seconds"] if model.history_ else 0.0


def choose_C(model: Any, Cs: Any, dev: Any, along: Any) -> None:
    """Fit ``model`` with the C of ``Cs`` that is best on held-out data.

    ``along(Cs, dev)`` tries dev and trains a model for each. What it
    is chosen from stays as ``choice_``.
    """
    model._settings()  # its own C is not used, but kept
    if dev is None:
        raise ValueError(
            "Cs needs held-out data to choose by, as in fit(X, y, dev=(X_dev, y_dev), "
            "Cs=[0.1, 1]); path(X, y, Cs) trains a model for each."
        )
    dev = check_dev(model._dev_names, dev)
    models = sorted(along(Cs, dev), key=lambda found: found.C_)
    if not models:
        raise ValueError("Cs is empty: give at least one value of C.")
    scores = []
    for found in models:
        scorer, report = judged(found, dev)
        measures = {scorer.title: scorer.value(report)}
        scores.append(Score(found.C_, measures, seconds_of(found)))
    at = best_of(scores, scorer.smaller)
    best = models[at]
    title, value = next(iter(scores[at].measures.items()))
    if value == 0 and len(scores) > 1 and not scorer.smaller:
        warn(
            f"{title} on the held-out data is 0 with every C, so nothing could be chosen "
            f"and C={best.C_:g}, the smallest, was kept. Check the true outputs in dev."
        )
    with whole(model):
        for name in (*model._left, "_dual_state"):
            model.__dict__.pop(name, None)
        parameters = best.get_params(deep=False)
        model.__dict__.update(
            {name: v for name, v in vars(best).items() if name not in parameters}
        )
        iteration = best.n_iter_
        model.dev_ = DevScore(title, value, iteration, False, scorer.smaller)
        model.choice_ = scores
