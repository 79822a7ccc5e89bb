"""The short door: a structured problem as a few functions of yours.

Write a class with three or four methods and hand it to :class:`maxmargin.StructuralSVM`:

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

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


class Problem:
    """Base class of problems given as Python functions.

    Requires

    * ``joint_feature(x, y)``: a vector Psi(x, y), always of the same length;
    * ``loss(y, y_hat)``: finite, >= 0, and 0 when ``y_hat`` is ``y``;

    and a search. Either all outputs of an input, if they are few:

    * ``outputs(x)``: a list of every y that is possible for x. Features and losses of
      all of them are computed once and kept: at most 100,000 per input;

    or methods that find the best one:

    * ``argmax(x, w)``: a y that maximises ``w @ joint_feature(x, y)``;
    * ``loss_augmented_argmax(x, y, w)``: a y' that maximises
      ``w @ joint_feature(x, y') + loss(y, y')``. There is no default: decoding without
      the loss would silently train something else;
    * ``most_violated(x, y, w, rescaling, penalty)``, for slack rescaling and quadratic
      slacks: a y' that maximises ``c - r * (w @ psi)``, where psi is
      ``joint_feature(x, y) - joint_feature(x, y')``; c is ``loss(y, y')``, or its square
      root if ``penalty`` is "quadratic"; r is 1, or c if ``rescaling`` is "slack". It
      may replace ``loss_augmented_argmax``.

    In place of features, if ``outputs(x)`` lists the outputs:

    * ``joint_kernel(x, y, x2, y2)``: an inner product of the pairs (x, y) and (x2, y2).
      The machine is exact: its weights lie in the span of all training pairs, whose
      tables may take ``kernel_memory`` bytes.

    Ensures: every solver, margin and slack rescaling, linear and quadratic slacks, hard
    margins, certificates; with ``outputs`` or ``most_violated`` to any tolerance. Methods
    must not change x, y or w.

    With ``loss_augmented_argmax`` alone, slack rescaling and quadratic slacks are
    searched by calling it with differently weighted losses. That only bounds the largest
    violation: the certificate holds, but its gap only closes up to that bound; then the fit
    says so and ends. Set ``smallest_loss`` to the smallest nonzero loss (1 for counts of
    errors): without it the search cannot prove that an example is satisfied.

    Certificates are only as good as the search. At the end of a fit, ``argmax`` is used to
    look for violated outputs that the search should have found. Finding one is an error;
    finding none proves nothing. Set ``exact = False`` if your search is
    approximate: an answer worse than an output already known is then replaced by that
    instead of being an error, and the certificate says ``exact=False``.
    """

    exact: bool = True
    smallest_loss: float = 0.0
    kernel_memory: float = 4e9

    def joint_feature(self, x: Any, y: Any) -> Any:
        """The vector Psi(x, y)."""
        raise NotImplementedError(_missing(self, "joint_feature(x, y)"))

    def joint_kernel(self, x: Any, y: Any, x2: Any, y2: Any) -> float:
        """<Psi(x, y), Psi(x2, y2)>, where Psi is not given."""
        raise NotImplementedError(_missing(self, "joint_kernel(x, y, x2, y2)"))

    def loss(self, y: Any, y_hat: Any) -> float:
        """What predicting y_hat costs when y is true."""
        raise NotImplementedError(_missing(self, "loss(y, y_hat)"))

    def outputs(self, x: Any) -> Iterable:
        """Every possible output for x."""
        raise NotImplementedError(_missing(self, "outputs(x)"))

    def argmax(self, x: Any, w: np.ndarray) -> Any:
        """The best output for x under weights w."""
        raise NotImplementedError(_missing(self, "argmax(x, w)"))

    def loss_augmented_argmax(self, x: Any, y: Any, w: np.ndarray) -> Any:
        """The output with the largest score plus loss."""
        raise NotImplementedError(_missing(self, "loss_augmented_argmax(x, y, w)"))

    def most_violated(
        self, x: Any, y: Any, w: np.ndarray, rescaling: str, penalty: str
    ) -> Any:
        """The output with the largest violation in this formulation."""
        signature = "most_violated(x, y, w, rescaling, penalty)"
        raise NotImplementedError(_missing(self, signature))


@contextmanager
def asking(where: str) -> Iterator[None]:
    """Say where an exception of a user's method arose; it stays the cause."""
    try:
        yield
    except NotImplementedError:  # says itself what is missing
        raise
    except Exception as error:
        what = f": {error}"
        if not isinstance(error, ValueError):
            what = f" raised {type(error).__name__}: {error or 'no message'}"
        raise ValueError(where + what) from error


def has_own(problem, name: str) -> bool:
    """Whether the user wrote this method."""
    method = getattr(problem, name, None)
    own = getattr(method, "__func__", method) is not getattr(Problem, name, None)
    return callable(method) and own


def check_problem(problem) -> None:
    """Say which methods are missing, before any work."""
    wanted = ["joint_feature", "loss"]
    if not has_own(problem, "outputs"):
        wanted.append("argmax")
        if not has_own(problem, "most_violated"):
            wanted.append("loss_augmented_argmax")
    missing = [name for name in wanted if not has_own(problem, name)]
    if missing:
        text = ", ".join(f"{name}()" for name in missing)
        remedy = "write them" if len(missing) > 1 else "write it"
        if "loss_augmented_argmax" in missing:
            remedy += (
                "; loss_augmented_argmax(x, y, w) must maximise score plus loss, and "
                "plain argmax cannot stand in for it"
            )
        if "argmax" in missing:
            remedy += (
                "; outputs(x), all outputs of a small problem, replaces every search"
            )
        raise ValueError(f"{type(problem).__name__} has no {text}: {remedy}.")


def _missing(problem, signature: str) -> str:
    return f"{type(problem).__name__} must define {signature}."
