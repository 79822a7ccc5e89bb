"""A user's Python functions behind the same contract as compiled structures.

An output of example i is a labelling of one slot: the number of an entry in a table of
outputs seen so far, each with its features and loss. The solvers' sources run uncompiled
on this batch (``kernel.run``) and call these methods.
"""

from __future__ import annotations

import contextlib
import math
import time
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core.problem import check_problem
from maxmargin.core.rescale import violation

SLOP = 1e-9
APPROXIMATE = (
    "if the search is approximate by design, set exact = False on the problem."
)


class Entry(NamedTuple):
    """One output with everything a solver asks of it."""

    output: Any
    index: np.ndarray
    values: np.ndarray
    loss: float


class FunctionBatch:
    """Examples of a :class:`maxmargin.Problem`.

    ``asked`` is the problem as the user gave it, where a later fit has to compare: the
    methods of ``problem`` itself may count or remember.
    """

    def __init__(self, problem, X, Y, asked=None):
        check_problem(problem)
        self.problem = problem
        self.asked = asked
        self.exact = bool(getattr(problem, "exact", True))
        self.X, self.Y = X, Y
        self.start = np.arange(len(X) + 1, dtype=np.int64)
        self.y = np.zeros(len(X), np.int32)
        self.n_features = None  # the first feature vector says it
        self.seconds = 0.0  # spent inside the user's functions
        self.w = None
        self.tables: list[dict[int, Entry]] = []
        self.numbers: list[dict] = []
        for i in range(len(X)):
            self.tables.append({})
            self.numbers.append({})
            self._check_truth(i)

    # the contract ------------------------------------------------------------------

    def shape(self):
        return 1, 1

    def capacity(self):
        return self.n_features

    def score(self, i, w, theta):
        self.w = w

    def score_planes(self, i, w, labellings, count, theta):
        self.w = w

    def rescale_scores(self, i, factor, theta):
        self.w = self.w * factor

    def argmax(self, i, theta, scale, y):
        # scale * loss + w.Psi has the same argmax as loss + (w / scale).Psi
        w = self._view(self.w if scale in (0.0, 1.0) else self.w / scale)
        began = time.perf_counter()
        if scale == 0.0:
            output = self.problem.argmax(self.X[i], w)
        else:
            output = self.problem.loss_augmented_argmax(self.X[i], self.Y[i], w)
        self.seconds += time.perf_counter() - began
        number = self._number(i, output)
        entry, truth = self.tables[i][number], self.tables[i][0]
        best = scale * entry.loss + self._dot(entry)
        least = self._dot(truth)
        if best < least - SLOP * (1.0 + abs(best) + abs(least)):
            if self.exact:
                name, what = "loss_augmented_argmax", "score plus loss"
                if scale == 0.0:
                    name, what = "argmax", "score"
                raise ValueError(
                    f"{name} for sample {i} returned an output whose {what} is "
                    f"{best / (scale or 1):.6g}, below the {least / (scale or 1):.6g} of "
                    "the true output, so it is not the maximum. Check the method and "
                    f"joint_feature; {APPROXIMATE}"
                )
            number = 0
        y[0] = number

    def value(self, i, theta, y):
        return self._dot(self.tables[i][int(y[0])])

    def margin(self, i, theta, y):
        table = self.tables[i]
        return self._dot(table[0]) - self._dot(table[int(y[0])])

    def loss(self, i, y):
        return self.tables[i][int(y[0])].loss

    def difference(self, i, s, rs, a, ra, index, values):
        m = 0
        parts = ((0, rs - ra), (int(s[0]), -rs), (int(a[0]), ra))
        for number, coefficient in parts:
            if coefficient != 0.0:
                entry = self.tables[i][number]
                end = m + len(entry.index)
                index[m:end] = entry.index
                values[m:end] = coefficient * entry.values
                m = end
        return m

    def shift(self, i, step, s, rs, a, ra, theta):
        return False

    def least_loss(self):
        return float(getattr(self.problem, "smallest_loss", 0.0))

    def argmax_rescaled(self, i, theta, form, y):
        return False

    def forget(self, planes):
        """Drop outputs that no stored plane refers to."""
        room = planes.alpha.shape[1]
        for i, table in enumerate(self.tables):
            kept = set(planes.labels[i * room : i * room + planes.count[i]].tolist())
            for number in [k for k in table if k not in kept and k != 0]:
                del self.numbers[i][_key(table[number])]
                del table[number]

    def outputs_of(self, planes) -> list[list]:
        """The outputs of all planes but the true ones, by example."""
        rows = planes.labels.reshape(planes.alpha.shape).tolist()
        return [
            [table[number].output for number in row[1:count]]
            for table, row, count in zip(self.tables, rows, planes.count, strict=True)
        ]

    def adopt(self, planes, outputs) -> None:
        """Number these outputs, of an earlier batch of the same examples, anew."""
        rows = planes.labels.reshape(planes.alpha.shape)
        for i in range(len(self.X)):
            rows[i, 0] = 0
            for p in range(1, planes.count[i]):
                rows[i, p] = self._number(i, outputs[i][p - 1])

    def check_maxima(self, w, form, mass, hinges) -> None:
        """Compare the violations that the oracle found at w with those of argmax().

        An oracle that misses the maximum makes the fit look better than it is: one that
        always answers with the truth looks perfect.
        """
        view = self._view(w)
        for i in np.flatnonzero(mass > 0).tolist():
            entry = None
            with contextlib.suppress(Exception):  # prediction will say so
                entry = self._entry(i, self.problem.argmax(self.X[i], view))
            if entry is None:
                return
            truth = self.tables[i][0]
            a, b = (float(w[e.index] @ e.values) for e in (truth, entry))
            found = violation(form, entry.loss, a - b)
            slop = 1e-7 * (1.0 + abs(a) + abs(b) + entry.loss)
            if found > hinges[i] + slop * max(1.0, entry.loss):
                also = ""
                if (form.slack or form.quadratic) and self.least_loss() > 0:
                    also = ", and that no loss but zero is below smallest_loss"
                raise ValueError(
                    f"loss_augmented_argmax for sample {i} returned an output that is "
                    "not the maximum: it reports a violation of at most "
                    f"{hinges[i]:.6g}, but the output of argmax at the same weights "
                    f"has one of {found:.6g}. Check that it adds the loss and tries "
                    f"every output{also}; {APPROXIMATE}"
                )

    # helpers -------------------------------------------------------------------------

    def _check_truth(self, i):
        self._number(i, self.Y[i])
        found = self.tables[i][0].loss
        if found != 0.0:
            raise ValueError(
                f"loss(y, y) is {found:g} for sample {i}, but the loss of the true "
                "output must be zero: correct loss()."
            )

    def _number(self, i, output) -> int:
        """The number of this output in the table of example i."""
        entry = self._entry(i, output)
        key = _key(entry)
        numbers = self.numbers[i]
        if key not in numbers:
            number = max(self.tables[i], default=-1) + 1
            numbers[key] = number
            self.tables[i][number] = entry
        return numbers[key]

    def _entry(self, i, output) -> Entry:
        """An output of example i with its features and loss, checked."""
        began = time.perf_counter()
        index, values = self.features(i, output)
        loss = self.problem.loss(self.Y[i], output)
        self.seconds += time.perf_counter() - began
        number = _as_number(loss)
        if number is None or not math.isfinite(number) or number < 0:
            shown = repr(loss) if number is None else number
            raise ValueError(
                f"loss() for sample {i} is {shown}, but losses must be finite numbers, "
                "zero or more."
            )
        return Entry(output, index, values, number)

    def features(self, i, output):
        """(index, values) of Psi(x_i, output), checked."""
        psi = self.problem.joint_feature(self.X[i], output)
        if psi is None:
            raise ValueError(
                f"joint_feature for sample {i} returned None: it must return the vector "
                "Psi(x, y)."
            )
        if sp.issparse(psi):
            psi = psi.tocoo()
            if 1 not in psi.shape and psi.ndim == 2:
                raise ValueError(
                    f"joint_feature for sample {i} has shape {psi.shape}; a sparse "
                    "feature vector must be one row."
                )
            length = int(np.prod(psi.shape))
            where = (
                psi.coords[-1] if psi.ndim == 1 or psi.shape[0] == 1 else psi.coords[0]
            )
            index, values = where.astype(np.int64), psi.data.astype(np.float64)
        else:
            try:
                dense = np.asarray(psi, dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(
                    f"joint_feature for sample {i} is {psi!r}, not a vector of numbers."
                ) from None
            if dense.ndim != 1:
                raise ValueError(
                    f"joint_feature for sample {i} has {dense.ndim} dimensions; it must "
                    "be a vector (use .ravel())."
                )
            length = len(dense)
            index = np.flatnonzero(dense)
            values = dense[index]
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

    def _dot(self, entry) -> float:
        return float(self.w[entry.index] @ entry.values)

    @staticmethod
    def _view(w):
        view = w.view()
        view.flags.writeable = False
        return view


def _as_number(value) -> float | None:
    if isinstance(value, (str, bytes)):  # float() would read them
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _key(entry: Entry):
    return entry.index.tobytes(), entry.values.tobytes(), entry.loss
