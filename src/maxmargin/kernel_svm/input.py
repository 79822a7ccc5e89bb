"""X and y of a KernelSVM: tables, or whatever its kernel compares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from maxmargin.classes.input import read_classes, validated
from maxmargin.core.arrays import csr_arrays
from maxmargin.core.estimator import check_weights
from maxmargin.core.label_costs import cost_table
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inputs import count, is_sparse


@dataclass
class Data:
    """Training data as read: inputs, class numbers, sample weights, attributes."""

    X: Any
    y: np.ndarray
    weights: np.ndarray
    attributes: dict = field(default_factory=dict)


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

    @classmethod
    def of(cls, model, data: Data, mass: np.ndarray) -> KernelProblem:
        from maxmargin.kernels import as_kernel, check

        kernel = as_kernel(
            model.kernel, model.gamma, model.degree, model.coef0, X=data.X
        )
        check(kernel, data.X)
        classes = data.attributes["classes_"].tolist()
        lines, cost = None, None
        if model.taxonomy is not None:
            lines, cost = _taxonomy(model, classes)
        elif len(classes) == 2:
            mass = mass / 2  # two functions f_1 = -f_0 where SVC has f_1 - f_0
        if cost is None:
            cost = cost_table(model.loss, classes)
        return cls(data.X, data.y, cost, mass, kernel, lines)

    def with_mass(self, factor: float) -> KernelProblem:
        return replace(self, mass=self.mass * factor)

    def __len__(self) -> int:
        return len(self.y)


def _taxonomy(model, classes) -> tuple[np.ndarray, np.ndarray | None]:
    from maxmargin.classes.input import plain
    from maxmargin.classes.taxonomy.labels import class_lines, resolve
    from maxmargin.classes.taxonomy.losses import class_costs

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
    if isinstance(X, Mapping):
        return False
    if is_sparse(X):
        return True
    if isinstance(X, tuple) and any(getattr(part, "ndim", 0) == 2 for part in X):
        return False  # a batch by parts
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    if kind is not None:
        return kind not in "USO" or X.ndim != 1
    first = next(iter(X), None) if isinstance(X, (list, tuple)) else None
    return not isinstance(first, (str, bytes, dict, tuple)) or hasattr(X, "iloc")


def read_training(model, X, y, sample_weight) -> Data:
    """Checked inputs and classes; None in y is not possible here."""
    if is_table(X):
        X, numbers, known, weights, attributes = read_classes(
            model, X, y, sample_weight
        )
        if known is not None:
            raise ValueError(
                "y holds None: KernelSVM does not learn from samples whose class is not "
                "known. Leave them out, or take MulticlassSVM."
            )
        _finite(X)
        return Data(X, numbers, weights, attributes)
    y = column_or_1d(y)
    check_classification_targets(y)
    n = count(X)
    if len(y) != n:
        raise ValueError(f"X has {n} samples, but y has {len(y)}.")
    classes, numbers = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError("y holds one class only: at least two classes are needed.")
    return Data(X, numbers, check_weights(sample_weight, n), {"classes_": classes})


def read_input(model, X) -> Any:
    """X for prediction, checked as in training."""
    if not hasattr(model, "n_features_in_"):
        count(X)
        return X
    if isinstance(X, (list, tuple)) and not X:
        return np.zeros((0, model.n_features_in_))
    X = validated(model, X, reset=False)
    _finite(X)
    return X


def _finite(X) -> None:
    if not np.isfinite(X.data if is_sparse(X) else X).all():
        csr_arrays(X)  # says where


def weighted(model, data: Data) -> np.ndarray:
    """Sample weights times class weights."""
    if model.class_weight is None:
        return data.weights
    classes, labels = data.attributes["classes_"], None
    labels = classes[data.y]
    if not isinstance(model.class_weight, dict) and model.class_weight != "balanced":
        raise ValueError(
            f"class_weight={model.class_weight!r} is not possible: it must be a dict "
            '{class: weight}, "balanced" or None.'
        )
    factors = compute_class_weight(model.class_weight, classes=classes, y=labels)
    return check_weights(data.weights * factors[data.y], len(data.y))
