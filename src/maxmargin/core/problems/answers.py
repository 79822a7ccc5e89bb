"""What a user's methods answer, checked: features, losses, lists of outputs.

Every complaint names the method and the sample; an exception inside a method is the cause
of ours.
"""

from __future__ import annotations

import math
import time
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core.problem import asking, has_own
from maxmargin.waiting import seen

MAX_OUTPUTS = 100_000  # that outputs(x) may list
SAME = 1e-9  # features of one output computed twice, relative


class CachedOutput(NamedTuple):
    """One output with everything a solver asks of it."""

    output: Any
    index: np.ndarray
    values: np.ndarray
    loss: float

    @property
    def key(self):
        return self.index.tobytes(), self.values.tobytes(), self.loss


class Answers:
    """A problem whose answers are checked. ``n_features``: the first vector says it."""

    def __init__(self, problem, n_features: int | None = None):
        self.problem = problem
        self.n_features = n_features
        self.seconds = 0.0  # spent inside the user's methods
        self.smallest = _smallest_loss(problem)

    def ask(self, method: str, i: int, *arguments) -> Any:
        began = time.perf_counter()
        try:
            with asking(f"{method} for sample {i}"):
                return getattr(self.problem, method)(*arguments)
        finally:
            self.seconds += time.perf_counter() - began

    def searched(self, method: str, i, x, y, *arguments) -> CachedOutput:
        """The output that a search finds for sample i."""
        given = (x,) if method == "argmax" else (x, y)
        output = self.ask(method, i, *given, *arguments)
        return self.entry(i, x, y, output, method)

    def entry(self, i, x, y, output, source="") -> CachedOutput:
        """An output of sample i with its features and loss.

        ``source`` is the method that returned the output, for complaints.
        """
        try:
            index, values = self.features(i, x, output)
            return CachedOutput(output, index, values, self.loss(i, y, output))
        except ValueError as error:
            if not source:
                raise
            raise ValueError(
                f"{error} (This is about the output {_shown(output)}, which {source} "
                "returned.)"
            ) from error.__cause__

    def features(self, i, x, output):
        """(index, values) of Psi(x, output)."""
        psi = self.ask("joint_feature", i, x, output)
        length, index, values = _listed(psi, f"joint_feature for sample {i}")
        if self.n_features is None:
            self.n_features = length
        if length != self.n_features:
            raise ValueError(
                f"joint_feature for sample {i} has length {length}, but earlier ones "
                f"have length {self.n_features}: all must be equal."
            )
        if not np.isfinite(values).all():
            raise ValueError(
                f"joint_feature for sample {i} holds NaN or infinity: clean the input."
            )
        return index, values

    def loss(self, i, y, output) -> float:
        loss = self.ask("loss", i, y, output)
        number = as_number(loss)
        if number is None or not math.isfinite(number) or number < 0:
            shown = _shown(loss) if number is None else number
            raise ValueError(
                f"loss() for sample {i} is {shown}, but losses must be finite numbers, "
                "zero or more."
            )
        if 0 < number < self.smallest * (1 - 1e-9):
            raise ValueError(
                f"loss() for sample {i} is {number:g}, but smallest_loss says that no "
                f"loss but zero is below {self.smallest:g}: correct one of them."
            )
        return number

    def outputs(self, i, x) -> list:
        """All outputs of x as the problem lists them."""
        listed = self.ask("outputs", i, x)
        with asking(f"outputs for sample {i}"):
            found = list(islice(listed, MAX_OUTPUTS + 1))
        if not found:
            raise ValueError(
                f"outputs for sample {i} lists nothing: it must list every output of x."
            )
        if len(found) > MAX_OUTPUTS:
            raise ValueError(
                f"outputs for sample {i} lists more than {MAX_OUTPUTS:,} outputs, or "
                "never ends: for so many, write argmax and most_violated instead."
            )
        return found

    def listed_entries(self, i, x, y) -> list[CachedOutput]:
        """All outputs of x, the true one first."""
        truth = self.entry(i, x, y, y)
        others, seen = [], False
        for output in self.outputs(i, x):
            entry = self.entry(i, x, y, output, "outputs")
            if _is_truth(entry, truth):
                seen = True
            else:
                others.append(entry)
        if not seen:
            raise ValueError(
                f"outputs for sample {i} does not list the true output: none of its "
                f"{len(others)} outputs has the features of y and no loss. List every "
                "possible output, or correct y."
            )
        return [truth, *others]


def _is_truth(entry: CachedOutput, truth: CachedOutput) -> bool:
    if entry.loss != 0.0 or len(entry.index) != len(truth.index):
        return False
    return np.array_equal(entry.index, truth.index) and np.allclose(
        entry.values, truth.values, rtol=SAME, atol=0.0
    )


def _listed(psi, what: str):
    """(length, index, values) of a feature vector, dense or sparse."""
    if psi is None:
        raise ValueError(f"{what} returned None: it must return the vector Psi(x, y).")
    if sp.issparse(psi):
        psi = psi.tocoo()
        if 1 not in psi.shape and psi.ndim == 2:
            raise ValueError(
                f"{what} has shape {psi.shape}; a sparse feature vector must be one row."
            )
        along = -1 if psi.ndim == 1 or psi.shape[0] == 1 else 0
        length, index = int(np.prod(psi.shape)), psi.coords[along].astype(np.int64)
        values = _as_floats(psi.data, what)
    else:
        dense = _as_floats(psi, what)
        if dense.ndim == 0:
            raise ValueError(
                f"{what} is one number, {_shown(psi)}; it must be a vector, also of "
                "length one: np.array([...])."
            )
        if dense.ndim != 1:
            raise ValueError(
                f"{what} has {dense.ndim} dimensions; it must be a vector (use .ravel())."
            )
        length, index = len(dense), np.flatnonzero(dense)
        values = dense[index]
    if length == 0:
        raise ValueError(f"{what} is empty: there must be one feature at least.")
    return length, index, values


def _as_floats(values, what: str) -> np.ndarray:
    try:
        found = np.asarray(values)
        if found.dtype.kind not in "biufO":  # numpy would read texts and drop 1j
            raise TypeError
        return found.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{what} is {_shown(values)}, not a vector of real numbers."
        ) from None


def as_number(value) -> float | None:
    if isinstance(value, (str, bytes)):  # float() would read them
        return None
    if isinstance(value, (np.ndarray, np.generic)) and (
        value.ndim > 0 or value.dtype.kind not in "biufO"
    ):
        return None
    try:
        return float(value)
    except Exception:  # whatever this object does when asked for a number
        return None


def _smallest_loss(problem) -> float:
    given = getattr(problem, "smallest_loss", 0.0)
    number = as_number(given)
    if number is None or not 0 <= number < math.inf:
        raise ValueError(
            f"smallest_loss is {_shown(given)}, but it must be a number: the smallest "
            "loss that is not zero, or 0 if it is not known."
        )
    return number


def _shown(value) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."


# after a fit ---------------------------------------------------------------------------


def predict(problem, X, w) -> list:
    """The best output of every input: by argmax(), or among outputs()."""
    answers, w = Answers(problem, len(w)), read_only(w)
    if has_own(problem, "argmax"):
        return [answers.ask("argmax", i, x, w) for i, x in seen(enumerate(X), len(X))]
    return [_best_listed(answers, i, x, w) for i, x in seen(enumerate(X), len(X))]


def losses(problem, Y, Y_hat) -> list[float]:
    """The loss of every prediction."""
    answers = Answers(problem)
    return [answers.loss(i, *pair) for i, pair in enumerate(zip(Y, Y_hat, strict=True))]


def _best_listed(answers, i, x, w):
    outputs = answers.outputs(i, x)
    features = (answers.features(i, x, output) for output in outputs)
    scores = [float(w[index] @ values) for index, values in features]
    return outputs[int(np.argmax(scores))]


def read_only(w):
    view = w.view()
    view.flags.writeable = False
    return view
