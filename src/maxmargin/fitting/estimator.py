"""What all estimators share: parameters, training, certificate, warm starts, paths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.encoded import (
    C_of,
    Encoded,
    Training,
    hidden,
)
from maxmargin.core.jobs import effective_jobs
from maxmargin.core.tables.scales import advice_on_scales
from maxmargin.core.warn import warn
from maxmargin.engine.engines import portable
from maxmargin.fitting.calibration import (
    Chances,
    calibrate,
    confidence,
    ranked_margins,
)
from maxmargin.fitting.choosing import choose_C
from maxmargin.fitting.fit import Settings, fit, settings_of
from maxmargin.fitting.path import path
from maxmargin.fitting.saving import Saving
from maxmargin.metrics.report import Report
from maxmargin.metrics.scorer import Scorer
from maxmargin.metrics.scorers import loss
from maxmargin.solvers import registry
from maxmargin.solvers.result import Solution, still_zero
from maxmargin.solvers.watching.held_out import STOPPED_EARLY

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class MaxMarginEstimator(Saving, BaseEstimator):
    """Base class of all: parameters, training and what is said of it.

    A family has a structure (``core/structure.py``), whose class is ``_structure_class``
    and whose fields are those of the parameters that it needs. It encodes, decodes, names
    the weights and says what a file keeps; a fitted model has it as ``structure_``.
    """

    _structure_class: Any = None
    objective = "hinge"  # of a family without that parameter
    _objectives: Mapping[str, Any] = registry.OBJECTIVES
    _no_sums = ""  # why a family has no log objective
    _scorers: tuple[Scorer, ...] = (loss,)  # to choose by: the first of the report made
    _dev_names: tuple[str, ...] = ("X", "y")  # of held-out data
    # what only some fits leave behind
    _left: tuple[str, ...] = (
        "rounds_",
        "n_outer_",
        "restarts_",
        "dev_",
        "choice_",
        "calibration_",
        "feature_names_in_",
    )
    _compares_labels = False  # whether y is made of labels of classes_, and these alone
    _decodes_loss = False  # whether predictions of a log model depend on the loss

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        dev: Any = None,
        Cs: Iterable[float] | None = None,
    ) -> Self:
        """Train on inputs X and true outputs y.

        A call that raises leaves the estimator as it was. Ctrl-C ends training and keeps
        the best weights found so far.

        Parameters
        ----------
        X, y : inputs and their true outputs
        sample_weight : array or None
            How much every sample counts.
        dev : (X_dev, y_dev) or None
            Held-out data. Training ends early where their score no longer improves, and
            keeps the weights with the best score (``docs/choosing-c.md``). ``dev_`` is
            that score.
        Cs : list of float or None
            With ``dev``: train with each C in turn, none of them stopped early, and keep
            the model that is best on the held-out data. ``choice_`` has their scores, and
            ``C_`` is the value chosen.
        """
        if Cs is None:
            fit(self, X, y, sample_weight, dev)
        else:
            choose_C(self, Cs, dev, partial(path, self, X, y, sample_weight))
        return self

    def path(
        self,
        X: Any,
        y: Any,
        Cs: Iterable[float],
        sample_weight: ArrayLike | None = None,
    ) -> list:
        """Fit one model per C, each started from the last; returns them in that order.

        The data are encoded once and stored planes are shared: an output that was once
        found stays a valid plane for every C. The fits run from the smallest C to the
        largest. Ctrl-C ends them all: the models fitted so far are returned, the
        interrupted one with the best weights it has found, the others left out.
        """
        return path(self, X, y, sample_weight, Cs)

    def calibrate(self, X: Any, y: Any, method: str = "temperature") -> Self:
        """Fit what the model says of its outputs to held-out data, as probabilities.

        See ``docs/evaluation.md``. Predictions stay as they are; another ``fit`` undoes it.

        Parameters
        ----------
        X, y : inputs that training has not seen, and their true outputs
        method : {"temperature", "isotonic"}
            "temperature" divides scores by a number, so that ``predict_proba`` or
            ``predict_marginals`` are right as often as they say. "isotonic" makes
            ``predict_confidence`` of the margin between the best output and the second:
            the probability that the whole prediction is right.

        Returns
        -------
        self, with ``calibration_``: a :class:`~maxmargin.fitting.calibration.Calibration`
        """
        calibrate(self, X, y, method)
        return self

    def predict_confidence(self, X: Any) -> np.ndarray:
        """How probable it is that each prediction is right as a whole.

        After ``calibrate(X_held_out, y_held_out, method="isotonic")``.
        """
        return confidence(self, X)

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

    # the end of a fit -------------------------------------------------------------------

    def _take(self, encoded: Encoded, solution: Solution, objective=None) -> None:
        """Set the fitted attributes: the family's, and what every model knows of its fit.

        With the ``objective``, it is said first if the fit ended too early.
        """
        good = solution.converged or solution.status == STOPPED_EARLY
        if good or registry.passes_of(self._objective().solver):
            warn_zero_weights(solution.w, solution.certificate.primal)
        elif objective is not None and not registry.passes_of(self._solver_name()):
            names = encoded.attributes.get("feature_names_in_")
            warn_unconverged(solution, self._tolerance(), objective, names)
        self._put(encoded, solution.w)
        if solution.dev is not None:
            self.dev_ = solution.dev
        self.certificate_ = solution.certificate
        self.history_ = solution.history
        self.n_iter_ = len(solution.history)
        self.converged_ = solution.converged
        self._installed(encoded, solution, objective)

    def _put(self, encoded: Encoded, w: np.ndarray) -> None:
        """All that prediction needs, and nothing that only an earlier fit has left."""
        for name in self._left:
            self.__dict__.pop(name, None)
        for attribute, value in encoded.attributes.items():
            setattr(self, attribute, value)
        self._install(encoded, w)
        self.C_ = C_of(self, encoded)

    # the structure ---------------------------------------------------------------------

    def _structure(self, like: Any = None) -> Any:
        """One with the parameters as they are now, that knows what ``like`` does."""
        new = self._structure_class() if like is None else copy(like)
        for name in self._shared_with(new):
            setattr(new, name, getattr(self, name))
        return new

    def _shared_with(self, structure: Any) -> list[str]:
        """The parameters that are fields of the structure, too."""
        declared: Any = self.declared  # type: ignore[attr-defined]
        return [name for name in vars(structure) if name in declared]

    def _fitted(self) -> Any:
        """The structure for predictions."""
        check_is_fitted(self, "coef_")
        structure = getattr(self, "structure_", None)  # without: weights of one's own
        if structure is not None and all(
            getattr(self, name) is getattr(structure, name)
            for name in self._shared_with(structure)
        ):
            return structure  # as it was trained, or loaded, with checked parameters
        new = self._structure(structure)
        read = [name for name in self._shared_with(new) if name not in self._unread()]
        if read:
            self._check_parameters(*read)
        return new

    def _weights(self) -> np.ndarray:
        """w, made of the fitted attributes."""
        return self._fitted().join(self)

    def _predicted(self, X: Any) -> Any:
        """The best output for every input."""
        structure = self._fitted()
        return structure.predict(X, structure.join(self), self._threads())

    def _training(self, sample_weight: Any) -> Training:
        return Training(
            sample_weight,
            self.C,  # type: ignore[attr-defined]
            self.objective,
            self._tolerance(),
            self._threads(),
            self.max_time,  # type: ignore[attr-defined]
        )

    # hooks -----------------------------------------------------------------------------

    # ``_machines(encoded, settings, name, values)`` of a family that finds a basis while it
    # trains: (position, solution) for values of a parameter, all of them in one run
    _machines: Any = None

    def _encode(self, X: Any, y: Any, sample_weight: Any) -> Encoded:
        """Data ready for a solver; must not change self."""
        structure = self._structure()
        encoded = structure.prepare(X, y, self._training(sample_weight))
        encoded.attributes |= {"structure_": structure, **structure.attributes()}
        return encoded

    def _install(self, encoded: Encoded, w) -> None:
        """Set the fitted attributes that are made of w."""
        for name, value in self.structure_.split(encoded.arranged(w)).items():
            setattr(self, name, value)

    def _installed(self, encoded: Encoded, solution, objective) -> None:
        """What a family wants to know when all other attributes are set."""

    def _make_objective(self, *arguments):
        """What is minimised; families whose objectives count something override it."""
        l1 = float(getattr(self, "l1", 0.0))
        record = self._objective()
        unknown = bool(record.summed) and hidden(arguments[0])
        return registry.make_objective(record, arguments, l1, unknown)

    def _objective(self) -> registry.ObjectiveRecord:
        return self._objectives[self.objective]

    def _solver_name(self) -> str:
        return self._objective().solver or self.solver

    def _settings(self) -> Settings:
        """Check all parameters, before any work."""
        return settings_of(self)

    def _evaluated(self, *held_out: Any) -> Report:
        """The report that it is chosen by."""
        return self.evaluate(*held_out, **self._scorers[0].options)  # type: ignore[attr-defined]

    def _chances(self, X: Any, y: Any, predicted: Any) -> Chances:
        """What the model says of parts of outputs, at its temperature."""
        raise ValueError(
            f"{type(self).__name__} has no probabilities that a temperature could "
            "calibrate, as it does not sum over outputs."
        )

    def _margins(self, X: Any) -> np.ndarray:
        """By how much each best output beats the second."""
        if not hasattr(self, "predict_k_best"):
            raise ValueError(
                f"{type(self).__name__} does not find second best outputs, so there are "
                "no margins that calibrate could make probabilities of."
            )
        return ranked_margins(self.predict_k_best(X, 2))

    def _check(self) -> None:
        """Refuse parameters of the family that do not go together."""

    def _tolerance(self) -> float:
        return float(self.tol)

    def _threads(self) -> int:
        return effective_jobs(self.n_jobs)

    def _blas_threads(self) -> int:
        """Of BLAS, as long as a fit runs: most products are too short for more."""
        return 1


# what is said of a fit that did not go as hoped ------------------------------------------

ZERO = (
    "Training ended with weights that are all zero: every output scores the same, and "
    "predictions say nothing about X. Either no feature has to do with y, or no output "
    "costs more than another, or the hidden parts that training began with say nothing. "
    "Check features, y and loss; then try a larger C, or another init where there is one."
)
# Of the objective, C times losses: smaller weights, C times features, are what sums that
# cancel leave of rounding, unless features are far smaller than one.
ROUNDING = 1e-12
# From this share of the gap on, a search that only bounds is what keeps it open.
SEARCH_SHARE = 0.5


def warn_zero_weights(w, primal: float = 0.0) -> None:
    """A certificate of w = 0 is true, and looks like success: say that it is none."""
    least = ROUNDING * primal if np.isfinite(primal) else 0.0
    if np.abs(w).max(initial=0.0) <= least:
        warn(ZERO)


def warn_unconverged(solution, tol, objective, names=None) -> None:
    """Say how far a fit has come, what that means and what would help.

    ``names`` are those of the columns of X, where they have some.
    """
    certificate, status = solution.certificate, solution.status
    limited = status.startswith("stopped after")
    if objective.hard and math.isinf(certificate.primal):
        text = (
            f"Training {status}, and no weights that separate the data were found yet: "
            "the weights are the last ones tried, and certificate_ has no finite primal."
        )
        if limited:
            text += " Allow more max_iter or max_time, or choose a finite C."
    else:
        text = (
            f"Training {status} at a relative gap of {certificate.relative_gap:.3g} "
            f"(tol={tol:g}). The weights are the best found"
        )
        text += " and certificate_ is valid." if certificate.exact else "."
        share = solution.search_gap / max(certificate.gap, 1e-300)
        if share >= SEARCH_SHARE:
            text += (
                f" {min(share, 1):.0%} of this gap is what the search for violated outputs "
                "leaves open, and more passes cannot close that: give a Problem "
                "most_violated() or outputs(), or name its smallest_loss (a structure: "
                "argmax_rescaled() or least_loss()), or allow a larger tol."
            )
        elif limited:
            text += " Allow more max_iter or max_time, or a larger tol, for less."
            text += advice_on_scales(objective.batch, names)
    text += still_zero(solution.w)
    warn(text, ConvergenceWarning)
