"""TaxonomySVM: classes in a tree or DAG, which share the weights of their ancestors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from maxmargin.classes.corpus import ClassCorpus
from maxmargin.classes.input import plain
from maxmargin.classes.multiclass import MulticlassSVM, truth_of
from maxmargin.classes.parameters import TaxonomySVMParameters
from maxmargin.classes.taxonomy import Node, Taxonomy, taxonomy_of_labels
from maxmargin.classes.taxonomy.labels import as_sets, check_known, mark_sets
from maxmargin.classes.taxonomy.metrics import (
    NodeSetReport,
    TaxonomyReport,
    class_scores,
    node_set_scores,
)
from maxmargin.classes.taxonomy.structure import TaxonomyClasses
from maxmargin.classes.taxonomy.view import taxonomy
from maxmargin.classes.view import classes, members
from maxmargin.core.listed import given_or, listed
from maxmargin.fitting.calibration import Chances
from maxmargin.fitting.saving import labels, value
from maxmargin.fitting.tables import one_row, read_rows
from maxmargin.views.view import View

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class TaxonomySVM(TaxonomySVMParameters, MulticlassSVM, init=False):
    """Support vector machine for classes in a taxonomy.

    The score of a class is the sum of the scores of its node and all nodes above it,

        score(x, y) = sum over v in lineage(y) of w_v . x,

    so related classes learn from each other, and the loss can be small for near misses.

    Parameters
    ----------
    taxonomy : Taxonomy, dict, list or None
        See :func:`maxmargin.classes.taxonomy.as_taxonomy`. None: labels are paths, such as
        "rec.sport.hockey".
    C : float or None, default None
        None is the rule of :class:`maxmargin.MulticlassSVM` for classes, 1 for sets.
    mode : "hierarchical" or "flat"
        Flat gives every class weights of its own, as MulticlassSVM does; the taxonomy
        then only defines the loss.
    loss : "tree", "tree-height", "tree-distance", "zero-one", dict, array or function
        See ``classes/taxonomy/losses.py``; "tree" (default) is "tree-height". Other
        than by name, as in MulticlassSVM. With ``multilabel``: what a wrong node costs,
        1 ("tree" or "hamming") or by a dict of node weights.
    multilabel : bool, default False
        Outputs are sets of nodes with all their ancestors; y holds a list of labels per
        sample, or is a 0/1 matrix. The empty set is possible.
    nodes : list or None
        Names of the columns if y is a 0/1 matrix (default: their numbers).
    separator : str, default "."
        The separator in paths.
    node_weights : None, dict or function of the depth
        How much nodes count, 1 by default: a node with weight z is regularised as if
        its features were multiplied by z.
    fit_intercept, unlabelled_weight, rescaling, penalty, solver, tol, max_iter, max_time,
    warm_start, n_jobs, random_state, verbose, callbacks, objective, engine, checkpoint,
    resume
        As in :class:`maxmargin.MulticlassSVM`.

    Attributes
    ----------
    taxonomy_ : Taxonomy
    classes_ : ndarray; with ``multilabel``, the nodes (or columns) that can be predicted
    nodes_ : ndarray, the nodes that have weights: ancestors of classes, those of all
        classes left out, for they cancel
    coef_ : ndarray of shape (nodes, features)
    intercept_ : ndarray of shape (nodes,)
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from maxmargin import TaxonomySVM
    >>> X = [[1, 1, 0], [1, 0, 1], [0, 1, 0], [1, 1, 0.2]]
    >>> model = TaxonomySVM(C=10).fit(X, ["pet.cat", "pet.dog", "car", "pet.cat"])
    >>> model.predict([[1, 0, 0.9]]).tolist()
    ['pet.dog']
    >>> model.predict_path([[1, 0, 0.9]])
    [['pet', 'pet.dog']]

    References
    ----------
    Tsochantaridis, Hofmann, Joachims & Altun (2004), Support vector machine learning for
    interdependent and structured output spaces.
    """

    _structure_class = TaxonomyClasses
    _model_name = "TaxonomySVM.v1"
    _compares_labels = False  # what is not one of them is refused
    _fields = (
        labels("classes_", "classes"),
        labels("nodes_", "k"),
        *MulticlassSVM._fields[1:],
        value("kind_", str),
        value("indicator_", bool),
    )
    _params_in_state = ("taxonomy",)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = bool(self.multilabel)
        return tags

    # using ------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of shape (samples, classes); with ``multilabel``, (samples, nodes_).

        With two classes, the second minus the first, as in scikit-learn.
        """
        return self._node_scores(X) if self._sets else super().decision_function(X)

    def predict(self, X: Any) -> np.ndarray | list[set[Node]]:
        """The class with the largest score; with ``multilabel``, the best closed sets.

        Sets hold all ancestors (``taxonomy_.lowest`` gives the most special nodes). If y
        was a 0/1 matrix, a matrix with the same columns is returned.
        """
        if not self._sets:
            return super().predict(X)
        return self.structure_.outputs(self._closures(X))

    def _chances(self, X, y, predicted) -> Chances:
        self._one_class()
        return super()._chances(X, y, predicted)

    def _margins(self, X) -> np.ndarray:
        self._one_class()
        return super()._margins(X)

    def _one_class(self) -> None:
        if self._sets:
            raise ValueError(
                "calibrate needs one class per sample: closed sets of nodes "
                "(multilabel=True) have no sums over all of them."
            )

    def predict_path(self, X: Any) -> list[list[Node]]:
        """The predicted class of every sample and its ancestors, from the top down."""
        if self._sets:
            names = self.nodes_.tolist()
            return [
                [names[v] for v in np.flatnonzero(row)] for row in self._closures(X)
            ]
        found: Any = self.predict(X)
        predicted = plain(found)
        lines = {label: self.taxonomy_.ancestors(label) for label in set(predicted)}
        return [list(lines[label]) for label in predicted]

    def show(self, x: Any, y: Any = None, **options: Any) -> View:
        """The way to the predicted class, or to a set of nodes, and the strongest scores.

        With the true class or set y, what is right. ``options`` go to
        :func:`maxmargin.views.classes`.
        """
        X = one_row(x)
        (found, *_), true = self.predict(X), y
        scores, names = self._scores(X)[0], self.classes_
        if self._sets:
            (found,) = self._as_sets(np.array([found]) if self.indicator_ else [found])
            if y is not None:
                row = np.reshape(y, (1, -1)) if self.indicator_ else [y]
                (true,) = self._as_sets(row)
            scores, names = self._node_scores(X)[0], self.nodes_
        tree = self.taxonomy_with([] if true is None else members(true))
        way = taxonomy(tree, found, true)
        if self._sets and true is not None:
            true = tree.closure(true)
        bars = classes(scores, names, found, true, **options)
        return View(way.body + bars.picture, way.text, bars.picture)

    def score(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """The share of samples whose class, or whole set, is exactly right."""
        if not self._sets:
            return super().score(X, y, sample_weight)
        truth, found = self._as_sets(y), self._as_sets(self.predict(X))
        tree = self.taxonomy_with(set().union(*truth))
        marks = [mark_sets(tree, sets) for sets in (truth, found)]
        right = (marks[0] == marks[1]).all(axis=1)
        return float(np.average(right, weights=sample_weight))  # type: ignore[arg-type]

    def evaluate(
        self, X: Any, y: Any = None, *, predicted: Any = None
    ) -> TaxonomyReport | NodeSetReport:
        """Accuracy, tree loss and scores by level; ``print`` it.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        predicted = given_or(predicted, lambda: self.predict(X))
        y = truth_of(X, y)
        if self._sets:
            sets, others = self._as_sets(y), self._as_sets(predicted)
            tree = self.taxonomy_with(set().union(*sets))
            return node_set_scores(tree, sets, others)
        truth = listed(y, f"y is {y!r}, not a list with the class of every sample.")
        truth, found = (plain(column_or_1d(labels)) for labels in (truth, predicted))
        tree = self.taxonomy_with(truth)
        check_known(tree, truth, set(truth))
        return class_scores(tree, truth, found)

    def taxonomy_with(self, labels: Any) -> Taxonomy:
        """The taxonomy, and labels that are paths and new; to compare with only."""
        check_is_fitted(self, "coef_")
        new = [] if self.taxonomy is not None else sorted(set(labels), key=str)
        new = [label for label in new if label not in self.taxonomy_]
        if not new or not isinstance(new[0], type(self.taxonomy_.nodes[0])):
            return self.taxonomy_
        return taxonomy_of_labels([*self.taxonomy_.nodes, *new], self.separator)

    @property
    def _sets(self) -> bool:
        check_is_fitted(self, "coef_")
        return self.kind_ == "sets"

    def _as_sets(self, y) -> list[set]:
        return as_sets(y, self.classes_.tolist() if self.indicator_ else None)[0]

    def _node_scores(self, X) -> np.ndarray:
        return super()._scores(X)

    def _scores(self, X) -> np.ndarray:
        scores = self._node_scores(X)
        return scores if self.kind_ == "flat" else scores @ self.structure_.marks().T

    def _closures(self, X) -> np.ndarray:
        return self.structure_.best_sets(self._node_scores(X))

    # training ---------------------------------------------------------------------------

    def _read(self, X, y) -> tuple:
        if not self.multilabel:
            return super()._read(X, y)
        if isinstance(X, ClassCorpus):
            raise ValueError(
                f"{X.folder} has one class per vector: sets of labels (multilabel=True) "
                "are trained in memory."
            )
        if self.mode == "flat":
            raise ValueError(
                'mode="flat" is for one class per sample; with multilabel=True, labels are '
                "independent if the taxonomy has roots only."
            )
        if self.node_weights is not None:
            raise ValueError("node_weights is for one class per sample: leave it None.")
        X, attributes = read_rows(self, X)
        return X, y, attributes

    # saving (files/model_file.py) ------------------------------------------------------

    def _loaded(self, saved, sizes) -> None:
        super()._loaded(saved, sizes)
        self.taxonomy = self.structure_.taxonomy
