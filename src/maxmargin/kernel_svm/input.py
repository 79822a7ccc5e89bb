"""X and y of a KernelSVM: tables, or whatever its kernel compares."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from maxmargin.classes.input import plain, read_classes
from maxmargin.classes.taxonomy.labels import class_lines, resolve
from maxmargin.classes.taxonomy.losses import class_costs
from maxmargin.core.encoded import C_of, Encoded, check_weights, masses
from maxmargin.core.saved import Saved
from maxmargin.core.tables.arrays import check_columns
from maxmargin.core.tables.label_costs import cost_table
from maxmargin.fitting.parameters import refuse_beside_kernel
from maxmargin.fitting.tables import check_finite, read_new
from maxmargin.kernels import as_kernel, check
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.checks import looks_up
from maxmargin.kernels.inputs import count, take

UNKNOWN = (
    "y holds None: KernelSVM does not learn from samples whose class is not known. Leave "
    "them out, or take MulticlassSVM."
)


@dataclass
class KernelProblem:
    """What is trained: inputs, classes, costs, masses C_i and the kernel.

    With a taxonomy, ``lines`` (classes, nodes) marks the nodes above each class, and
    every node has a function of its own; without, it is None.
    """

    X: Any
    y: np.ndarray
    cost: np.ndarray
    mass: np.ndarray
    kernel: Kernel
    lines: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.n = len(self.y)
        # whether X is the table of the kernel itself
        self.given = self.kernel.kind == "precomputed"

    @classmethod
    def of(cls, model, X, y, weights, classes: list) -> KernelProblem:
        mass = masses(C_of(model), weights)
        kernel = as_kernel(model.kernel, model.gamma, model.degree, model.coef0, X=X)
        if kernel.kind != "precomputed" and looks_up(kernel):
            raise ValueError(
                f"{kernel} computes with a precomputed matrix K: compute it from K "
                'yourself (K + 1), and give that with kernel="precomputed".'
            )
        check(kernel, X)
        lines, cost = None, None
        if model.taxonomy is not None:
            lines, cost = _taxonomy(model, classes)
        elif len(classes) == 2:
            mass = mass / 2  # two functions f_1 = -f_0 where SVC has f_1 - f_0
        if cost is None:
            cost = cost_table(model.loss, classes)
        return cls(X, y, cost, mass, kernel, lines)

    def samples(self, rows: np.ndarray) -> Any:
        """These samples as points of a machine; their numbers where the table is given."""
        return rows if self.given else take(self.X, rows)

    def with_mass(self, factor: float) -> KernelProblem:
        return replace(self, mass=self.mass * factor)


def _taxonomy(model, classes) -> tuple[np.ndarray, np.ndarray | None]:
    names = plain(np.array(classes))
    tree = resolve(model.taxonomy, names, ".")
    lines = class_lines(tree, names)
    marks = np.zeros((len(names), len(lines.nodes)))
    for k, line in enumerate(lines.by_class):
        marks[k, line] = 1.0
    by_name = isinstance(model.loss, str) and model.loss != "zero-one"
    return marks, class_costs(model.loss, tree, names) if by_name else None


def is_table(X: Any) -> bool:
    """Whether X is a table of numbers; else it is what a kernel of its own compares."""
    if isinstance(X, (str, bytes)):
        raise ValueError("X is one string: give a list of samples, also for one.")
    if issparse(X):  # scipy's dok_matrix is a dict, too
        return True
    if isinstance(X, Mapping):
        return False
    if isinstance(X, tuple) and any(getattr(part, "ndim", 0) == 2 for part in X):
        return False  # a batch by parts
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    if kind is not None:
        return kind not in "USO" or X.ndim != 1
    first = None
    if isinstance(X, (list, tuple)):
        first = next((x for x in X if not isinstance(x, list) or x), None)
    if isinstance(first, tuple):  # a sample by parts, or a row
        return all(isinstance(value, Real) for value in first)
    if isinstance(first, list):  # a row, or tokens
        return not any(isinstance(value, (str, bytes)) for value in first)
    return not isinstance(first, (str, bytes, Mapping))


def read_training(model, X, y, sample_weight) -> Encoded:
    """The problem, its inputs on one scale, and what is known of them."""
    refuse_beside_kernel(model, ("gamma", "degree", "coef0"))
    X, y, weights, attributes = _read(model, X, y, sample_weight)
    X, attributes["scaling_"] = scaled(model, X)
    classes = attributes["classes_"].tolist()
    weights = weighted(model, y, weights, classes)
    problem = KernelProblem.of(model, X, y, weights, classes)
    return Encoded(problem, len(classes), np.float64, weights, attributes)


def _read(model, X, y, sample_weight) -> tuple:
    """(X, class numbers, sample weights, attributes); None in y is not possible here."""
    if is_table(X):
        X, numbers, known, weights, attributes = read_classes(
            model, X, y, sample_weight
        )
        if known is not None:
            raise ValueError(UNKNOWN)
        check_finite(X)
        if issparse(X):
            check_columns(X.indices, X.shape[1], X.shape[1])
        return X, numbers, weights, attributes
    if any(label is None for label in y):
        raise ValueError(UNKNOWN)
    y = column_or_1d(y)
    check_classification_targets(y)
    n = count(X)
    if len(y) != n:
        raise ValueError(f"X has {n} samples, but y has {len(y)}.")
    classes, numbers = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError("y holds one class only: at least two classes are needed.")
    return X, numbers, check_weights(sample_weight, n), {"classes_": classes}


def own(points: Any, X: Any) -> Any:
    """The points, copied where they are the caller's X, which may change."""
    if isinstance(points, np.ndarray) and isinstance(X, np.ndarray):
        return points.copy() if np.may_share_memory(points, X) else points
    return deepcopy(points) if points is X else points


def read_input(model, X) -> Any:
    """X for prediction, checked as in training."""
    if not hasattr(model, "n_features_in_"):
        if count(X) and is_table(X):
            raise ValueError(
                "X is a table of numbers, but this KernelSVM was trained on samples of "
                "another kind: give a list of such."
            )
        return X
    if isinstance(X, (list, tuple)) and not X:
        return np.zeros((0, model.n_features_in_))
    if not is_table(X):
        raise ValueError(
            "X is no table of numbers, but this KernelSVM was trained on one of "
            f"{model.n_features_in_} columns: give a row of numbers per sample."
        )
    width = getattr(X, "shape", (0, 0))[-1]
    if model.columns_ is not None and width not in (0, model.n_features_in_):
        raise ValueError(
            f"The precomputed matrix has {width} columns, but must have a column for each "
            f"of the {model.n_features_in_} training samples."
        )
    return read_new(model, X)


def weighted(model, y: np.ndarray, weights: np.ndarray, names: list) -> np.ndarray:
    """Sample weights times class weights."""
    given = model.class_weight
    if given is None:
        return weights
    if isinstance(given, str) and given == "balanced":
        factors = len(y) / (len(names) * np.bincount(y))
    elif isinstance(given, dict):
        factors = np.ones(len(names))
        for name, factor in given.items():
            if name not in names:
                raise ValueError(
                    f"class_weight has a weight for {name!r}, which is no class of y: "
                    f"those are {', '.join(map(repr, names[:10]))}."
                )
            good = isinstance(factor, Real) and 0 <= factor < np.inf
            if not good:
                raise ValueError(
                    f"class_weight of {name!r} is {factor!r}: weights must be finite "
                    "numbers, zero or more."
                )
            factors[names.index(name)] = factor
    else:
        raise ValueError(
            f"class_weight={given!r} is not possible: it must be a dict "
            '{class: weight}, "balanced" or None.'
        )
    return check_weights(weights * factors[y], len(y))


# columns brought to one scale before the kernel sees them -----------------------------


@dataclass(frozen=True)
class Scaling:
    """Columns brought to one scale: (x - center) / width, column by column.

    A kernel of distances or products hears the columns with the largest numbers. With
    ``scale``, center and width are read from the training data:

        "standard"   mean and standard deviation
        "range"      least value and largest minus least: training values lie in [0, 1]

    Sparse tables stay sparse: there the center is 0, and the width the root of the mean
    square, or the largest absolute value. Columns that do not vary have the width 1.
    """

    center: np.ndarray
    width: np.ndarray

    @classmethod
    def of(cls, X: Any, scale: str) -> Scaling:
        if issparse(X):
            center = np.zeros(X.shape[1])
            magnitudes = abs(X).astype(np.float64)
            if scale == "range":
                width = magnitudes.max(axis=0).toarray().ravel()
            else:
                squares = magnitudes.multiply(magnitudes).sum(axis=0)
                width = np.sqrt(np.asarray(squares).ravel() / X.shape[0])
        elif scale == "range":
            center = X.min(axis=0).astype(np.float64)
            width = X.max(axis=0) - center
        else:
            center = X.mean(axis=0, dtype=np.float64)
            width = X.std(axis=0, dtype=np.float64)
            # the rounded mean of equal numbers is not them
            width[X.min(axis=0) == X.max(axis=0)] = 0.0
        return cls(center, np.where(width > 0, width, 1.0))

    def apply(self, X: Any) -> Any:
        """The scaled table, of the same precision."""
        if issparse(X):
            if not self.center.any():
                return _times(X, 1.0 / self.width)
            X = X.toarray()
        return ((X - self.center) / self.width).astype(X.dtype)

    def undo(self, X: Any) -> Any:
        """Scaled rows in the units of the columns."""
        if issparse(X):
            return _times(X, self.width)
        return (X * self.width + self.center).astype(X.dtype)

    @classmethod
    def saved(cls, saved: Saved, columns: int) -> Scaling:
        center = saved.floats("center", columns, dtype=np.float64)
        width = saved.floats("width", columns, dtype=np.float64)
        if not (width > 0).all():
            raise ValueError("'width' is not positive")
        return cls(center, width)


def _times(X: Any, factors: np.ndarray) -> Any:
    X = X.tocsr(copy=True)
    X.data = (X.data * factors[X.indices]).astype(X.dtype)
    return X


def scaled(model: Any, X: Any) -> tuple[Any, Scaling | None]:
    """(what the kernel sees of training inputs, how it was made)."""
    if model.scale is None:
        return X, None
    given = getattr(model.kernel, "kind", model.kernel) == "precomputed"
    if given or getattr(X, "ndim", 0) != 2:
        what = (
            "a precomputed matrix" if given else "samples that are not rows of numbers"
        )
        raise ValueError(
            f"scale={model.scale!r} is not possible with {what}: leave it out."
        )
    scaling = Scaling.of(X, model.scale)
    return scaling.apply(X), scaling
