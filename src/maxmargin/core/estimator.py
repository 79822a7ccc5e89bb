"""What all estimators share: parameters, training, certificate, warm starts, paths."""

from __future__ import annotations

import math
import numbers
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from maxmargin.core.blas import at_most
from maxmargin.core.choices import (
    OBJECTIVES,
    check_objective,
    check_shards,
    engine_of,
    wanted_C,
)
from maxmargin.core.compiling import announce, say_on_stderr
from maxmargin.core.data_weight import C_of
from maxmargin.core.interrupts import INTERRUPTED, Whole
from maxmargin.core.parameters import effective_jobs
from maxmargin.core.unconverged import warn_unconverged
from maxmargin.core.unlabelled import check_unlabelled_weight
from maxmargin.core.unused_columns import check_batch
from maxmargin.core.zero_weights import warn_zero_weights
from maxmargin.engine.choose import check_engine, portable

# Passes of the baselines, which have no certificate to stop at.
BASELINE_PASSES = {"perceptron": 10, "passive-aggressive": 10, "subgradient": 50}
BASELINE_PASSES["boosting"] = 200  # rounds
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
    nonnegative: np.ndarray | None = None  # weights that must be so: solvers/signs.py
    C: float | None = None  # by a rule from the data, if that was asked for


class MaxMarginEstimator(BaseEstimator):
    """Base class; subclasses say how to encode X and y and what to make of w.

    Subclass hooks: ``_encode(X, y, sample_weight) -> Encoded`` (must not change self)
    and ``_install(encoded, w)`` (sets the fitted attributes).
    """

    objective = "hinge"  # of a family without that parameter
    _objectives = OBJECTIVES
    _no_sums = ""  # why a family has no log objective
    _decodes_loss = False  # whether predictions of a log model depend on the loss

    def fit(self, X, y, sample_weight=None):
        """Train on inputs X and true outputs y.

        A call that raises leaves the estimator as it was. Ctrl-C ends training and keeps
        the best weights found so far.
        """
        from maxmargin.solvers.checkpoint import kept, place_of

        if self.C is not None:
            _positive("C", self.C, lambda: wanted_C(self, X))
        settings = self._settings()
        with at_most(1), kept(place_of(self)):
            encoded = self._encode(X, y, sample_weight)
            self._train(encoded, settings, getattr(self, "_dual_state", None))
        return self

    def path(self, X, y, Cs, sample_weight=None) -> list:
        """Fit one model per C, each started from the last; returns them in that order.

        The data are encoded once and stored planes are shared: an output that was once
        found stays a valid plane for every C. The fits run from the smallest C to the
        largest. Ctrl-C ends them all: the models fitted so far are returned, the
        interrupted one with the best weights it has found, the others left out.
        """
        from maxmargin.core.path import train_path
        from maxmargin.solvers.checkpoint import kept, path_places

        try:
            Cs = list(Cs)
        except TypeError:
            raise ValueError(
                f"Cs={Cs!r} is not possible: give a list of values of C, also for one."
            ) from None
        for C in Cs:
            _positive("C", C, lambda: wanted_C(self, X))
        Cs = [float(C) for C in Cs]
        models = [clone(self).set_params(C=C) for C in Cs]
        settings = [model._settings() for model in models]
        places = path_places([limits.checkpoint for _, limits, *_ in settings], Cs)
        with at_most(1), kept(*places):
            encoder = models[int(np.argmax(Cs))] if Cs else self  # of most precision
            encoded = encoder._encode(X, y, sample_weight)
            fitted = train_path(models, encoded, Cs, settings, places, self.warm_start)
        return [models[position] for position in sorted(fitted)]

    # copies ----------------------------------------------------------------------------

    def __getstate__(self):
        state = dict(super().__getstate__())
        if "engine" in state:  # a connection cannot go with it
            state["engine"] = portable(state["engine"])
        return state

    def __sklearn_clone__(self):
        engine = getattr(self, "engine", None)
        if portable(engine) is engine:
            return super().__sklearn_clone__()
        return clone(copy(self)).set_params(engine=engine)

    # training --------------------------------------------------------------------------

    def _train(self, encoded: Encoded, settings, state, keep_state=False) -> str:
        """Train and set the fitted attributes; returns how training ended."""
        from maxmargin.core.completion import hidden
        from maxmargin.files.atomic import require_room
        from maxmargin.solvers import registry
        from maxmargin.solvers.driver import drive
        from maxmargin.solvers.warm_start import DualState

        form, limits, name, seed, n_jobs = settings
        check_batch(encoded.batch, encoded.n_weights)
        if limits.verbose == 1:  # at 2, there are lines of JSON only
            announce(say_on_stderr)
        C = C_of(self, encoded)
        mass = masses(C, encoded.weights)
        dtype = np.float64 if math.isinf(C) else encoded.dtype

        def make(batch, easy=None, mass=mass):
            """The objective of a batch, or of some of its examples."""
            mass = mass if easy is None else np.where(easy, mass, 0.0)
            objective = self._make_objective(
                batch, encoded.n_weights, form, mass, dtype, n_jobs, seed
            )
            objective.nonnegative = encoded.nonnegative
            return objective

        require_room(encoded.n_weights * np.dtype(dtype).itemsize)
        if hidden(encoded.batch) and not self._sums_over_hidden(encoded.batch, name):
            from maxmargin.core.latent_training import train

            return train(self, encoded, make, name, limits, seed)
        engine = engine_of(self, encoded.batch, limits.tol)
        if engine is not None or hasattr(encoded.batch, "pieces"):
            return self._train_over_shards(encoded, make, mass, settings, engine)
        objective = make(encoded.batch)
        keep = self.warm_start or keep_state
        known = keep and state is not None
        planes = state.planes_for(objective) if known else None
        solver = registry.make(name, objective, planes)
        solution = drive(objective, solver, limits)
        with Whole(self) as late:
            solver.finish(solution)
            if not solution.converged and name not in BASELINE_PASSES:
                warn_unconverged(
                    solution,
                    limits.tol,
                    objective,
                    getattr(self, "feature_names_in_", None),
                )
            planes = solver.planes if keep else None
            del solver  # and its tables as large as w, before _install makes others
            self._finish(encoded, solution)
            if planes is not None:
                self._dual_state = DualState(encoded.batch, planes)
            elif hasattr(self, "_dual_state"):
                del self._dual_state
        return INTERRUPTED if late.came else solution.status

    def _train_over_shards(self, encoded, make, mass, settings, engine) -> str:
        """The same where examples lie in shards; a later fit starts from zero."""
        from maxmargin.solvers.by_piece import by_piece
        from maxmargin.solvers.driver import drive
        from maxmargin.solvers.sharded_training import over_shards

        check_shards(self)  # not yet, where a corpus on disk is why
        _, limits, name, *_ = settings
        if engine is None:
            training = nullcontext(by_piece(encoded.batch, make, name, mass))
        else:
            training = over_shards(engine, encoded.batch, make, name, mass)
        with training as (objective, solver):
            solution = drive(objective, solver, limits)
        with Whole(self) as late:
            if not solution.converged:
                warn_unconverged(
                    solution,
                    limits.tol,
                    objective,
                    getattr(self, "feature_names_in_", None),
                )
            del solver
            self._finish(encoded, solution)
            self.__dict__.pop("_dual_state", None)
        return INTERRUPTED if late.came else solution.status

    def _sums_over_hidden(self, batch, solver: str) -> bool:
        """Whether what is hidden is summed over, not completed."""
        from maxmargin.core.partial import is_partial

        if self.objective != "log" or not is_partial(batch):
            return False
        if solver not in ("auto", "lbfgs"):
            raise ValueError(
                f"solver={solver!r} cannot minimise objective='log' where labels are not "
                "known (None in y): choose one of auto, lbfgs."
            )
        return True

    def _finish(self, encoded: Encoded, solution) -> None:
        """Set the fitted attributes."""
        if solution.converged or self.objective in BASELINE_PASSES:
            # else it is said already
            warn_zero_weights(solution.w, solution.certificate.primal)
        for name in ("rounds_", "n_outer_", "restarts_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self._install(encoded, solution.w)
        for attribute, value in encoded.attributes.items():
            setattr(self, attribute, value)
        self.C_ = C_of(self, encoded)
        self.certificate_ = solution.certificate
        self.history_ = solution.history
        self.n_iter_ = len(solution.history)
        self.converged_ = solution.converged

    def _make_objective(self, *arguments):
        """What is minimised; families with more objectives override it."""
        if self.objective == "log":
            from maxmargin.core.completion import hidden

            l1 = float(getattr(self, "l1", 0.0))
            if hidden(arguments[0]):
                from maxmargin.solvers.marginal_likelihood import MarginalLikelihood

                return MarginalLikelihood(*arguments, l1=l1)
            from maxmargin.solvers.log_objective import LogObjective

            return LogObjective(*arguments, l1=l1)
        from maxmargin.core.objective import Objective

        return Objective(*arguments)

    def _solver_name(self) -> str:
        return self.objective if self.objective in BASELINE_PASSES else self.solver

    def _settings(self):
        """Check the parameters that all estimators share, before any work."""
        from maxmargin.core.formulation import make_form
        from maxmargin.solvers.checkpoint import place_of
        from maxmargin.solvers.result import Limits

        if self.C is not None:
            _positive("C", self.C, lambda: wanted_C(self))
        check_objective(self)
        check_unlabelled_weight(self)
        check_engine(getattr(self, "engine", None))
        if getattr(self, "engine", None) not in (None, "auto"):
            check_shards(self)
        tol = self._tolerance()
        name = self._solver_name()
        if self.max_iter is not None:
            wanted = "a positive whole number or None"
            _positive("max_iter", self.max_iter, wanted, kind=numbers.Integral)
        if self.max_time is not None:
            _positive("max_time", self.max_time, "seconds, positive, or None")
        form = make_form(self.rescaling, self.penalty, tol)
        limits = Limits(
            tol=tol,
            max_iter=self.max_iter or BASELINE_PASSES.get(name),
            max_time=self.max_time,
            verbose=_level(self.verbose),
            callbacks=_callables(self.callbacks),
            checkpoint=place_of(self),
        )
        # None means reproducible, not random: a fit should be a function of its input.
        seed = 0
        if self.random_state is not None:
            seed = check_random_state(self.random_state).randint(2**31 - 1)
        return form, limits, name, seed, self._threads()

    def _tolerance(self) -> float:
        _positive("tol", self.tol, "a positive number such as 0.01", finite=True)
        return float(self.tol)

    def _threads(self) -> int:
        return effective_jobs(self.n_jobs)

    def _working_dtype(self, values, weights=(1.0,), C=None):
        """That of w: float32 if the features survive it, and tol and C_i |x|^2 allow it.

        Dual variables of the size of 1 / |x|^2 must be seen beside the mass C_i. For
        families with many weights, whose features (unscaled) are the numbers given.
        """
        if values.dtype != np.float32 or self._tolerance() < SINGLE_PRECISION_TOL:
            return np.float64
        largest = float(np.abs(values).max(initial=0.0))
        mass = (C or C_of(self)) * max(float(np.max(weights)), 1.0)
        return np.float32 if mass * largest**2 <= SINGLE_PRECISION_MASS else np.float64


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


def _positive(name, value, wanted, finite=False, kind=numbers.Real) -> None:
    good = isinstance(value, kind) and not isinstance(value, bool) and value > 0
    try:
        good = good and not (math.isinf(value) and finite)
    except OverflowError:  # an integer beyond all floats
        good = False
    if not good:
        wanted = wanted if isinstance(wanted, str) else wanted()
        raise ValueError(f"{name}={value!r} is not possible: it must be {wanted}.")


def _level(verbose) -> int:
    if not isinstance(verbose, (numbers.Integral, np.bool_)):
        raise ValueError(
            f"verbose={verbose!r} is not possible: it must be 0 for silence, 1 for "
            "progress or 2 for a line of JSON per pass."
        )
    return int(verbose)


def _callables(callbacks) -> tuple:
    if callbacks is None:
        return ()
    if not isinstance(callbacks, (list, tuple)):
        raise ValueError(
            f"callbacks={callbacks!r} is not possible: it must be a list of functions, "
            "also for one, or None."
        )
    for i, callback in enumerate(callbacks):
        if not callable(callback):
            raise ValueError(
                f"callbacks[{i}] is {callback!r}, which cannot be called: give functions "
                "of one history row."
            )
    return tuple(callbacks)
