"""The short door: a structured problem as four functions of yours.

Write a class with four methods and hand it to :class:`maxmargin.StructuralSVM`:

>>> import numpy as np
>>> from maxmargin import Problem, StructuralSVM
>>> class Signs(Problem):
...     '''x is a vector, y is +1 or -1: a plain support vector machine.'''
...     def joint_feature(self, x, y):
...         return 0.5 * y * x
...     def loss(self, y, y_hat):
...         return float(y != y_hat)
...     def argmax(self, x, w):
...         return 1 if w @ x >= 0 else -1
...     def loss_augmented_argmax(self, x, y, w):
...         return max((1, -1), key=lambda z: w @ self.joint_feature(x, z)
...                                          + self.loss(y, z))
>>> X = [np.array([2.0, 1.0]), np.array([-1.0, -3.0])]
>>> model = StructuralSVM(Signs(), tol=1e-6).fit(X, [1, -1])
>>> model.predict(X)
[1, -1]

Inputs x and outputs y may be any objects. Feature vectors are one-dimensional numpy
arrays or scipy sparse rows, all of one length.
"""

from __future__ import annotations

from typing import Any


class Problem:
    """Base class of problems given as Python functions.

    Requires

    * ``joint_feature(x, y)``: a vector Psi(x, y), always of the same length;
    * ``loss(y, y_hat)``: finite, >= 0, and 0 when ``y_hat`` is ``y``;
    * ``argmax(x, w)``: a y that maximises ``w @ joint_feature(x, y)``;
    * ``loss_augmented_argmax(x, y, w)``: a y' that maximises
      ``w @ joint_feature(x, y') + loss(y, y')``. There is no default: decoding without
      the loss would train something else in silence.

    Ensures: every solver, margin and slack rescaling, linear and quadratic slacks, hard
    margins, certificates. Methods must not change x, y or w.

    Certificates are only as good as ``loss_augmented_argmax``. A fit ends with a look for
    violated outputs that it should have found, through ``argmax``; such a finding is an
    error, but none is no proof that there are none.

    Set ``exact = False`` if your argmax is approximate: an answer worse than the true
    output is then replaced by it instead of being an error, and the certificate says
    ``exact=False``.

    For slack rescaling or quadratic slacks, set ``smallest_loss`` to the smallest loss
    that is not zero (1 for counts of errors): without it the search through your argmax
    cannot prove that an example is satisfied, and the gap may stay open. With several
    losses, the search only bounds the largest violation, and the gap closes up to that
    bound.
    """

    exact: bool = True
    smallest_loss: float = 0.0

    def joint_feature(self, x: Any, y: Any):
        """The vector Psi(x, y)."""
        raise NotImplementedError(_missing(self, "joint_feature(x, y)"))

    def loss(self, y: Any, y_hat: Any) -> float:
        """What predicting y_hat costs when y is true."""
        raise NotImplementedError(_missing(self, "loss(y, y_hat)"))

    def argmax(self, x: Any, w) -> Any:
        """The best output for x under weights w."""
        raise NotImplementedError(_missing(self, "argmax(x, w)"))

    def loss_augmented_argmax(self, x: Any, y: Any, w) -> Any:
        """The output with the largest score plus loss."""
        raise NotImplementedError(_missing(self, "loss_augmented_argmax(x, y, w)"))


METHODS = ("joint_feature", "loss", "argmax", "loss_augmented_argmax")


def check_problem(problem) -> None:
    """Say which of the four methods are missing, before any work."""
    missing = [
        name
        for name in METHODS
        if not callable(getattr(problem, name, None))
        or getattr(type(problem), name, None) is getattr(Problem, name)
    ]
    if missing:
        text = ", ".join(f"{name}()" for name in missing)
        remedy = "write them" if len(missing) > 1 else "write it"
        if "loss_augmented_argmax" in missing:
            remedy += (
                "; loss_augmented_argmax(x, y, w) must maximise score plus loss, and "
                "plain argmax cannot stand in for it"
            )
        raise ValueError(f"{type(problem).__name__} has no {text}: {remedy}.")


def _missing(problem, signature: str) -> str:
    return f"{type(problem).__name__} must define {signature}."
