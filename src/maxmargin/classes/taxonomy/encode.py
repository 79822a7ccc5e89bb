"""From X and y of a TaxonomySVM to batches: one class per sample, or sets of nodes."""

from __future__ import annotations

import numpy as np

from maxmargin.classes import structure as multiclass
from maxmargin.classes.corpus import ClassCorpus
from maxmargin.classes.input import batch_of, plain, read_classes, read_rows, rows_of
from maxmargin.classes.taxonomy import Taxonomy
from maxmargin.classes.taxonomy import structure as taxonomy
from maxmargin.classes.taxonomy.labels import (
    check_known,
    class_lines,
    node_weights,
    parents_within,
    read_sets,
    resolve,
)
from maxmargin.classes.taxonomy.losses import class_costs, node_costs
from maxmargin.classes.taxonomy.node_sets import make_batch
from maxmargin.classes.variance_rule import C_by_variance
from maxmargin.core.encoded import Encoded, check_weights
from maxmargin.core.partial import partly_known

# Weights are dense: 2 GB in double precision, and solvers keep several copies.
MOST_WEIGHTS = 2**28


def encode_classes(model, X, y, sample_weight) -> Encoded:
    """One class per sample."""
    X, numbers, known, weights, attributes = read_classes(model, X, y, sample_weight)
    classes = attributes["classes_"]
    names = plain(classes)
    tree = resolve(model.taxonomy, names, model.separator)
    check_known(tree, names if numbers is None else plain(classes[numbers]), names)
    cost = class_costs(model.loss, tree, names)
    _check_size(X.shape[1], len(tree) if model.mode != "flat" else len(classes))
    rows, n_features = rows_of(model, X)
    C = model.C
    if C is None:
        C = C_by_variance(X, weights, model.objective)
    dtype = np.float64
    if model.mode == "flat":
        batch = batch_of(multiclass.make_batch, rows, n_features, numbers, cost, dtype)
        nodes, width = classes, batch.width
    else:
        lines = class_lines(tree, names)
        z = node_weights(model.node_weights, tree, lines.nodes)
        more = cost, lines.by_class, z, dtype
        batch = batch_of(taxonomy.make_batch, rows, n_features, numbers, *more)
        nodes, width = _names(tree, lines.nodes), batch.node_width
    if known is not None:
        batch = partly_known(batch, known)
    attributes |= {"taxonomy_": tree, "nodes_": nodes, "kind_": model.mode}
    attributes["indicator_"] = False
    return Encoded(batch, n_features * width, dtype, weights, attributes, C=C)


def encode_sets(model, X, y, sample_weight) -> Encoded:
    """A set of nodes per sample."""
    if isinstance(X, ClassCorpus):
        raise ValueError(
            f"{X.folder} has one class per vector: sets of labels (multilabel=True) are "
            "trained in memory."
        )
    if model.mode == "flat":
        raise ValueError(
            'mode="flat" is for one class per sample; with multilabel=True, labels are '
            "independent if the taxonomy has roots only."
        )
    if model.node_weights is not None:
        raise ValueError("node_weights is for one class per sample: leave it None.")
    X, attributes = read_rows(model, X)
    weights = check_weights(sample_weight, X.shape[0])
    sets = read_sets(y, X.shape[0], model.taxonomy, model.separator, model.nodes)
    tree = sets.taxonomy
    nodes = _names(tree, sets.nodes)
    cost = node_costs(model.loss, nodes.tolist())
    _check_size(X.shape[1], len(nodes))
    rows, n_features = rows_of(model, X)
    dtype = np.float64
    parents = parents_within(tree, sets.nodes)
    batch = make_batch(*rows, n_features, sets.table, cost, parents, dtype)
    classes = nodes if sets.columns is None else np.array(sets.columns)
    attributes |= {"taxonomy_": tree, "nodes_": nodes, "kind_": "sets"}
    attributes["classes_"] = classes
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


def _names(tree: Taxonomy, positions: list[int]) -> np.ndarray:
    return np.array([tree.nodes[v] for v in positions])
