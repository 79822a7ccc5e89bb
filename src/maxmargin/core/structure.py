"""What a structure is to the rest of the library: the one protocol of all of them.

:class:`maxmargin.StructuralSVM` takes structures of users, and the estimator of a family
has one of its own. Required are ``fit``, ``encode`` and ``output`` (or the four functions
of a :class:`maxmargin.Problem`); all else is asked for only where it is needed:

=========================================== ==============================================
``fit(X, Y)``, ``encode(X)``, ``output``    training and prediction
``prepare(X, Y, training)``                 training, where more than a batch is needed
``split(w)``, ``join(fitted)``              weights as the attributes of a fitted model
``loss(y, y_hat)`` or ``losses(X, Y, Z)``   ``score``, and so grid searches
``predict(X, w, n_jobs)``                   outputs of all inputs together
``predict_k_best(X, w, k, n_jobs)``         per input, (output, score) from the best down
``predict_marginals(X, w, n_jobs)``         per input, probabilities of parts
``complete(x, w, ...)``                     the best output with some parts given
``hidden_start(batch, k)``                  hidden parts to begin with; None: the usual
``hidden_moves(batch, truths, w)``          others to try at a stationary point
``show(x, predicted, y)``                   a drawing for notebooks, y may be None
``get_state()``, ``from_state(state)``      saving, see :func:`state_of`
=========================================== ==============================================
"""

from __future__ import annotations

import copy
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.core.checks import whole
from maxmargin.core.decode import decode
from maxmargin.core.encoded import (
    Encoded,
    Training,
    check_lengths,
    check_weights,
    listed_inputs,
)
from maxmargin.core.saved import Saved


class Structure:
    """Base class of compiled structures.

    A subclass makes batches of its own ``NamedTuple`` class, for which the functions of
    ``core/contract.py`` are implemented. See docs/add-a-structure.md.

    Training and prediction need ``fit``, ``encode`` and ``output``; the ``score`` of an
    estimator, and so a grid search, needs ``loss`` too. What else can be there is said
    in ``core/structure.py``.
    """

    n_weights: int
    takes_lists = True  # False: X is one table, or another object of its own

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        """Data ready for a solver: the batch of ``fit`` with the weights of the samples.

        Structures that choose the precision of w, know only some of Y or have a rule for
        C say more. Like ``fit``, it is called on a copy.
        """
        X, Y = check_lengths(X, Y)
        weights = check_weights(training.sample_weight, len(X))
        batch = self.fit(X, Y)
        return Encoded(batch, self.n_weights, np.float64, weights)

    def split(self, w: np.ndarray) -> dict[str, Any]:
        """The weights as fitted attributes: ``coef_``, and others for other parts of w."""
        return {"coef_": np.array(w, np.float64)}

    def join(self, fitted: Any) -> np.ndarray:
        """w again, of an object with these attributes."""
        return fitted.coef_

    def attributes(self) -> dict[str, Any]:
        """What else a fitted model shows of its structure, such as ``classes_``."""
        return {}

    def saved(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """(arrays, plain values) that a model file of a family keeps of it."""
        return {}, {}

    def restore(self, saved: Saved, sizes: dict[str, int]) -> None:
        """Take these back from a file; ValueError if they do not fit together.

        ``sizes`` are those of the fields of the model (``fitting/saving.py``).
        """

    def fit(self, X, Y) -> Any:
        """Learn sizes, set ``n_weights``, and return the training batch.

        Called on a copy: the object that the user made is never changed.
        """
        raise NotImplementedError(f"{type(self).__name__} must define fit(X, Y).")

    def encode(self, X) -> Any:
        """The batch of new inputs."""
        raise NotImplementedError(f"{type(self).__name__} must define encode(X).")

    def output(self, batch: Any, i: int, labelling: Any) -> Any:
        """The output that a labelling of example i stands for."""
        raise NotImplementedError(
            f"{type(self).__name__} must define output(batch, i, labelling)."
        )

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> Any:
        """The best output for every input."""
        batch = self.encode(X)
        labels = decode(batch, w, n_jobs)
        return Outputs(
            self.output(batch, i, labels[a:b])
            for i, (a, b) in enumerate(pairwise(batch.start.tolist()))
        )

    def loss(self, y: Any, y_hat: Any) -> float:
        """What predicting y_hat costs when y is true; both as users write them."""
        raise NotImplementedError(missing_loss(self))


def predicted(structure: Any, X: Any, w: np.ndarray, n_jobs: int = 1) -> Any:
    """Its predictions, also of one that is no subclass of `Structure`."""
    if getattr(structure, "takes_lists", True):
        X = listed_inputs("X", X, "inputs")
    predict = getattr(structure, "predict", partial(Structure.predict, structure))
    return predict(X, w, n_jobs)


def prepared(structure: Any, X: Any, Y: Any, training: Training) -> Encoded:
    """Its data ready for a solver, likewise."""
    prepare = getattr(structure, "prepare", partial(Structure.prepare, structure))
    return prepare(X, Y, training)


def missing_loss(structure) -> str:
    return (
        f"{type(structure).__name__} must define loss(y, y_hat), of which score(X, y) "
        "is the average."
    )


class Outputs(list):
    """A list of outputs that numpy takes for a column of objects, whatever they are.

    Lists of different lengths are no array to numpy, so that ``cross_val_predict``, which
    joins the predictions of all folds, would fail on plain lists of them.
    """

    def __array__(self, dtype=None, copy=None):
        array = np.empty(len(self), object)
        for i, value in enumerate(self):
            array[i] = value
        return array


def check_k(k) -> int:
    """k as an int, if k best outputs can be asked for."""
    return whole("k", k)


# saving --------------------------------------------------------------------------------


def class_name(structure) -> str:
    """The name of its class, by which a model file refers to it."""
    cls = type(structure)
    return f"{cls.__module__}.{cls.__qualname__}"


def state_of(structure) -> dict[str, Any]:
    """What a file keeps of a structure: its ``get_state()``, or all its attributes."""
    if not hasattr(structure, "get_state"):
        return dict(vars(structure))
    state = structure.get_state()
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise ValueError(
            f"get_state() of {type(structure).__name__} must return a dict with names "
            "for keys."
        )
    return state


def with_state(given, state: dict[str, Any]):
    """A structure of this class, or like this object, with that state."""
    if hasattr(given, "from_state"):
        return given.from_state(state)
    return with_attributes(given, state)


def with_attributes(given, attributes: dict[str, Any]):
    """The same, where the state are its attributes; ValueError if one is a method."""
    cls = given if isinstance(given, type) else type(given)
    for name in attributes:
        if callable(getattr(cls, name, None)):
            raise ValueError(f"{name!r} is a method of {cls.__name__}, no attribute")
    new = cls.__new__(cls) if given is cls else copy.deepcopy(given)
    vars(new).update(attributes)
    return new
