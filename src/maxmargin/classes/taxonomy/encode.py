"""From X and y of a TaxonomySVM to batches: one class per sample, or sets of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.classes.multiclass import _append_ones, _check_labels, _validated
from maxmargin.classes.taxonomy import Taxonomy
from maxmargin.classes.taxonomy.labels import (
    check_known,
    class_lines,
    node_weights,
    parents_within,
    read_sets,
    resolve,
)
from maxmargin.classes.taxonomy.losses import class_costs, node_costs
from maxmargin.core.estimator import Encoded, check_weights
from maxmargin.core.unlabelled import split_known, weigh

# Weights are dense: 2 GB in double precision, and solvers keep several copies.
MOST_WEIGHTS = 2**28


def encode_classes(model, X, y, sample_weight) -> Encoded:
    """One class per sample."""
    from maxmargin.classes import structure as multiclass
    from maxmargin.classes.taxonomy import structure as taxonomy
    from maxmargin.core.partial import partly_known

    _check_labels(y)
    y, known = split_known(y)
    checker = type(model)()  # a failed fit leaves the estimator as it was
    X, y = _validated(checker, X, y)
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
    names = plain(classes)
    tree = resolve(model.taxonomy, names, model.separator)
    check_known(tree, plain(y), names)
    cost = class_costs(model.loss, tree, names)
    _check_size(X.shape[1], len(tree) if model.mode != "flat" else len(classes))
    rows, n_features = _rows(model, X)
    dtype = model._working_dtype(rows[2], weights)
    if model.mode == "flat":
        batch = multiclass.make_batch(*rows, n_features, numbers, cost, dtype)
        nodes, width = classes, batch.width
    else:
        lines = class_lines(tree, names)
        z = node_weights(model.node_weights, tree, lines.nodes)
        batch = taxonomy.make_batch(
            *rows, n_features, numbers, cost, lines.by_class, z, dtype
        )
        nodes, width = _names(tree, lines.nodes), batch.node_width
    if known is not None:
        batch = partly_known(batch, known)
    attributes = _attributes(checker, X, tree, nodes)
    attributes |= {"classes_": classes, "kind_": model.mode}
    return Encoded(batch, n_features * width, dtype, weights, attributes)


def encode_sets(model, X, y, sample_weight) -> Encoded:
    """A set of nodes per sample."""
    from maxmargin.classes.taxonomy.node_sets import make_batch

    if model.mode == "flat":
        raise ValueError(
            'mode="flat" is for one class per sample; with multilabel=True, labels are '
            "independent if the taxonomy has roots only."
        )
    if model.node_weights is not None:
        raise ValueError("node_weights is for one class per sample: leave it None.")
    checker = type(model)()
    X = _validated(checker, X)
    weights = check_weights(sample_weight, X.shape[0])
    sets = read_sets(y, X.shape[0], model.taxonomy, model.separator, model.nodes)
    tree = sets.taxonomy
    nodes = _names(tree, sets.nodes)
    cost = node_costs(model.loss, nodes.tolist())
    _check_size(X.shape[1], len(nodes))
    rows, n_features = _rows(model, X)
    dtype = model._working_dtype(rows[2], weights)
    parents = parents_within(tree, sets.nodes)
    batch = make_batch(*rows, n_features, sets.table, cost, parents, dtype)
    attributes = _attributes(checker, X, tree, nodes)
    classes = nodes if sets.columns is None else np.array(sets.columns)
    attributes |= {"classes_": classes, "kind_": "sets"}
    attributes["indicator_"] = sets.columns is not None
    return Encoded(batch, n_features * batch.width, dtype, weights, attributes)


def _check_size(n_features: int, n_nodes: int) -> None:
    """A wrong feature number in a file must not take all memory."""
    if n_features * n_nodes > MOST_WEIGHTS:
        raise ValueError(
            f"X has {n_features:,} features, and with {n_nodes:,} nodes or classes that "
            f"makes more than {MOST_WEIGHTS:,} weights: number features without holes, or "
            "leave out rare ones."
        )


def plain(labels: np.ndarray) -> list:
    """Labels as Python values; scikit-learn also lets floats pass that are whole."""
    if labels.dtype.kind == "f":
        return [int(z) for z in labels]
    return [int(z) if isinstance(z, (bool, float)) else z for z in labels.tolist()]


def _rows(model, X):
    """CSR arrays, with a last feature 1 for the intercept."""
    from maxmargin.core.arrays import csr_arrays

    rows = csr_arrays(X)
    if not model.fit_intercept:
        return rows, X.shape[1]
    return _append_ones(*rows, X.shape[1]), X.shape[1] + 1


def _names(tree: Taxonomy, positions: list[int]) -> np.ndarray:
    return np.array([tree.nodes[v] for v in positions])


def _attributes(checker, X, tree: Taxonomy, nodes) -> dict[str, Any]:
    found = {"taxonomy_": tree, "nodes_": nodes, "n_features_in_": X.shape[1]}
    found["indicator_"] = False
    if hasattr(checker, "feature_names_in_"):
        found["feature_names_in_"] = checker.feature_names_in_
    return found
