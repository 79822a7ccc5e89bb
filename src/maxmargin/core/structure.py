"""A structure as :class:`maxmargin.StructuralSVM` takes it: how to make batches."""

from __future__ import annotations

from typing import Any


class Structure:
    """Base class of compiled structures.

    A subclass makes batches of its own ``NamedTuple`` class, for which the functions of
    ``core/contract.py`` are implemented. See docs/add-a-structure.md.

    Training and prediction need ``fit``, ``encode`` and ``output``; the ``score`` of an
    estimator, and so a grid search, needs ``loss`` too.
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

    def output(self, batch, i: int, labelling) -> Any:
        """The output that a labelling of example i stands for."""
        raise NotImplementedError(
            f"{type(self).__name__} must define output(batch, i, labelling)."
        )

    def loss(self, y, y_hat) -> float:
        """What predicting y_hat costs when y is true; both as users write them."""
        raise NotImplementedError(missing_loss(self))


def missing_loss(structure) -> str:
    return (
        f"{type(structure).__name__} must define loss(y, y_hat), of which score(X, y) "
        "is the average."
    )
