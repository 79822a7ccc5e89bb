"""Training data as solvers want them: a batch, sample weights, what goes with them.

C=None means the family's own rule; ``C_`` of a fitted model is the value used. A family
whose default is a number has that number as its rule. Others declare ``_C_by_objective``
(what is not listed has C = 1) or compute C from the training data and hand it over as
``Encoded.C``.
"""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core.contract import complete
from maxmargin.core.kernel import implemented

# C times a sample weight: beyond it, one rounding of a score outweighs all else.
LARGEST_MASS = 1e15
# Weights of single precision carry about six digits: enough down to this tolerance.
SINGLE_PRECISION_TOL = 1e-4
SINGLE_PRECISION_MASS = 1e4


@dataclass
class Encoded:
    """Training data ready for a solver, and what the estimator will know after it."""

    batch: Any
    n_weights: int
    dtype: Any
    weights: np.ndarray  # sample weights
    attributes: dict = field(default_factory=dict)
    feature_of_row: np.ndarray | None = None  # if features were renumbered for training
    first: Encoded | None = None  # what is known for sure: core/partial.py
    # weights that must be so: solvers/block_coordinate.py
    nonnegative: np.ndarray | None = None
    C: float | None = None  # by a rule from the data, if that was asked for

    def arranged(self, w: np.ndarray) -> np.ndarray:
        """The weights with a row per feature as they were numbered before training."""
        if self.feature_of_row is None:
            return w
        rows = w.reshape(-1, self.batch.width)
        found = rows.copy()
        found[self.feature_of_row] = rows[: len(self.feature_of_row)]
        return found.ravel()


@dataclass(frozen=True)
class Training:
    """What a structure may want to know of the fit that it encodes data for."""

    sample_weight: Any = None  # as the user gave it: check_weights() reads it
    C: float | None = None  # None: by a rule, which may depend on the data
    objective: str = "hinge"
    tol: float = 0.01
    n_jobs: int = 1
    max_time: float | None = None

    def dtype(self, values, C: float, weights=(1.0,)) -> Any:
        """That of w: float32 if the features survive it, and tol and C_i |x|^2 allow it.

        Dual variables of the size of 1 / |x|^2 must be seen beside the mass C_i. For
        structures with many weights, whose features (unscaled) are the numbers given.
        """
        if values.dtype != np.float32 or self.tol < SINGLE_PRECISION_TOL:
            return np.float64
        largest = float(np.abs(values).max(initial=0.0))
        mass = C * max(float(np.max(weights)), 1.0)
        return np.float32 if mass * largest**2 <= SINGLE_PRECISION_MASS else np.float64


def hidden(batch) -> bool:
    """Whether some true output of this batch is only partly known.

    A batch with a field ``known`` says slot by slot which ones are; one without it
    always hides something, if it can complete.
    """
    if not isinstance(batch, tuple):
        return getattr(batch, "hides", False)
    if not implemented(complete, type(batch)):
        return False
    known = getattr(batch, "known", None)
    return known is None or not bool(np.all(known))


def masses(C: float, weights: np.ndarray) -> np.ndarray:
    """C_i = C * weight, 0 where the weight is 0; refuses numbers beyond precision."""
    if math.isinf(C):
        return np.where(weights > 0, math.inf, 0.0)
    heaviest = float(weights.max(initial=0.0))
    if C * heaviest > LARGEST_MASS:
        raise ValueError(
            f"C times the sample weight is {C:g} * {heaviest:g}, but at most "
            f"{LARGEST_MASS:g} is possible without loss of precision: choose a smaller "
            "C or smaller weights."
        )
    return C * weights


def check_weights(sample_weight, n: int) -> np.ndarray:
    """Sample weights as floats: one per sample, finite, not negative, not all zero."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.asarray(sample_weight)
        if weights.dtype.kind not in "biufO":  # numpy would read texts and drop 1j
            raise TypeError
        weights = weights.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            "sample_weight holds something that is not a number: give one weight per "
            "sample, finite and zero or more."
        ) from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but there are {n} samples: give "
            "one weight per sample."
        )
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{bad[0]}] is {weights[bad[0]]}: weights must be finite and "
            "zero or more."
        )
    if not weights.any():
        raise ValueError("all sample weights are zero: nothing is left to learn from.")
    return weights


# what C=None means --------------------------------------------------------------------


def C_of(model: Any, encoded: Any = None) -> float:
    """The C to train with: the parameter, else what the rule says."""
    if model.C is not None:
        return float(model.C)
    found = getattr(encoded, "C", None)
    return float(
        C_without_data(type(model), model.objective) if found is None else found
    )


def C_without_data(family: type, objective: str) -> float:
    """The rule of a family as far as it does not depend on the data."""
    default = inspect.signature(family.__init__).parameters["C"].default
    if default is not None:
        return default
    return getattr(family, "_C_by_objective", {}).get(objective, 1.0)


# inputs and outputs as lists ----------------------------------------------------------


def listed_inputs(name, values, what) -> list:
    try:
        values = iter(values)
    except TypeError:
        raise ValueError(
            f"{name} is {values!r}, which holds no samples: give a list of {what}, also "
            "for one."
        ) from None
    return list(values)


def check_lengths(X, y):
    if X is None or y is None:
        raise ValueError("both X and y are needed: one true output per input.")
    X, y = listed_inputs("X", X, "inputs"), listed_inputs("y", y, "outputs")
    if len(X) != len(y):
        raise ValueError(
            f"X has {len(X)} samples, but y has {len(y)}: give one output per input."
        )
    if not X:
        raise ValueError("X is empty: at least one sample is needed.")
    return X, y
