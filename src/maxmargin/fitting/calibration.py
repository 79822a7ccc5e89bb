"""Calibration: what a margin model says of its outputs becomes a probability.

Two ways, both fitted on data that training has not seen (Guo et al. 2017, On calibration of
modern neural networks; Zadrozny & Elkan 2002, Transforming classifier scores):

temperature  outputs y have probabilities proportional to exp(score / T). T is the one under
             which the truth of held-out parts is most likely: their classes and labels, or
             whether predicted brackets and pairs are there. Predictions stay as they are.
isotonic     the margin between the best output and the runner-up becomes the probability
             that the whole prediction is right, by a function that never falls.
"""

from __future__ import annotations

import copy
import importlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.checks import one_of
from maxmargin.core.saved import Saved
from maxmargin.core.warn import warn
from maxmargin.engine.interrupts import whole
from maxmargin.fitting.held_out import check_held_out
from maxmargin.metrics.calibration import reliability

METHODS = "temperature", "isotonic"
LARGEST = 1e20  # of a temperature; the smallest is 1 / LARGEST
STEP = 4.0  # of the first search
STEPS = 8  # in each direction from where that search begins
LITTLE = 0.1  # of the way from knowing nothing to being certain: there it begins
LEAST = 1e-300  # of a probability whose logarithm is taken
CLOSE = 0.01  # of the last one, in log T
GOLDEN = 0.5 * (1.0 + math.sqrt(5.0))
FOLDS = 5  # of the judgement of a curve
FEW = 30  # held-out samples or parts below which it is said that they are few
NO_OUTPUT = -math.inf  # margin of what the model has no output for, such as no parse
NOTHING = (
    "nothing that is true in the held-out data {} predicted by the model, so there is "
    "nothing to calibrate with: check y."
)


@dataclass(frozen=True)
class Calibration:
    """How a model was calibrated (``model.calibrate(X, y)``), and what that changed.

    Attributes
    ----------
    method : "temperature" or "isotonic"
    temperature : float or None
        Probabilities are those under exp(score / temperature).
    margins, shares : tuple of float
        For "isotonic": shares of right outputs at these margins; between them, a line.
    n : int
        Held-out parts (for "isotonic", samples) that were used.
    error, error_before : float, float or None
        Expected calibration error on these data, after and before: how far probabilities of
        predictions are from the share that is right, on average, in ten bins. With
        "isotonic", each sample is judged by a curve that has not seen it (five folds), and
        there is nothing before.
    loss, loss_before : float, float or None
        Mean of -log p of what was true, after and before, likewise.
    """

    method: str
    temperature: float | None
    margins: tuple[float, ...]
    shares: tuple[float, ...]
    n: int
    error: float
    error_before: float | None
    loss: float
    loss_before: float | None


class Chances(NamedTuple):
    """What a model says of parts, and what was true of them."""

    true: np.ndarray  # log probability of what was true; nan where it cannot be said
    said: np.ndarray  # probability of what was predicted
    right: np.ndarray  # whether that was true


def temperature_of(model: Any) -> float:
    """What scores are divided by; 1 of a model that was not calibrated so."""
    found = getattr(model, "calibration_", None)
    return 1.0 if found is None or found.temperature is None else found.temperature


def calibrated(model: Any) -> bool:
    """Whether it has probabilities that were fitted to held-out data."""
    found = getattr(model, "calibration_", None)
    return found is not None and found.temperature is not None


def calibrate(model: Any, X: Any, y: Any, method: str) -> None:
    """Set ``calibration_``; a call that raises leaves the model as it was."""
    one_of("method", method, METHODS)
    X, y = check_held_out("held-out data", ("X", "y"), (X, y))
    found = (_by_temperature if method == "temperature" else _by_margins)(model, X, y)
    if found.n < FEW:
        warn(
            f"Only {found.n} held-out predictions were there to calibrate with: the "
            f"probabilities are rough. Give {FEW} at least, better some hundreds."
        )
    with whole(model):
        model.calibration_ = found


# a temperature --------------------------------------------------------------------------


def _by_temperature(model: Any, X: Any, y: Any) -> Calibration:
    predicted = model.predict(X)

    def at(log_T: float) -> Chances:
        trial = copy.copy(model)
        trial.verbose = 0
        T = math.exp(log_T)
        trial.calibration_ = Calibration("temperature", T, (), (), 0, 0, None, 0, None)
        return trial._chances(X, y, predicted)

    possible = at(math.log(LARGEST)).true > math.log(LEAST)
    if not possible.any():
        raise ValueError(NOTHING.format("can be"))
    start = _start(lambda log_T: float(np.mean(at(log_T).said)))
    log_T, end = _smallest(lambda log_T: _imagining(at(log_T), possible), start)
    if end:
        warn(
            "The temperature is at the end of the range that was searched: on the "
            "held-out data, scores do not tell what is right from what is wrong. Check "
            "that y has the true outputs of X, and give more of them."
        )
    before, after = at(0.0), at(log_T)
    return Calibration(
        "temperature",
        math.exp(log_T),
        (),
        (),
        int(possible.sum()),
        reliability(after.said, after.right).error,
        reliability(before.said, before.right).error,
        _loss(after.true[possible]),
        _loss(before.true[possible]),
    )


def logs(p: np.ndarray) -> np.ndarray:
    """Finite logarithms of probabilities, which may have been rounded to 0."""
    return np.log(np.maximum(p, LEAST))


def _loss(true: np.ndarray) -> float:
    return float(-true.mean())


def _imagining(found: Chances, possible: np.ndarray) -> float:
    """The loss with one more prediction, as sure as the others and wrong.

    Held-out data without an error would make everything certain else.
    """
    wrong = max(1.0 - float(np.mean(found.said)), LEAST)
    return _loss(found.true[possible]) - math.log(wrong) / int(possible.sum())


def _start(sure: Any) -> float:
    """log T, in whole steps, where predictions are a little sure: the scale of scores.

    Where they are certain, right or wrong, a small change of T changes nothing.
    """
    low, high = -math.log(LARGEST), math.log(LARGEST)
    nothing, certain = sure(high), sure(low)
    certain = certain if math.isfinite(certain) else 1.0
    if not certain > nothing:  # all scores are the same
        return 0.0
    while high - low > math.log(STEP):
        middle = 0.5 * (low + high)
        if sure(middle) < nothing + LITTLE * (certain - nothing):
            high = middle
        else:
            low = middle
    return round(high / math.log(STEP)) * math.log(STEP)


def _smallest(value: Any, start: float) -> tuple[float, bool]:
    """(where a function of log T is smallest, whether that is an end of the range).

    Downhill by factors, then between them.
    """
    step, at, best = math.log(STEP), start, value(start)
    least, most = start - (STEPS + 0.5) * step, start + (STEPS + 0.5) * step
    for direction in (1.0, -1.0):
        while least <= at + direction * step <= most:
            there = value(at + direction * step)
            if not there < best:
                break
            at, best = at + direction * step, there
    end = not least + step <= at <= most - step
    low, high = at - step, at + step
    share = 2.0 - GOLDEN  # golden section
    a, b = low + share * (high - low), high - share * (high - low)
    at_a, at_b = value(a), value(b)
    while high - low > CLOSE:
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = low + share * (high - low)
            at_a = value(a)
        else:
            low, a, at_a = a, b, at_b
            b = high - share * (high - low)
            at_b = value(b)
    found = 0.5 * (low + high)
    return (found if value(found) < best else at), end


# what families say of parts -------------------------------------------------------------


def of_table(
    table: np.ndarray, labels: Sequence, truth: Iterable, predicted: Iterable
) -> Chances:
    """Of things with one label each; a row of the table has its log probabilities."""
    number = {label: k for k, label in enumerate(labels)}
    try:
        true = np.array([number.get(label, -1) for label in truth], int)
    except TypeError as error:
        raise ValueError(
            f"y has something that cannot be a label ({error}): give one label for each."
        ) from None
    found = np.array([number[label] for label in predicted], int)
    if len(table) != len(true):
        raise ValueError(
            f"there are {len(table)} predictions, but {len(true)} true labels: give one "
            "for each."
        )
    rows = np.arange(len(table))
    p_true = np.where(true < 0, np.nan, table[rows, true])
    return Chances(p_true, np.exp(table[rows, found]), true == found)


def of_parts(said: Sequence[float], right: Sequence[bool]) -> Chances:
    """Of predicted parts that are there or not, such as brackets and matched pairs."""
    p, true = np.clip(np.array(said, float), 0.0, 1.0), np.array(right, bool)
    return Chances(logs(np.where(true, p, 1.0 - p)), p, true)


# isotonic -------------------------------------------------------------------------------


def _by_margins(model: Any, X: Any, y: Any) -> Calibration:
    margins, right = model._margins(X), np.asarray(model._right(X, y), bool)
    if len(margins) != len(right):
        raise ValueError(
            f"X has {len(margins)} samples, but y has {len(right)}: give one output per "
            "input."
        )
    there = margins > NO_OUTPUT
    finite, right = _finite(margins[there]), right[there]
    if not right.any():
        raise ValueError(NOTHING.format("is"))
    n = len(right)
    curve = _never_falling(finite, right)
    # a curve fits its own data perfectly: each sample is judged by one without it
    fold, others = np.arange(n) % min(FOLDS, n), np.empty(n)
    for k in range(fold.max() + 1):
        out = fold == k
        known = ~out if n > 1 else out
        others[out] = np.interp(
            finite[out], *_never_falling(finite[known], right[known])
        )
    return Calibration(
        "isotonic",
        None,
        *(tuple(values.tolist()) for values in curve),
        n,
        reliability(others, right).error,
        None,
        _loss(logs(np.where(right, others, 1.0 - others))),
        None,
    )


def _never_falling(margins: np.ndarray, right: np.ndarray) -> tuple:
    """(margins, shares of right outputs there) of the best curve that never falls."""
    n = len(right)
    # never quite 0 or 1: by the rule of succession
    low, high = 1.0 / (n + 2.0), (n + 1.0) / (n + 2.0)
    # imported when asked for, as models are loaded more often than calibrated
    isotonic = importlib.import_module("sklearn.isotonic")
    fitted = isotonic.IsotonicRegression(y_min=low, y_max=high, out_of_bounds="clip")
    fitted.fit(margins, right)
    return fitted.X_thresholds_, fitted.y_thresholds_


def _finite(margins: np.ndarray) -> np.ndarray:
    """An output without any other has an infinite margin."""
    largest = float(np.finfo(np.float32).max)
    return np.nan_to_num(np.asarray(margins, float), posinf=largest, neginf=-largest)


def confidence(model: Any, X: Any) -> np.ndarray:
    """How probable it is that each prediction is right as a whole; 0 without output."""
    found = getattr(model, "calibration_", None)
    if found is None or found.method != "isotonic":
        raise ValueError(
            "predict_confidence needs a model that was calibrated for it: call "
            "calibrate(X_held_out, y_held_out, method='isotonic') first."
        )
    margins = model._margins(X)
    said = np.interp(_finite(margins), found.margins, found.shares)
    return np.where(margins > NO_OUTPUT, said, 0.0)


def top_two(scores: np.ndarray) -> np.ndarray:
    """By how much the best score of every row beats the second."""
    if scores.shape[1] < 2:
        return np.full(len(scores), np.inf)
    some = np.partition(scores, -2, axis=1)
    return some[:, -1] - some[:, -2]


def ranked_margins(ranked: Iterable[Sequence]) -> np.ndarray:
    """The same of the two best outputs and their scores; NO_OUTPUT if there is none."""
    return np.array([_margin([score for _, score in best]) for best in ranked], float)


def _margin(scores: list[float]) -> float:
    if len(scores) > 1:
        return scores[0] - scores[1]
    return np.inf if scores else NO_OUTPUT


# model files ----------------------------------------------------------------------------


def plain(found: Calibration) -> dict[str, Any]:
    """As a model file has it."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(found).items()
    }


def restored(saved: Saved) -> Calibration:
    """The same from a file; ValueError if it is none."""
    method = saved.value("method", str)
    one_of("method", method, METHODS)
    T = saved.value("temperature", float, type(None))
    possible = T is None or 1.0 / LARGEST <= T <= LARGEST
    if (T is None) != (method == "isotonic") or not possible:
        raise ValueError(f"'temperature' is {T}")
    lists = [saved.value(name, list) for name in ("margins", "shares")]
    kinds = set(map(type, lists[0] + lists[1]))
    margins, shares = (np.array(values, float) for values in lists)
    good = len(margins) == len(shares) and kinds <= {float}
    good = good and np.isfinite(margins).all() and (np.diff(margins) >= 0).all()
    good = good and ((shares >= 0) & (shares <= 1)).all()
    good = good and (np.diff(shares) >= 0).all()
    if not good or (method == "isotonic") != bool(len(margins)):
        raise ValueError("'margins' and 'shares' do not fit together")
    numbers = [saved.value(n, float) for n in ("error", "loss")]
    earlier = [saved.value(f"{n}_before", float, type(None)) for n in ("error", "loss")]
    n = saved.whole("n", 1)
    both = (numbers[0], earlier[0], numbers[1], earlier[1])
    return Calibration(
        method, T, tuple(margins.tolist()), tuple(shares.tolist()), n, *both
    )
