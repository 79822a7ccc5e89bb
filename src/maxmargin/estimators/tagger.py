"""SequenceTagger: label every token of a sequence."""

from __future__ import annotations

from itertools import chain as chain_lists
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.estimators.base import Encoded, MaxMarginEstimator, check_weights
from maxmargin.estimators.multiclass import restore_shared, shared_state
from maxmargin.losses import cost_table


class SequenceTagger(MaxMarginEstimator):
    """Structural SVM for label sequences (hidden Markov SVM) with certified training.

    A sequence in X is a 2-D array (tokens x features), a sparse matrix, or a list of
    tokens, each a dict or a list of strings as in sklearn-crfsuite. y is a list of label
    sequences, strings or integers. Empty sequences are allowed and predicted as empty.

    Parameters
    ----------
    C : float, default 1.0
        Per sequence, not divided by their number (``maxmargin.convert_C`` translates).
    loss : "hamming", "zero-one", dict, array or function, default "hamming"
        "hamming" counts wrong labels (not divided by the length), "zero-one" is 1 for
        any wrong sequence; others give the cost of one label against another, summed.
    forbidden : list of (label, label) or None
        Transitions that must not occur, at training and prediction; ``None`` in a pair
        stands for the start (first place) or the end (second place) of the sequence.
    tol : float, default 0.1
        Relative gap to stop at. On CoNLL-2000 test accuracy no longer moves below it
        (``benchmarks/chunking.py`` prints the curve).
    rescaling, penalty, solver, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    classes_ : ndarray of the labels, sorted
    coef_ : ndarray (labels, features)
    transitions_ : ndarray (labels, labels), from row to column
    first_, last_ : ndarray (labels,)
    feature_names_ : list of str, or None for numeric input
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from maxmargin import SequenceTagger
    >>> X = [[["the"], ["dog"], ["barks"]], [["dogs"], ["bark"]]]
    >>> y = [["D", "N", "V"], ["N", "V"]]
    >>> tagger = SequenceTagger(C=10).fit(X, y)
    >>> tagger.predict([[["the"], ["dogs"], ["bark"]]])
    [['D', 'N', 'V']]
    """

    _model_name = "SequenceTagger.v1"

    def __init__(
        self,
        C=1.0,
        loss="hamming",
        forbidden=None,
        rescaling="margin",
        penalty="linear",
        solver="auto",
        tol=0.1,
        max_iter=None,
        max_time=None,
        warm_start=False,
        n_jobs=1,
        random_state=None,
        verbose=0,
        callbacks=None,
    ):
        self.C = C
        self.loss = loss
        self.forbidden = forbidden
        self.rescaling = rescaling
        self.penalty = penalty
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.max_time = max_time
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    # prediction ------------------------------------------------------------------------

    def predict(self, X) -> list[list[Any]]:
        """The best label sequence of every input."""
        from maxmargin.structures.decode import decode

        batch = self._batch(X)
        return self._sequences(batch, decode(batch, self._w, self._threads()))

    def predict_k_best(self, X, k: int) -> list[list[tuple[list[Any], float]]]:
        """The k best label sequences of every input with their scores, best first."""
        from maxmargin.structures.chain_inference import k_best

        if not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(
                f"k={k!r} is not possible: it must be a whole number >= 1."
            )
        batch = self._batch(X)
        labels, scores = k_best(batch, self._w, int(k), self._threads())
        ranked = [self._sequences(batch, row) for row in labels]
        return [
            [
                (ranked[rank][i], float(scores[rank, i]))
                for rank in range(k)
                if scores[rank, i] > -np.inf
            ]
            for i in range(len(batch.start) - 1)
        ]

    def predict_marginals(self, X) -> list[np.ndarray]:
        """Per sequence (tokens, labels): probabilities under exp(score) / Z.

        Scores of a maximum-margin model are not calibrated: these rank the labels, but
        0.9 need not mean right nine times out of ten.
        """
        return self._tables(X, "sum")

    def decision_function(self, X) -> list[np.ndarray]:
        """Per sequence (tokens, labels): the best score of a sequence with that label.

        The largest entry of every row is the score of the predicted sequence; the
        difference to the others says how much is lost by another label there.
        """
        return self._tables(X, "max")

    def score(self, X, y, sample_weight=None) -> float:
        """Share of labels predicted right."""
        X = list(X)
        y = _check_labels(X, y)
        weights = check_weights(sample_weight, len(y))
        predicted = self.predict(X)
        _check_matching(np.cumsum([0, *map(len, predicted)]), y)
        right = total = 0.0
        for weight, truth, found in zip(weights, y, predicted, strict=True):
            right += weight * sum(a == b for a, b in zip(truth, found, strict=True))
            total += weight * len(truth)
        return right / total if total else 1.0

    def _tables(self, X, kind):
        from maxmargin.structures.chain_inference import table_per_token

        batch = self._batch(X)
        table = table_per_token(kind, batch, self._w, self._threads())
        return np.split(table, batch.start[1:-1]) if len(batch.start) > 1 else []

    def _batch(self, X):
        from maxmargin.structures.chain import make_batch

        check_is_fitted(self, "coef_")
        tokens = self._encoder.encode(X)
        k = len(self.classes_)
        barrier = _barrier(self.forbidden, self._labels)
        cost = np.zeros((k, k))
        d = self.coef_.shape[1]
        batch = make_batch(tokens, d, None, cost, barrier, False, self._w.dtype)
        if barrier is not None:
            self._check_possible(batch)
        return batch

    def _sequences(self, batch, flat) -> list[list[Any]]:
        labels = [self._labels[k] for k in flat.tolist()]
        cut = batch.start.tolist()
        return [labels[a:b] for a, b in pairwise(cut)]

    def _check_possible(self, batch) -> None:
        """Forbidden transitions may leave no sequence of some length."""
        from maxmargin.structures.decode import decode

        flat = decode(batch, self._w, self._threads())
        wall = batch.barrier
        k = batch.n_labels
        for i in range(len(batch.start) - 1):
            y = flat[batch.start[i] : batch.start[i + 1]]
            if len(y) and (
                np.isinf(wall[k, y[0]])
                or np.isinf(wall[k + 1, y[-1]])
                or np.isinf(wall[y[:-1], y[1:]]).any()
            ):
                raise ValueError(
                    f"sequence {i} has {len(y)} tokens, and the forbidden transitions "
                    "leave no label sequence of that length: allow more."
                )

    # training --------------------------------------------------------------------------

    def _encode(self, X, y, sample_weight) -> Encoded:
        from maxmargin.features import TokenEncoder
        from maxmargin.structures.chain import make_batch

        X = X if isinstance(X, (list, tuple, np.ndarray)) else list(X)
        y = _check_labels(X, y)
        weights = check_weights(sample_weight, len(y))
        labels = _label_set(y)
        numbers = {label: k for k, label in enumerate(labels)}
        encoder = TokenEncoder()
        tokens = encoder.fit_encode(X)
        _check_matching(tokens.start, y)
        flat = np.fromiter(
            map(numbers.__getitem__, chain_lists.from_iterable(y)), np.int32
        )
        cost = cost_table(self.loss, labels)
        barrier = _barrier(self.forbidden, labels)
        if barrier is not None:
            _check_allowed(barrier, flat, tokens.start, labels)
        dtype = self._working_dtype(tokens.values)
        zero_one = isinstance(self.loss, str) and self.loss == "zero-one"
        d = tokens.n_features
        batch = make_batch(tokens, d, flat, cost, barrier, zero_one, dtype)
        attributes = {
            "_encoder": encoder,
            "_labels": labels,
            "classes_": np.array(labels),
            "feature_names_": encoder.feature_names(),
        }
        return Encoded(
            batch, (d + len(labels) + 2) * batch.width, dtype, weights, attributes
        )

    def _install(self, encoded: Encoded, w) -> None:
        batch = encoded.batch
        self._set_weights(w, batch.n_labels, batch.n_features, batch.width)

    def _set_weights(self, w, k, d, width) -> None:
        """Public attributes are views of the one table that prediction uses."""
        rows = w.reshape(-1, width)
        self._w = w
        self.coef_ = rows[:d, :k].T
        self.transitions_ = rows[d : d + k, :k]
        self.first_, self.last_ = rows[d + k, :k], rows[d + k + 1, :k]

    def __getstate__(self):
        # the public tables are views of _w: pickled apart they would become copies
        state = dict(super().__getstate__())
        for name in ("coef_", "transitions_", "first_", "last_"):
            state.pop(name, None)
        return state

    def __setstate__(self, state):
        from maxmargin.structures.layout import padded_width

        super().__setstate__(state)
        if "_w" in self.__dict__:
            k = len(self._labels)
            width = padded_width(k)
            self._set_weights(self._w, k, len(self._w) // width - k - 2, width)

    # saving (model_file.py) ------------------------------------------------------------

    def _get_state(self):
        encoder = self._encoder
        arrays = {"w": self._w}
        state = {
            "labels": list(self._labels),
            "kind": encoder.kind,
            "n_features": int(self.coef_.shape[1]),
            "vocabulary": encoder.feature_names(),
            **shared_state(self),
        }
        return arrays, state

    @classmethod
    def _from_state(cls, params, arrays, state):
        from maxmargin.features import TokenEncoder
        from maxmargin.structures.layout import padded_width

        model = cls(**params)
        labels, d = state["labels"], state["n_features"]
        k = len(labels)
        width = padded_width(k)
        if k < 1 or arrays["w"].shape != ((d + k + 2) * width,):
            raise ValueError("weights and labels do not fit together")
        encoder = TokenEncoder()
        encoder.kind = state["kind"]
        if encoder.kind == "tokens":
            names = state["vocabulary"]
            encoder.vocabulary = {name: j for j, name in enumerate(names)}
            if len(encoder.vocabulary) != d:
                raise ValueError("weights and vocabulary do not fit together")
        encoder.n_features_in = d
        model._encoder = encoder
        model._labels = labels
        model.classes_ = np.array(labels)
        model.feature_names_ = encoder.feature_names()
        model._set_weights(arrays["w"], k, d, width)
        return restore_shared(model, state)


def _check_labels(X, y):
    """y as a list of label sequences, as many as X."""
    if y is None:
        raise ValueError("y is missing: give one label sequence per sequence of X.")
    if isinstance(y, str):
        raise ValueError("y is one string: give a list of label sequences.")
    y = list(y)
    for i, labels in enumerate(y):
        if isinstance(labels, str) or not hasattr(labels, "__len__"):
            raise ValueError(
                f"y[{i}] is {labels!r}, not a sequence of labels: y must be a list of "
                "label sequences, one per sequence of X."
            )
    if len(y) != len(X):
        raise ValueError(
            f"X has {len(X)} sequences, but y has {len(y)}: give one label sequence "
            "per sequence."
        )
    return y


def _check_matching(start, y) -> None:
    lengths = np.diff(start)
    given = np.fromiter(map(len, y), np.int64, len(y))
    wrong = np.flatnonzero(lengths != given)
    if len(wrong):
        i = wrong[0]
        raise ValueError(
            f"sequence {i} has {lengths[i]} tokens, but y[{i}] has {given[i]} labels: "
            "give one label per token."
        )


def _label_set(y) -> list:
    """The distinct labels, sorted; plain str or int, so that they can be saved."""
    try:
        labels = set(chain_lists.from_iterable(y))
    except TypeError:
        i, label = next(
            (i, z) for i, row in enumerate(y) for z in row if z.__hash__ is None
        )
        raise ValueError(
            f"y[{i}] holds {label!r}: labels must be strings or integers."
        ) from None
    labels = {z.item() if isinstance(z, np.generic) else z for z in labels}
    for kind in (str, int):
        if all(isinstance(z, kind) and not isinstance(z, bool) for z in labels):
            break
    else:
        strange = next(
            (z for z in labels if not isinstance(z, (str, int)) or isinstance(z, bool)),
            None,
        )
        where, text = "", "labels mix strings and integers"
        if strange is not None:
            i = next(i for i, row in enumerate(y) if any(z is strange for z in row))
            where, text = f"y[{i}] holds ", f"{strange!r}"
        raise ValueError(f"{where}{text}: labels must be all strings or all integers.")
    if len(labels) < 2:
        raise ValueError(
            f"y holds one label only ({', '.join(map(repr, labels))}): at least two "
            "labels are needed to learn to tell them apart."
        )
    return sorted(labels)


def _barrier(forbidden, labels):
    """(labels + 2, labels): -inf where a transition, start or end is forbidden."""
    if not forbidden:
        return None
    numbers = {label: k for k, label in enumerate(labels)}
    k = len(labels)
    wall = np.zeros((k + 2, k))
    for pair in forbidden:
        try:
            a, b = pair
        except (TypeError, ValueError):
            raise ValueError(
                f"forbidden holds {pair!r}: give pairs (label, next label)."
            ) from None
        unknown = [z for z in (a, b) if z is not None and z not in numbers]
        if a is None and b is None:
            raise ValueError("forbidden holds (None, None): one label is needed.")
        if unknown:
            # a label that never occurs cannot be predicted: nothing to forbid
            continue
        if a is None:
            wall[k, numbers[b]] = -np.inf
        elif b is None:
            wall[k + 1, numbers[a]] = -np.inf
        else:
            wall[numbers[a], numbers[b]] = -np.inf
    return wall


def _check_allowed(wall, flat, start, labels) -> None:
    """The training data must obey the constraints; says where they do not."""
    k = len(labels)
    for i in range(len(start) - 1):
        y = flat[start[i] : start[i + 1]]
        if len(y) == 0:
            continue
        steps = np.isinf(wall[y[:-1], y[1:]])
        if np.isinf(wall[k, y[0]]):
            what = f"starts with {labels[y[0]]!r}"
        elif np.isinf(wall[k + 1, y[-1]]):
            what = f"ends with {labels[y[-1]]!r}"
        elif steps.any():
            t = int(np.flatnonzero(steps)[0])
            what = (
                f"goes from {labels[y[t]]!r} to {labels[y[t + 1]]!r} at token {t + 1}"
            )
        else:
            continue
        raise ValueError(
            f"y[{i}] {what}, which is forbidden: correct the data or allow it."
        )
