"""What a structure is to the rest of the library: the one protocol of all of them.

:class:`maxmargin.StructuralSVM` takes structures of users; a family of the library does
the same things within its estimator. Required are ``fit``, ``encode`` and ``output`` (or
the four functions of a :class:`maxmargin.Problem`); all else is asked for only where it is
needed:

=========================================== ==============================================
``fit(X, Y)``, ``encode(X)``, ``output``    training and prediction
``loss(y, y_hat)`` or ``losses(X, Y, Z)``   ``score``, and so grid searches
``predict(X, w, n_jobs)``                   outputs otherwise than by ``output``
``predict_k_best(X, w, k, n_jobs)``         per input, (output, score) from the best down
``predict_marginals(X, w, n_jobs)``         per input, probabilities of parts
``complete(x, w, ...)``                     the best output with some parts given
``show(x, predicted, y)``                   a drawing for notebooks, y may be None
``get_state()``, ``from_state(state)``      saving, see :func:`state_of`
=========================================== ==============================================
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from maxmargin.core.checks import whole


class Structure:
    """Base class of compiled structures.

    A subclass makes batches of its own ``NamedTuple`` class, for which the functions of
    ``core/contract.py`` are implemented. See docs/add-a-structure.md.

    Training and prediction need ``fit``, ``encode`` and ``output``; the ``score`` of an
    estimator, and so a grid search, needs ``loss`` too. What else can be there is said
    in ``core/structure.py``.
    """

    n_weights: int

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

    def loss(self, y: Any, y_hat: Any) -> float:
        """What predicting y_hat costs when y is true; both as users write them."""
        raise NotImplementedError(missing_loss(self))


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
