"""What a fitted model says of itself: its parameters, its sizes, and what is proved."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from maxmargin import __version__
from maxmargin.fitting.calibration import calibrated

PLAIN = (int, float, str, bool, tuple, type(None))
PROBABLE = ("log", "marginal", "likelihood")  # objectives that fit probabilities
SIZES = {
    "classes_": "labels",
    "coef_": "weights",
    "n_features_in_": "features",
    "n_iter_": "passes",
}


def facts_of(model: Any) -> list[tuple[str, Any]]:
    """(name, value) rows: parameters that are not the usual ones, and sizes."""
    rows: list[tuple[str, Any]] = [("estimator", type(model).__name__)]
    rows += _parameters(model)
    for attribute, name in SIZES.items():
        value = getattr(model, attribute, None)
        if value is not None:
            rows.append((name, f"{_size(value):,}"))
    if getattr(model, "history_", None):
        rows.append(("seconds", f"{model.history_[-1]['seconds']:.2f}"))
    return rows


def versions() -> str:
    """What made the page; models keep none of the versions that they were made with."""
    return f"maxmargin {__version__}"


def fits_probabilities(model: Any) -> bool:
    """Was the model trained as one of probabilities, or calibrated on held-out data?"""
    return calibrated(model) or getattr(model, "objective", "likelihood") in PROBABLE


def _parameters(model: Any) -> Iterator[tuple[str, str]]:
    usual = {
        name: parameter.default
        for name, parameter in inspect.signature(type(model)).parameters.items()
    }
    for name, value in model.get_params(deep=False).items():
        plain = isinstance(value, PLAIN)
        if name == "C":
            yield name, f"{getattr(model, 'C_', value):g}"
        elif plain and not (type(value) is type(usual[name]) and value == usual[name]):
            yield name, str(value)


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(len, value.values()))
    return int(getattr(value, "size", value))


def certificate_sentence(model) -> str:
    """What is proved about the training of a model, and whether it stopped early."""
    dev = getattr(model, "dev_", None)
    if dev is None or not dev.stopped:
        return _proved(model)
    return (
        f"{_proved(model)} Training stopped on held-out data: the weights are those of "
        f"pass {dev.iteration}, with the best {dev.measure} there ({dev.score:.4g})."
    )


def _proved(model) -> str:
    proof, passes = model.certificate_, model.n_iter_
    after = f"after {passes} pass{'' if passes == 1 else 'es'}"
    if hasattr(proof, "inner_gap"):
        return _stationary_sentence(model, after)
    if hasattr(proof, "within"):
        return _span_sentence(model, after)
    if not proof.exact or not proof.dual > 0:
        return f"Training ended {after}; there is no certificate for this objective."
    return (
        f"The objective is {proof.primal:.6g} {after}; the smallest possible is at most "
        f"{_percent(proof.relative_gap)} below (proved)."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.2g}%" if share < 0.1 else f"{100 * share:.0f}%"


def _span_sentence(model, after: str) -> str:
    """Few basis functions: what is proved within their span, and of all functions."""
    proof, size = model.certificate_, len(model.dual_coef_)
    text = (
        f"The objective is {proof.primal:.6g} {after}; the smallest possible with these "
        f"{size:,} basis functions is at most {_percent(proof.relative_gap_within)} below"
    )
    if not proof.exact:
        return f"{text} (proved). Of the exact kernel machine nothing is proved."
    below = _percent(proof.relative_gap)
    return f"{text}, that of the exact kernel machine at most {below} (proved)."


def _stationary_sentence(model, after: str) -> str:
    """With hidden parts there is no proof of the smallest objective; other starts count."""
    point, outer = model.certificate_, model.n_outer_
    text = f"The objective is {point.objective:.6g} {after} in {outer} outer step"
    text += "." if outer == 1 else "s."
    if point.exact and point.objective > 0:
        share = 100 * max(point.bound, 0.0) / point.objective
        kind = (
            "a stationary point" if model.converged_ else "not yet a stationary point"
        )
        text += f" It is {kind}: another step could gain at most {share:.2g}% (proved)"
        text += ", other starts may end lower."
    if len(model.restarts_) > 1:
        low, high = min(model.restarts_), max(model.restarts_)
        text += (
            f" {len(model.restarts_)} starts ended between {low:.6g} and {high:.6g}."
        )
    return text
