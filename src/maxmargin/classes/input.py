"""X and y of classifiers: checked, and as CSR rows."""

from __future__ import annotations

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.classes.corpus import ClassCorpus
from maxmargin.classes.corpus.training import DiskRows, corpus_classes
from maxmargin.core.encoded import check_weights
from maxmargin.core.tables.arrays import (
    check_columns,
    check_used,
    csr_arrays,
    with_constant,
)
from maxmargin.fitting.tables import read_rows, split_known, weigh


def read_classes(model, X, y, sample_weight) -> tuple:
    """(X, numbers of the classes, which are known or None if all are, weights,
    attributes) of one class per sample."""
    X, y, attributes = read_samples(model, X, y)
    classes, *numbered = number_classes(model, X, y, sample_weight)
    return X, *numbered, {"classes_": classes, **attributes}


def read_samples(model, X, y) -> tuple:
    """(X, y, attributes): a table of numbers and as many labels, or a corpus on disk."""
    if isinstance(X, ClassCorpus):
        return X, y, {"n_features_in_": X.n_features}
    _check_labels(y)
    filled, known = split_known(y)
    X, attributes, filled = read_rows(model, X, filled)
    return X, filled if known is None else y, attributes


def number_classes(model, X, y, sample_weight) -> tuple:
    """(classes, their numbers in y, which are known or None if all are, weights);
    numbers are None for a corpus on disk."""
    if isinstance(X, ClassCorpus):
        return corpus_classes(X, y, sample_weight)
    y, known = split_known(y)
    check_classification_targets(y)
    weights = check_weights(sample_weight, X.shape[0])
    if known is not None:
        weights = weigh(model, weights, known)
    classes, numbers = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds one class only ({plain(classes)[0]!r}): at least two classes are "
            "needed to learn to tell them apart."
        )
    return classes, numbers, known, weights


def rows_of(X, constant: bool) -> tuple[tuple, int]:
    """(CSR arrays, features), with a last feature 1 if there is a constant."""
    n_features = X.shape[1]
    if isinstance(X, ClassCorpus):
        check_used(X.n_used, n_features, n_features)
        largest = np.array([max(X.largest, constant)], X.dtype)
        return DiskRows(X, constant, largest), n_features + constant
    rows = csr_arrays(X)
    check_columns(rows[1], n_features, n_features)  # at the least
    if not constant:
        return rows, n_features
    return with_constant(*rows, n_features), n_features + 1


def batch_of(make, rows, n_features: int, y, *rest):
    """A batch of rows in memory; of those on disk, pieces that become batches."""
    if isinstance(rows, DiskRows):
        return rows.batch(make, n_features, *rest)
    return make(*rows, n_features, y, *rest)


def plain(labels: np.ndarray) -> list:
    """Labels as Python values; scikit-learn also lets floats pass that are whole."""
    if labels.dtype.kind == "f":
        return [int(z) for z in labels]
    return [int(z) if isinstance(z, (bool, float)) else z for z in labels.tolist()]


def _check_labels(y) -> None:
    """Name the first label that cannot be sorted among the others."""
    if not isinstance(y, (list, tuple)):
        y = np.asarray(y)
        if y.ndim != 1 or y.dtype.kind != "O":
            return
    kinds = set(map(type, y))
    texts = {kind for kind in kinds if issubclass(kind, str)}
    if texts in (set(), kinds - {type(None)}):
        return
    given = [(i, label) for i, label in enumerate(y) if label is not None]
    first, example = given[0]
    for i, label in given:
        if isinstance(label, str) != isinstance(example, str):
            raise ValueError(
                f"y[{i}] is {label!r}, but y[{first}] is {example!r}: labels must be all "
                "strings or all numbers."
            )
