"""StructuralSVM: train any structured problem."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.encoded import Encoded, check_lengths, check_weights, listed_inputs
from maxmargin.core.listed import given_or
from maxmargin.core.problem import has_own
from maxmargin.core.problems.answers import losses, predict
from maxmargin.core.problems.functions import FunctionBatch
from maxmargin.core.problems.joint_kernel import (
    KernelDoor,
    basis_state,
    open_door,
    restored_basis,
)
from maxmargin.core.saved import Saved
from maxmargin.core.structure import (
    Outputs,
    check_k,
    class_name,
    missing_loss,
    predicted,
    prepared,
    state_of,
    with_state,
)
from maxmargin.engine.prediction import over_cluster
from maxmargin.files.model_values import Refused, encode
from maxmargin.fitting.calibration import Chances, of_parts, temperature_of
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.parameters import StructuralSVMParameters
from maxmargin.fitting.saving import restore_shared, shared_state
from maxmargin.metrics.losses import LossReport
from maxmargin.views.view import View
from maxmargin.views.written import written

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class StructuralSVM(StructuralSVMParameters, MaxMarginEstimator, init=False):
    """Structural support vector machine for a problem of your own.

    Minimises ``1/2 |w|^2 + C sum_i s_i H_i(w)`` (see ``maxmargin.core.formulation``), where
    s_i is the sample weight and H_i the largest rescaled violation of example i.

    Parameters
    ----------
    problem : Problem or Structure
        A few Python methods (:class:`maxmargin.Problem`), or a compiled structure
        (``maxmargin.core.structure.Structure``). It is copied, never changed.
        :func:`maxmargin.save` keeps its attributes, or its ``get_state()``, and the name
        of its class; pass the class to ``load(path, structure=...)``.
    C : float or None, default 1.0
        Weight of the losses against the size of w; ``inf`` demands a hard margin, None is
        the rule of the estimator (``docs/data-formats.md``). ``C_`` is the value used.
    rescaling : {"margin", "slack"}
        Whether a larger loss requires a larger margin, or makes a violation count more.
    penalty : {"linear", "quadratic"}
        Whether the objective has the violations themselves, or their squares.
    solver : {"auto", "block-coordinate", "one-slack", "n-slack", "proximal-bundle",
        "perceptron", "passive-aggressive", "subgradient"}
        "auto" is block-coordinate, and switches to one-slack when the gap stalls if there
        are few weights. The last three are baselines without a dual, so their certificates
        prove little.
    tol : float, default 0.01
        Stop when (primal - dual) / primal <= tol, proved.
    max_iter : int or None
        Largest number of passes; the best weights so far are kept. None is 1000 passes (10
        for perceptron and passive-aggressive, 50 for subgradient).
    max_time : float or None
        Time limit in seconds. It also ends long passes, but then the weights are certified,
        which takes one more search per sample.
    warm_start : bool
        Start ``fit`` from the dual point of the last fit, as far as the data match. For a
        Problem: the samples with equal x and y, if the problem is equal, too; objects
        changed in place count as equal, so pass new ones. For a structure: equal batches,
        so that only C and sample weights may change.
    n_jobs : int or None
        Threads for training and prediction, -1 for one per core; fewer are used if there is
        little to do. With one, weights are the same in every run, bit for bit; with several
        the certificate is the same, but not the last digits. A :class:`maxmargin.Problem`
        gains nothing from threads: it is searched in this many processes if a search takes
        a millisecond or more (``docs/scaling.md``).
    random_state : int, RandomState or None
        Order of visits. None is a fixed seed: equal data give equal weights.
    verbose : int
        1 shows progress and, if it can be estimated, the time left; 2 writes each history
        row as a line of JSON; both on standard error (``docs/scaling.md``).
    callbacks : list of callables or None
        Called with each history row; returning True stops the fit. One that raises an
        exception is skipped from then on, with a warning. See :mod:`maxmargin.callbacks`.
    objective : {"hinge", "log", "perceptron", "passive-aggressive"}
        What is minimised: hinges (max-margin); log-losses -log p(y), where p is
        exp(score) / Z over all outputs (a conditional random field; for structures with
        sums, such as a :class:`maxmargin.DynamicProgram`; solvers "exponentiated" and
        "lbfgs"); or the averaged baselines of these names. See ``docs/objectives.md``.
    engine : None, "dask", dask.distributed.Client or "auto"
        Where to train. None is this process, in ``n_jobs`` threads. On a cluster, that of
        the current Dask client or of the given one, every worker has a shard of the data,
        and all take steps at the same time; ``n_jobs`` threads encode the data here. "auto"
        uses the current client if the data are large enough. On a cluster, every fit starts
        from zero, whatever ``warm_start`` says. See ``docs/scaling.md``.
    checkpoint : str, path, :class:`maxmargin.Checkpoint` or None
        A folder for the state of the fit, written once a minute, after Ctrl-C and at the
        end, so that ``kill -9`` loses at most a minute. See ``docs/scaling.md``.
    resume : bool
        Continue from the checkpoint of the same fit in that folder, to the same weights as
        if it had never stopped; if there is none yet, start from the beginning.

    Attributes
    ----------
    coef_ : ndarray, the weights w
    certificate_ : Certificate(primal, dual, gap, relative_gap, exact)
    history_ : list of dict, one per pass
    n_iter_, converged_ : int, bool
    dev_, choice_ : after ``fit(..., dev=...)``: the held-out score of the weights kept, and
        with ``Cs`` a row for each C that was tried
    calibration_ : after :meth:`calibrate`: how, and what it changed
    structure_ : the copy of ``problem`` that was fitted
    """

    _model_name = "StructuralSVM.v1"
    _params_in_state = ("problem",)

    @over_cluster()
    def predict(self, X: Any) -> list[Any]:
        """The best output for every input."""
        check_is_fitted(self, "coef_")
        if is_structure(self.structure_):
            return Outputs(predicted(self.structure_, X, self.coef_, self._threads()))
        X = listed_inputs("X", X, "inputs")
        return Outputs(predict(self._door(), X, self.coef_))

    def show(self, x: Any, y: Any = None, **options: Any) -> View:
        """What is predicted for the input x, to look at in a notebook.

        With the true output y, that and the loss. A problem or structure that has a method
        ``show(x, predicted, y)`` draws it itself, and gets the ``options``; other outputs
        are shown as they draw themselves, or as Python writes them.
        """
        found, parts = self._shown(x)
        own = getattr(self.structure_, "show", None)
        if own is not None:
            return own(x, found, y, **options)
        if options:
            raise ValueError(
                f"show() does not know {', '.join(options)}: only the method show(x, "
                f"predicted, y) of {type(self.structure_).__name__} would take options."
            )
        remark = ""
        if y is not None:
            parts = [*parts, ("True", y)]
            with suppress(NotImplementedError):
                remark = f"Loss: {self._losses([x], [y], [found])[0]:.4g}."
        return written(parts, remark)

    def _shown(self, x) -> tuple[Any, list[tuple[str, Any]]]:
        """(what is predicted, what is shown of it: each with a heading)."""
        found = self.predict([x])[0]
        return found, [("Predicted", found)]

    def _door(self):
        """The problem as ``functions.py`` asks it."""
        if getattr(self, "_basis", None) is None:
            return self.structure_
        return KernelDoor(self.structure_, self._basis)

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[Any, float]]]:
        """The k best outputs of every input with their scores, best first.

        For structures that rank outputs, such as a :class:`maxmargin.DynamicProgram`.
        """
        ask = self._asked("predict_k_best")
        return ask(
            listed_inputs("X", X, "inputs"), self.coef_, check_k(k), self._threads()
        )

    def predict_marginals(self, X: Any) -> list[Any]:
        """Probabilities of parts under exp(score) / Z, for structures that know them.

        Scores of a maximum-margin model are not calibrated: these rank the parts, but
        0.9 need not mean right nine times out of ten, unless ``calibrate`` has seen
        held-out data.
        """
        ask = self._asked("predict_marginals")
        w = self.coef_ / temperature_of(self)
        return ask(listed_inputs("X", X, "inputs"), w, self._threads())

    def _chances(self, X, y, predicted) -> Chances:
        X, y = check_lengths(X, y)
        self._calibrated_by("predict_marginals", "temperature")
        parts_of = self._calibrated_by("parts_of", "temperature")
        said: list[float] = []
        right: list[bool] = []
        tables = self.predict_marginals(X)
        for x, table, truth, found in zip(X, tables, y, predicted, strict=True):
            true = set(parts_of(x, truth))
            for part in parts_of(x, found):
                said.append(table.get(part, 0.0))
                right.append(part in true)
        return of_parts(said, right)

    def _margins(self, X) -> np.ndarray:
        self._calibrated_by("predict_k_best", "isotonic")
        return super()._margins(X)

    def _calibrated_by(self, name, method):
        """The method of the structure that a calibration needs."""
        check_is_fitted(self, "coef_")
        found = getattr(self.structure_, name, None)
        if found is None:
            raise ValueError(
                f"calibrate(method={method!r}) needs {name}(), and "
                f"{type(self.structure_).__name__} has no such method: only some "
                "structures, such as a DynamicProgram, can be calibrated so."
            )
        return found

    def _asked(self, name):
        """The method of that name of a structure which offers it."""
        check_is_fitted(self, "coef_")
        method = getattr(self.structure_, name, None)
        if method is None:
            raise NotImplementedError(
                f"{type(self.structure_).__name__} has no {name}(): only some "
                "structures, such as a DynamicProgram, can answer this."
            )
        return method

    def _right(self, X, y) -> list[bool]:
        return [loss == 0 for loss in self._losses(*check_lengths(X, y))]

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Minus the average loss of the predictions: greater is better."""
        check_is_fitted(self, "coef_")
        X, y = check_lengths(X, y)
        weights = check_weights(sample_weight, len(X))
        return -float(np.average(self._losses(X, y), weights=weights))

    def evaluate(self, X: Any, y: Any, *, predicted: Any = None) -> LossReport:
        """The average loss of predictions, and the share of those that are right.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        check_is_fitted(self, "coef_")
        X, y = check_lengths(X, y)
        return LossReport.of(self._losses(X, y, predicted))

    def _losses(self, X, y, predicted=None):
        """The loss of every prediction."""
        structure = self.structure_
        compares = callable(getattr(structure, "loss", None))  # not a parameter
        if not (hasattr(structure, "losses") or compares):
            raise NotImplementedError(missing_loss(structure))
        found = given_or(predicted, lambda: self.predict(X), len(X))
        if not is_structure(structure):
            return losses(structure, y, found)
        if hasattr(structure, "losses"):  # of outputs that need x to be compared
            return structure.losses(X, y, found)
        return [structure.loss(a, b) for a, b in zip(y, found, strict=True)]

    def _problem(self) -> Any:
        """What is fitted; a family makes it of its own parameters."""
        if isinstance(self.problem, type):
            name = self.problem.__name__
            raise ValueError(
                f"problem is the class {name}, not an object: write {name}()."
            )
        return self.problem

    def _encode(self, X, y, sample_weight) -> Encoded:
        problem = self._problem()
        structure, basis = copied(problem), None
        if is_structure(structure):
            encoded = prepared(structure, X, y, self._training(sample_weight))
        else:
            X, y = check_lengths(X, y)
            weights = check_weights(sample_weight, len(X))
            asked = copy.deepcopy(problem) if self.warm_start else None
            door = structure
            if has_own(structure, "joint_kernel"):
                door = open_door(structure, X, y)
            batch = FunctionBatch(door, X, y, asked)
            encoded = Encoded(batch, batch.n_features, np.float64, weights)
            basis = getattr(door, "basis", None)
        encoded.attributes |= {"structure_": structure, "_basis": basis}
        return encoded

    def _install(self, encoded: Encoded, w) -> None:
        self.coef_ = encoded.arranged(w)

    def _weights(self) -> np.ndarray:
        return self.coef_

    # saving (model_file.py) ------------------------------------------------------------

    def _get_state(self):
        arrays, plain = {"coef": self.coef_}, {}
        for name, value in state_of(self.structure_).items():
            if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
                arrays[f"structure.{name}"] = value
            else:
                plain[name] = _plain(self.structure_, name, value)
        state = {"structure": class_name(self.structure_), "attributes": plain}
        if getattr(self, "_basis", None) is not None:
            tables, joint = basis_state(self._basis)
            arrays, state = arrays | tables, state | joint
        return arrays, {**state, **shared_state(self)}

    @classmethod
    def _from_state(cls, params, arrays, state, structure=None):
        start, saved = "structure.", Saved(arrays, state)
        coef = saved.floats("coef", None, dtype=np.float64)
        tables = {
            name.removeprefix(start): array
            for name, array in arrays.items()
            if name.startswith(start)
        }
        if structure is None:  # that of a family
            structure = cls(**params)._problem()
        found = with_state(structure, saved.value("attributes", dict) | tables)
        if getattr(found, "n_weights", len(coef)) != len(coef):
            raise ValueError("weights and structure do not fit together")
        model = cls(**(params | ({"problem": found} if "problem" in params else {})))
        model.structure_, model.coef_ = found, coef
        if "joint" in state:
            model._basis = restored_basis(saved, found)
            if len(model._basis) != len(coef):
                raise ValueError("weights and basis do not fit together")
        return restore_shared(model, state)


def _plain(structure, name: str, value):
    """The value, if a model file can hold it."""
    try:
        encode(value)
        return value
    except Refused as reason:
        kind = type(structure).__name__
        raise ValueError(
            f"The model cannot be saved: the attribute {name!r} of its {kind} "
            f"{reason}. Give {kind} the methods get_state(), which returns a dict of "
            "plain values and arrays, and from_state(state), a class method that makes "
            "an object of it; or use pickle or joblib."
        ) from None


def is_structure(problem) -> bool:
    return hasattr(problem, "encode") and hasattr(problem, "output")


def copied(problem: Any) -> Any:
    """A copy for one fit, which may change it."""
    try:
        return copy.deepcopy(problem)
    except Exception as error:
        raise ValueError(
            f"The problem {type(problem).__name__} cannot be copied ({error}), but every "
            "fit works on a copy: let it open files, locks and connections in its methods, "
            "and not keep them."
        ) from error
