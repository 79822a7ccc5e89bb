"""Parameters of taggers."""

from __future__ import annotations

from typing import Any

from maxmargin.core.checks import choice_of, or_none, positive, zero_or_more
from maxmargin.fitting.parameters import (
    BASES,
    KernelOfFeatures,
    Parameter,
    Parameters,
    PartlyKnown,
    Shared,
)

FEATURE_OPTIONS = ("gazetteers", "dense", "hash_bits")
ORDERS = (0, 1, 2)
METHODS = ("exact", "subspace-pursuit", "training-points", *BASES)


def _check_order(name: str, order: Any) -> None:
    if order not in ORDERS or isinstance(order, bool):
        raise ValueError(
            f"order={order!r} is not possible: 0 labels every token on its own, "
            "1 learns transitions between labels, 2 triples of labels."
        )


def _check_feature_options(name: str, options: Any) -> None:
    if options is not None and not (
        isinstance(options, dict) and set(options) <= set(FEATURE_OPTIONS)
    ):
        raise ValueError(
            f"feature_options={options!r} is not possible: it must be None or a dict "
            f"of {', '.join(FEATURE_OPTIONS)}."
        )


class _First(Parameters):
    """What type checkers find before the shared parameters, of which one is the second."""

    C: float | None = Parameter(default=None, kw_only=False)


class SequenceTaggerParameters(PartlyKnown, KernelOfFeatures, _First):
    C: float | None = Parameter(default=None, kw_only=False)
    objective: str = Parameter(default="hinge", kw_only=False)
    loss: Any = Parameter(default="hamming")
    features: Any = Parameter(default=None)
    min_count: int = Parameter(default=1)
    feature_options: dict | None = Parameter(default=None, check=_check_feature_options)
    order: int = Parameter(default=1, check=_check_order)
    scheme: str | None = Parameter(default=None)
    forbidden: list | None = Parameter(default=None)
    decoding: str = Parameter(
        default="auto", check=choice_of("auto", "viterbi", "posterior")
    )
    l1: float = Parameter(default=0.0, check=zero_or_more("zero or more"))
    method: str = Parameter(default="exact", check=choice_of(*METHODS))
    tol: float | None = Parameter(
        default=None, check=or_none(Shared.declared["tol"].check)
    )


_SAME = SequenceTaggerParameters.declared


class HMMTaggerParameters(Parameters):
    alpha: float = Parameter(
        default=1.0, check=positive("positive", finite=True), kw_only=False
    )
    features: Any = Parameter(default=None, kw_only=False)
    min_count: int = _SAME["min_count"]
    scheme: str | None = _SAME["scheme"]
    forbidden: list | None = _SAME["forbidden"]
    decoding: str = _SAME["decoding"]
    n_jobs: int | None = _SAME["n_jobs"]
