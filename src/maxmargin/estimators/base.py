"""What all estimators share: parameters, training, certificate, warm starts, paths."""

from __future__ import annotations

import math
import numbers
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

SOLVERS = (
    "auto",
    "block-coordinate",
    "one-slack",
    "n-slack",
    "perceptron",
    "subgradient",
)
# Passes of the baselines, which have no certificate to stop at.
BASELINE_PASSES = {"perceptron": 10, "subgradient": 50}
# Single precision carries about six digits: enough down to this tolerance.
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
    context: Any = None


class MaxMarginEstimator(BaseEstimator):
    """Base class; subclasses say how to encode X and y and what to make of w.

    Subclass hooks: ``_encode(X, y, sample_weight) -> Encoded`` (must not change self)
    and ``_install(encoded, w)`` (sets the fitted attributes).
    """

    def fit(self, X, y, sample_weight=None):
        """Train on inputs X and true outputs y.

        A call that raises leaves the estimator as it was. Ctrl-C ends training and keeps
        the best weights found so far.
        """
        settings = self._settings()
        encoded = self._encode(X, y, sample_weight)
        self._train(encoded, settings, getattr(self, "_dual_state", None))
        return self

    def path(self, X, y, Cs, sample_weight=None) -> list:
        """Fit one model per C, each started from the last; returns them in that order.

        The data are encoded once and stored planes are shared: an output that was once
        found stays a valid plane for every C.
        """
        Cs = [float(C) for C in Cs]
        models = [clone(self).set_params(C=C) for C in Cs]
        for model in models:
            model._settings()
        encoded = self._encode(X, y, sample_weight)
        state = None
        for position in np.argsort(Cs, kind="stable"):
            model = models[position]
            model._train(encoded, model._settings(), state, keep_state=True)
            state = getattr(model, "_dual_state", None)
            if state is not None and not self.warm_start:
                del model._dual_state
        return models

    # training --------------------------------------------------------------------------

    def _train(self, encoded: Encoded, settings, state, keep_state=False) -> None:
        from maxmargin.solvers import registry
        from maxmargin.solvers.driver import drive
        from maxmargin.solvers.task import Task
        from maxmargin.solvers.warm_start import DualState

        form, limits, name, seed, n_jobs = settings
        C = float(self.C)
        with np.errstate(invalid="ignore"):
            mass = np.where(encoded.weights > 0, C * encoded.weights, 0.0)
        dtype = np.float64 if math.isinf(C) else encoded.dtype
        task = Task(encoded.batch, encoded.n_weights, form, mass, dtype, n_jobs, seed)
        keep = self.warm_start or keep_state
        planes = None
        if keep and state is not None:
            planes = state.planes_for(task)
        solver = registry.make(name, task, planes)
        solution = drive(task, solver, limits)
        if not solution.converged and name not in BASELINE_PASSES:
            _warn_unconverged(solution, limits.tol)
        self._install(encoded, solution.w)
        for attribute, value in encoded.attributes.items():
            setattr(self, attribute, value)
        self.certificate_ = solution.certificate
        self.history_ = solution.history
        self.n_iter_ = len(solution.history)
        self.converged_ = solution.converged
        if keep and hasattr(solver, "planes"):
            self._dual_state = DualState(encoded.batch, solver.planes)
        elif hasattr(self, "_dual_state"):
            del self._dual_state

    def _settings(self):
        """Check the parameters that all estimators share, before any work."""
        from maxmargin.formulation import make_form
        from maxmargin.solvers.result import Limits

        _positive("C", self.C, "a positive number, or inf for a hard margin")
        _positive("tol", self.tol, "a positive number such as 0.01", finite=True)
        if self.solver not in SOLVERS:
            raise ValueError(
                f"solver={self.solver!r} is not known; choose one of "
                f"{', '.join(SOLVERS)}."
            )
        if self.max_iter is not None:
            _positive("max_iter", self.max_iter, "a positive whole number or None")
        if self.max_time is not None:
            _positive("max_time", self.max_time, "seconds, positive, or None")
        name = self.solver
        form = make_form(self.rescaling, self.penalty, float(self.tol))
        limits = Limits(
            tol=float(self.tol),
            max_iter=self.max_iter or BASELINE_PASSES.get(name),
            max_time=self.max_time,
            verbose=int(self.verbose),
            callbacks=tuple(self.callbacks or ()),
        )
        # None means reproducible, not random: a fit should be a function of its input.
        seed = 0
        if self.random_state is not None:
            seed = check_random_state(self.random_state).randint(2**31 - 1)
        return form, limits, name, seed, self._threads()

    def _threads(self) -> int:
        return effective_n_jobs(self.n_jobs)

    def _working_dtype(self, values):
        """float32 if the features survive it, and neither tol nor C |x|^2 forbids it.

        Dual variables of the size of 1 / |x|^2 must be seen beside the mass C.
        """
        if values.dtype != np.float32 or self.tol < SINGLE_PRECISION_TOL:
            return np.float64
        largest = float(np.abs(values).max(initial=0.0))
        return (
            np.float32 if self.C * largest**2 <= SINGLE_PRECISION_MASS else np.float64
        )


def check_weights(sample_weight, n: int) -> np.ndarray:
    """Sample weights as floats: one per sample, finite, not negative, not all zero."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
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


def _positive(name, value, wanted, finite=False) -> None:
    number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not number or not value > 0 or (finite and math.isinf(value)):
        raise ValueError(f"{name}={value!r} is not possible: it must be {wanted}.")


def _warn_unconverged(solution, tol) -> None:
    warnings.warn(
        f"Training {solution.status} at a relative gap of "
        f"{solution.certificate.relative_gap:.3g} (tol={tol:g}). The weights are the best "
        "found and certificate_ is valid; allow more max_iter or max_time, or a larger "
        "tol, for less.",
        ConvergenceWarning,
        stacklevel=4,
    )
