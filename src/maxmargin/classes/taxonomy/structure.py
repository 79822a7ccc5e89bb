"""Classes in a taxonomy as a structure, and sets of its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.classes.input import batch_of, plain, rows_of
from maxmargin.classes.structure import Classes
from maxmargin.classes.taxonomy import Taxonomy, lineages, node_sets
from maxmargin.classes.taxonomy.closure import best_closures, make_network
from maxmargin.classes.taxonomy.labels import (
    check_known,
    class_lines,
    node_weights,
    parents_within,
    read_sets,
    resolve,
)
from maxmargin.classes.taxonomy.losses import class_costs, node_costs
from maxmargin.core.encoded import Encoded, Training, check_weights
from maxmargin.core.vectors import padded_width

# Weights are dense: 2 GB in double precision, and solvers keep several copies.
MOST_WEIGHTS = 2**28


@dataclass
class TaxonomyClasses(Classes):
    """Nodes with weights that classes share; the parameters are those of `TaxonomySVM`.

    Y has one class per row of X or, with ``multilabel``, a set of nodes.
    """

    loss: Any = "tree"
    taxonomy: Any = None
    mode: str = "hierarchical"
    multilabel: bool = False
    nodes: list | None = None
    separator: str = "."
    node_weights: Any = None
    tree: Taxonomy = field(init=False, repr=False)
    names: np.ndarray = field(init=False, repr=False)  # of nodes with weights
    kind: str = field(init=False, repr=False)  # mode, or "sets"
    indicator: bool = field(default=False, init=False, repr=False)  # Y was a table
    factors: np.ndarray = field(init=False, repr=False)  # of nodes: their weights

    single = False

    @property
    def scored(self) -> np.ndarray:
        return self.names

    # one class per sample --------------------------------------------------------------

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        prepare = self._prepare_sets if self.multilabel else super().prepare
        return prepare(X, Y, training)

    def _learn(self, X: Any, numbers: Any) -> np.ndarray:
        names = plain(self.classes)
        self.tree = tree = resolve(self.taxonomy, names, self.separator)
        y = names if numbers is None else plain(self.classes[numbers])
        check_known(tree, y, names)
        cost = class_costs(self.loss, tree, names)
        self.kind = self.mode
        _check_size(X.shape[1], len(tree) if self.mode != "flat" else len(names))
        if self.mode == "flat":
            self._score(self.classes)
        else:
            positions = class_lines(tree, names).nodes
            self._score([tree.nodes[v] for v in positions])
            self.factors = node_weights(self.node_weights, tree, positions)
        return cost

    def _batch(self, rows, n_features, numbers, cost, dtype) -> Any:
        if self.kind == "flat":
            return super()._batch(rows, n_features, numbers, cost, dtype)
        more = cost, self.lines(), self.factors, dtype
        return batch_of(lineages.make_batch, rows, n_features, numbers, *more)

    def marks(self) -> np.ndarray:
        """(classes, nodes): 1 at the nodes whose scores add up to that of a class."""
        marks = np.zeros((len(self.classes), len(self.names)))
        for k, line in enumerate(self.lines()):
            marks[k, line] = 1.0
        return marks

    def lines(self) -> list[list[int]]:
        """The same, as lists of numbers of nodes."""
        number = {name: v for v, name in enumerate(self.names.tolist())}
        if self.kind == "flat":
            return [[v] for v in number.values()]
        lines = map(self.tree.ancestors, plain(self.classes))
        return [[number[name] for name in line if name in number] for line in lines]

    # sets of nodes ---------------------------------------------------------------------

    def _prepare_sets(self, X: Any, Y: Any, training: Training) -> Encoded:
        weights = check_weights(training.sample_weight, X.shape[0])
        sets = read_sets(Y, X.shape[0], self.taxonomy, self.separator, self.nodes)
        self.tree, self.kind = sets.taxonomy, "sets"
        self._score([self.tree.nodes[v] for v in sets.nodes])
        self.indicator = sets.columns is not None
        self.classes = np.array(sets.columns) if self.indicator else self.names
        self.constant = bool(self.fit_intercept)
        cost = node_costs(self.loss, self.names.tolist())
        _check_size(X.shape[1], len(self.names))
        batch = self._sets(X, sets.table, cost)
        return Encoded(batch, batch.n_features * batch.width, np.float64, weights)

    def _sets(self, X: Any, table: np.ndarray, cost: np.ndarray) -> Any:
        rows, n_features = rows_of(X, self.constant)
        more = table, cost, self.parents(), np.float64
        return node_sets.make_batch(*rows, n_features, *more)

    def encode(self, X: Any) -> Any:
        if self.kind != "sets":
            return super().encode(X)
        n = len(self.names)
        return self._sets(X, np.zeros((X.shape[0], n), np.int32), np.zeros(n))

    def output(self, batch: Any, i: int, labelling: Any) -> Any:
        if self.kind != "sets":
            return super().output(batch, i, labelling)
        return self.outputs(labelling[None])[0]

    def outputs(self, marks: np.ndarray) -> np.ndarray | list[set]:
        """What these marks of nodes stand for, as Y had it."""
        names = self.names.tolist()
        if not self.indicator:
            return [{names[v] for v in np.flatnonzero(row)} for row in marks]
        number = {name: v for v, name in enumerate(names)}
        out = np.zeros((len(marks), len(self.classes)), int)
        for j, name in enumerate(self.classes.tolist()):
            if name in number:  # columns that were all 0 stay so
                out[:, j] = marks[:, number[name]]
        return out

    def best_sets(self, scores: Any) -> np.ndarray:
        """The best closed sets under scores of nodes, as 0 and 1."""
        scores = np.array(scores, np.float64, order="C")  # a copy, which is destroyed
        chosen = np.zeros(scores.shape, np.int32)
        best_closures(make_network(self.parents()), scores, chosen)
        return chosen

    def parents(self) -> list[list[int]]:
        """The numbers of the parents of every node that has weights."""
        positions = [self.tree.position_of(name) for name in self.names.tolist()]
        return parents_within(self.tree, positions)

    def _score(self, names: Any) -> None:
        """These are the nodes with weights."""
        self.names, self.factors = np.array(names), np.ones(len(names))

    # weights ---------------------------------------------------------------------------

    def split(self, w: np.ndarray) -> dict[str, Any]:
        found = super().split(w)
        found["coef_"] *= self.factors[:, None]
        found["intercept_"] *= self.factors
        return found

    def join(self, fitted: Any) -> np.ndarray:
        w, n = super().join(fitted), len(self.names)
        w.reshape(-1, padded_width(n))[:, :n] /= self.factors
        return w

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        return {
            **super().attributes(),
            "taxonomy_": self.tree,
            "nodes_": self.names,
            "kind_": self.kind,
            "indicator_": self.indicator,
        }

    def saved(self) -> tuple[dict, dict]:
        tree = list(self.tree.as_dict().items())
        return {}, {"tree": tree, "tree_given": self.taxonomy is not None}

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        super().restore(saved, sizes)
        self.tree = tree = Taxonomy(dict(saved.value("tree", list)))
        if saved.value("tree_given", bool):
            self.taxonomy = tree
        self._score(saved.labels("nodes"))  # with factors that its weights contain
        self.kind = saved.value("kind", str)
        self.indicator = saved.value("indicator", bool)
        names = expected = plain(self.names)
        if self.kind == "flat":
            expected = plain(self.classes)
        elif self.kind == "hierarchical":
            lines = class_lines(tree, plain(self.classes))
            expected = [tree.nodes[v] for v in lines.nodes]
        elif self.kind == "sets":
            self.parents()  # a KeyError if one is missing
        else:
            raise ValueError(f"the kind {self.kind!r} is not known")
        if sorted(expected) != sorted(names) or not len(self.classes):
            raise ValueError("classes and nodes do not fit together")


def _check_size(n_features: int, n_nodes: int) -> None:
    """A wrong feature number in a file must not take all memory."""
    if n_features * n_nodes > MOST_WEIGHTS:
        raise ValueError(
            f"X has {n_features:,} features, and with {n_nodes:,} nodes or classes that "
            f"makes more than {MOST_WEIGHTS:,} weights: number features without holes, or "
            "leave out rare ones."
        )
