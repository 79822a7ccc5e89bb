"""Choosing C for a tagger: on a file of its own, or by cross-validation."""

from __future__ import annotations

import sys
import time
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from maxmargin.cli.common import Interrupts
    from maxmargin.tags.command_files import Sample

USUAL = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # tried if only --cv is given


class Score(NamedTuple):
    """How good the predictions with one C are."""

    C: float
    f1: float | None  # of spans; None if the labels are no spans
    accuracy: float
    seconds: float  # of training

    @property
    def value(self) -> float:
        return self.accuracy if self.f1 is None else self.f1


def scheme_of(*label_sequences) -> str | None:
    """The parameter of `metrics.scores`: spans if all labels can be read so."""
    from maxmargin.tags.schemes import guess_scheme

    labels = set(chain.from_iterable(chain.from_iterable(label_sequences)))
    return "auto" if guess_scheme(labels) else None


def best_on(tagger, train: Sample, dev: Sample, Cs, interrupts: Interrupts):
    """(model, scores): one model per C, and the one that is best on another file.

    After Ctrl-C, it is chosen among those whose training had begun.
    """
    began = interrupts.fits_begun
    models = tagger.path(train.X, train.y, Cs, sample_weight=train.weights)
    models.sort(key=lambda model: model.C)  # the order in which they were trained
    if interrupts.seen:
        models = models[: max(interrupts.fits_begun - began, 1)]
    scheme = scheme_of(train.y, dev.y)
    scores = [
        _score(m.C, dev.y, m.predict(dev.X), scheme, m.history_[-1]["seconds"])
        for m in models
    ]
    return models[best_of(scores)], scores


def cross_validate(
    tagger, sample: Sample, Cs, folds: int, interrupts: Interrupts, quiet: bool
) -> list[Score]:
    """Scores of every C on sentences that were left out of training, all together."""
    import numpy as np

    n = sample.n_sentences
    if not 2 <= folds <= n:
        raise ValueError(
            f"--cv {folds} is not possible: there are {n} sentences, and folds must be "
            "two at least and not more than these."
        )
    Cs = sorted(Cs)
    order = np.random.default_rng(tagger.random_state or 0).permutation(n)
    predicted: dict[float, list[Any]] = {C: [None] * n for C in Cs}
    seconds = dict.fromkeys(Cs, 0.0)
    for k in range(folds):
        began = time.perf_counter()
        out = np.zeros(n, bool)
        out[order[k::folds]] = True
        rest = sample.select(np.flatnonzero(~out).tolist())
        held = np.flatnonzero(out).tolist()
        test = sample.select(held).X
        models = tagger.path(rest.X, rest.y, Cs, sample_weight=rest.weights)
        if interrupts.seen:
            raise KeyboardInterrupt
        for C, model in zip(Cs, models, strict=True):
            seconds[C] += model.history_[-1]["seconds"]
            for i, labels in zip(held, model.predict(test), strict=True):
                predicted[C][i] = labels
        if not quiet:
            spent = time.perf_counter() - began
            print(f"fold {k + 1} of {folds}: {spent:.1f} s", file=sys.stderr)
    scheme = scheme_of(sample.y)
    return [_score(C, sample.y, predicted[C], scheme, seconds[C]) for C in Cs]


def _score(C, truth, predicted, scheme, seconds) -> Score:
    from maxmargin.metrics import scores

    report = scores(truth, predicted, scheme)
    return Score(C, getattr(report, "f1", None), report.token_accuracy, seconds)


def best_of(scores: list[Score]) -> int:
    """The best; of equals the first, which has the smallest C."""
    return max(range(len(scores)), key=lambda k: (scores[k].value, -k))


def table(scores: list[Score]) -> str:
    """The scores as text, in per cent."""
    best = best_of(scores)
    spans = scores[0].f1 is not None
    lines = [f"{'C':>10}" + "   span F1" * spans + "   accuracy   seconds"]
    for k, row in enumerate(scores):
        f1 = f"{100 * row.f1:>10.2f}" if spans else ""
        mark = "  <- best" if k == best else ""
        lines.append(
            f"{row.C:>10g}{f1}{100 * row.accuracy:>11.2f}{row.seconds:>10.1f}{mark}"
        )
    return "\n".join(lines)
