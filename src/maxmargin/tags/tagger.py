"""SequenceTagger: label every token of a sequence."""

from __future__ import annotations

from itertools import chain as chain_lists
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.choices import check_objective
from maxmargin.core.estimator import (
    Encoded,
    MaxMarginEstimator,
    check_weights,
    restore_shared,
    shared_state,
)
from maxmargin.core.label_costs import cost_table
from maxmargin.core.parameters import training_parameters
from maxmargin.tags.input import (
    barrier_of,
    check_allowed,
    check_matching,
    check_samples,
    label_set,
    warn_of_length,
)
from maxmargin.tags.objectives import (
    DECODINGS,
    OBJECTIVES,
    check_options,
    make_objective,
)
from maxmargin.tags.partial import fit_with_gaps, has_gaps, known_runs
from maxmargin.tags.schemes import check_scheme, forbidden_transitions, guess_scheme

FEATURE_OPTIONS = ("gazetteers", "dense", "hash_bits")


class SequenceTagger(MaxMarginEstimator):
    """Label every token of a sequence: hidden Markov SVM, CRF and their relatives.

    A sequence in X is a 2-D array (tokens x features), a sparse matrix, or a list of
    tokens, each a dict or a list of strings as in sklearn-crfsuite. With ``features``, X
    is what :func:`maxmargin.files.read_columns` returns, or a list of sentences of rows of
    strings. y is a list of label sequences, strings or integers; ``None`` in it is a
    label that is not known. Empty sequences are allowed and predicted as empty.

    Parameters
    ----------
    objective : str, default "hinge"
        What is minimised, beside 1/2 |w|^2: the loss of the truth y among all labellings.

        - "hinge": one slack per sequence (structural SVM)
        - "log": -log p(y), the conditional random field
        - "marginal": -sum_t log p(y_t), decoded token by token
        - "exponential": 1 / p(y) - 1, halved for every token; a baseline, which learns
          long sequences badly
        - "hinge-per-output": one slack per sequence and labelling, for short sequences
        - "boosting": the exponential loss without 1/2 |w|^2, one weight per round, 200
          rounds: a baseline with sparse weights and no certificate
        - "perceptron", "passive-aggressive": averaged, 10 passes, no certificate

    C : float, default 1.0
        Per sequence, not divided by their number (``maxmargin.convert_C`` translates).
    features : str, path or None
        A feature template (text or file) in the syntax of CRF++, or the name of a ready
        set ("chunking", "ner", "pos"); see ``docs/features.md``. None: X holds features.
    min_count : int, default 1
        With ``features``, leave out features seen fewer times in training.
    feature_options : dict or None
        More for ``ColumnEncoder`` (tags/features): ``gazetteers`` (word lists),
        ``dense`` (word vectors beside the sparse features), ``hash_bits``.
    order : 0, 1 or 2, default 1
        1 learns transitions between labels, 2 also weights of three labels in a row, 0
        labels every token on its own. 2 needs the hinge, the perceptron or
        passive-aggressive, and has no k-best sequences, marginals or scores.
    scheme : "BIO", "IOB1", "BIOES" or None
        Make label sequences that break this scheme impossible.
    decoding : "auto", "viterbi" or "posterior", default "auto"
        The best sequence, or the most probable label of every token ("auto" chooses that
        for the marginal objective only). With forbidden transitions or a scheme, the
        allowed sequence with the largest sum of these probabilities.
    l1 : float, default 0.0
        Adds l1 |w|_1 to "log", "marginal" or "exponential": sparse weights.
    loss : "hamming", "zero-one", "spans", dict, array or function, default "hamming"
        "hamming" counts wrong labels (not divided by the length), "zero-one" is 1 for
        any wrong sequence, "spans" counts spans missed and spans invented; others give
        the cost of one label against another, summed.
    forbidden : list of (label, label) or None
        Transitions that must not occur, at training and prediction; ``None`` in a pair
        stands for the start (first place) or the end (second place) of the sequence.
    tol : float or None
        Relative gap to stop at. None is 0.1 for the hinge and 0.01 for the others, where
        test accuracy has all but stopped moving (``benchmarks/chunking.py`` and
        ``benchmarks/tagging.py`` print the curves).
    solver : str, default "auto"
        For "log" also "exponentiated" (the default starts with it and goes on with L-BFGS
        where it is stuck) or "lbfgs", which "marginal", "exponential" and l1 use. For
        "hinge" as in :class:`maxmargin.StructuralSVM`.
    rescaling, penalty, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    classes_ : ndarray of the labels, sorted
    coef_ : ndarray (labels, features)
    transitions_ : ndarray (labels, labels), from row to column
    first_, last_ : ndarray (labels,)
    triples_ : ndarray (labels, labels, labels), for order=2 only
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
    _objectives = OBJECTIVES
    _params_in_state = ("feature_options",)

    __init__ = training_parameters(
        C=1.0,
        objective="hinge",
        loss="hamming",
        features=None,
        min_count=1,
        feature_options=None,
        order=1,
        scheme=None,
        forbidden=None,
        decoding="auto",
        l1=0.0,
        tol=None,
    )

    def fit(self, X, y, sample_weight=None):
        """Train on sequences X and label sequences y, in which None is unknown.

        A call that raises leaves the estimator as it was. Ctrl-C ends training and keeps
        the best weights found so far.
        """
        if not has_gaps(y):
            return super().fit(X, y, sample_weight)
        model = clone(self)
        fit_with_gaps(model, X, y, sample_weight, super(SequenceTagger, model).fit)
        self.__dict__.update(model.__dict__)
        return self

    def complete(self, X, y) -> list[list[Any]]:
        """y with every None replaced by the best label, given the known ones."""
        from maxmargin.tags.chain_inference import complete

        X, y = check_samples(X, y)
        batch, start = self._batch(X)
        check_matching(start, y)
        numbers = {label: k for k, label in enumerate(self._labels)}
        known = np.fromiter(
            (numbers.get(label, -1) for label in chain_lists.from_iterable(y)), np.int32
        )
        flat = complete(batch, self._w, known, self._threads())
        return [
            [b if a is None else a for a, b in zip(given, found, strict=True)]
            for given, found in zip(y, self._sequences(start, flat), strict=True)
        ]

    # prediction ------------------------------------------------------------------------

    def predict(self, X) -> list[list[Any]]:
        """The best label sequence of every input."""
        from maxmargin.core.decode import decode
        from maxmargin.tags.chain_inference import decode_posteriors

        batch, start = self._batch(X)
        search = decode_posteriors if self._decoding() == "posterior" else decode
        flat = search(batch, self._w, self._threads())
        return self._sequences(start, flat)

    def _decoding(self) -> str:
        if self.decoding not in DECODINGS:
            raise ValueError(
                f"decoding={self.decoding!r} is not known; choose one of "
                f"{', '.join(DECODINGS)}."
            )
        if self.decoding != "auto":
            return self.decoding
        return "posterior" if self.objective == "marginal" else "viterbi"

    def predict_k_best(self, X, k: int) -> list[list[tuple[list[Any], float]]]:
        """The k best label sequences of every input with their scores, best first."""
        from maxmargin.tags.chain_inference import k_best

        if not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(
                f"k={k!r} is not possible: it must be a whole number >= 1."
            )
        if self.order != 1:
            raise ValueError(
                "predict_k_best ranks whole sequences, which needs order=1."
            )
        batch, start = self._batch(X)
        labels, scores = k_best(batch, self._w, int(k), self._threads())
        ranked = [self._sequences(start, row) for row in labels]
        return [
            [
                (ranked[rank][i], float(scores[rank, i]))
                for rank in range(k)
                if scores[rank, i] > -np.inf
            ]
            for i in range(len(start) - 1)
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
        X, y = check_samples(X, y)
        weights = check_weights(sample_weight, len(y))
        predicted = self.predict(X)
        check_matching(np.cumsum([0, *map(len, predicted)]), y)
        right = total = 0.0
        for weight, truth, found in zip(weights, y, predicted, strict=True):
            right += weight * sum(a == b for a, b in zip(truth, found, strict=True))
            total += weight * len(truth)
        return right / total if total else 1.0

    def _tables(self, X, kind):
        from maxmargin.tags.chain_inference import table_per_token

        if self.order == 2:
            raise ValueError("order=2 has no scores per token: fit with order=1.")
        batch, start = self._batch(X)
        table = table_per_token(kind, batch, self._w, self._threads())
        return np.split(table, start[1:-1]) if len(start) > 1 else []

    def _batch(self, X):
        """(batch, where its sequences start, which order=0 cuts into tokens)."""
        from maxmargin.tags.chain import make_batch

        check_is_fitted(self, "coef_")
        tokens = self._encoder.encode(self._input(X))
        k = len(self.classes_)
        barrier = self._barrier(self._labels)
        cost = np.zeros((k, k))
        d = self.coef_.shape[1]
        cut = self._cut(tokens)
        batch = make_batch(cut, d, None, cost, barrier, False, self._w.dtype)
        batch = self._raise_order(batch)
        if barrier is not None:
            self._check_possible(batch)
        return batch, tokens.start

    def _input(self, X):
        """X as its encoder wants it."""
        if self.features is None:
            return X
        from maxmargin.tags.files.columns import Columns, columns_from

        return X if isinstance(X, Columns) else columns_from(X)

    def _cut(self, tokens):
        """Without transitions a sequence is a bag of tokens: one sequence each."""
        if self.order > 0:
            return tokens
        return tokens._replace(start=np.arange(tokens.start[-1] + 1))

    def _raise_order(self, batch):
        from maxmargin.tags.second_order import second_order

        return second_order(batch) if self.order == 2 else batch

    def _n_rows(self, d: int, k: int) -> int:
        """Rows of the table of weights."""
        return d + k + 2 + (k * k if self.order == 2 else 0)

    def _barrier(self, labels):
        pairs = self.forbidden
        if self.scheme is not None:
            pairs = [*(pairs or ()), *forbidden_transitions(labels, self.scheme)]
        return barrier_of(pairs, labels)

    def _sequences(self, start, flat) -> list[list[Any]]:
        labels = [self._labels[k] for k in flat.tolist()]
        return [labels[a:b] for a, b in pairwise(start.tolist())]

    def _check_possible(self, batch) -> None:
        """Forbidden transitions may leave no sequence of some length."""
        from maxmargin.core.decode import decode

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

    def _settings(self):
        check_objective(self)
        check_options(self)
        self._decoding()
        options = self.feature_options
        if options is not None and not (
            isinstance(options, dict) and set(options) <= set(FEATURE_OPTIONS)
        ):
            raise ValueError(
                f"feature_options={options!r} is not possible: it must be None or a dict "
                f"of {', '.join(FEATURE_OPTIONS)}."
            )
        if options and self.features is None:
            raise ValueError("feature_options needs features, a template or a name.")
        return super()._settings()

    def _tolerance(self) -> float:
        if self.tol is None:
            return 0.1 if self.objective == "hinge" else 0.01
        return super()._tolerance()

    def _make_objective(self, *arguments):
        return make_objective(self, *arguments) or super()._make_objective(*arguments)

    def _encode(self, X, y, sample_weight) -> Encoded:
        from maxmargin.core.rows import by_frequency, padded_width
        from maxmargin.tags.chain import make_batch

        X, y = check_samples(self._input(X), y)
        weights = check_weights(sample_weight, len(y))
        labels = label_set(y)
        numbers = {label: k for k, label in enumerate(labels)}
        gaps = has_gaps(y)
        if self.scheme is not None and not gaps:
            check_scheme(y, self.scheme)
        encoder = self._new_encoder()
        tokens = encoder.fit_encode(X)
        check_matching(tokens.start, y)
        warn_of_length(tokens.start)
        if gaps and not labels:
            raise ValueError("y holds no known label: at least two are needed.")
        if gaps:
            numbers[None] = -1
        flat = np.fromiter(
            map(numbers.__getitem__, chain_lists.from_iterable(y)), np.int32
        )
        spans = self._span_tables(labels)
        cost = cost_table("hamming" if spans else self.loss, labels)
        barrier = self._barrier(labels)
        if gaps:
            tokens, flat, weights = known_runs(tokens, flat, weights)
            if barrier is not None:
                barrier[len(labels) :] = 0.0  # a run may begin and end with any label
        if barrier is not None:
            check_allowed(barrier, flat, tokens.start, labels)
        dtype = self._working_dtype(tokens.values, weights)
        zero_one = isinstance(self.loss, str) and self.loss == "zero-one"
        d = tokens.n_features
        if self.order == 0:
            weights = np.repeat(weights, np.diff(tokens.start))
        tokens, feature_of_row = by_frequency(tokens, padded_width(len(labels)))
        cut = self._cut(tokens)
        batch = make_batch(cut, d, flat, cost, barrier, zero_one, dtype, spans)
        batch = self._raise_order(batch)
        attributes = {
            "_encoder": encoder,
            "_labels": labels,
            "classes_": np.array(labels),
        }
        return Encoded(
            batch,
            self._n_rows(d, len(labels)) * batch.width,
            dtype,
            weights,
            attributes,
            feature_of_row,
        )

    def _span_tables(self, labels):
        from maxmargin.tags.chain_spans import span_tables

        if not isinstance(self.loss, str) or self.loss != "spans":
            return None
        if guess_scheme(labels) is None:
            raise ValueError(
                "loss='spans' needs labels in a span scheme, such as B-PER, I-PER and O."
            )
        return span_tables(labels)

    def _new_encoder(self):
        from maxmargin.tags.features import ColumnEncoder, TokenEncoder

        if self.features is None:
            return TokenEncoder()
        options = getattr(self, "feature_options", None) or {}
        return ColumnEncoder(self.features, min_count=self.min_count, **options)

    @property
    def feature_names_(self):
        """Names of the features by index, or None for numeric input."""
        check_is_fitted(self, "coef_")
        return self._encoder.feature_names()

    def _install(self, encoded: Encoded, w) -> None:
        batch = encoded.batch
        if encoded.feature_of_row is not None:
            rows = w.reshape(-1, batch.width)
            w = rows.copy()
            w[encoded.feature_of_row] = rows[: batch.n_features]
            w = w.ravel()
        self._set_weights(w, batch.n_labels, batch.n_features, batch.width)

    def _set_weights(self, w, k, d, width) -> None:
        """Public attributes are views of the one table that prediction uses."""
        rows = w.reshape(-1, width)
        self._w = w
        self.coef_ = rows[:d, :k].T
        self.transitions_ = rows[d : d + k, :k]
        self.first_, self.last_ = rows[d + k, :k], rows[d + k + 1, :k]
        if self.order == 2:
            self.triples_ = rows[d + k + 2 :, :k].reshape(k, k, k)

    def __getstate__(self):
        # the public tables are views of _w: pickled apart they would become copies
        state = dict(super().__getstate__())
        for name in ("coef_", "transitions_", "first_", "last_", "triples_"):
            state.pop(name, None)
        return state

    def __setstate__(self, state):
        from maxmargin.core.rows import padded_width

        super().__setstate__(state)
        if "_w" in self.__dict__:
            k = len(self._labels)
            width = padded_width(k)
            d = len(self._w) // width - self._n_rows(0, k)
            self._set_weights(self._w, k, d, width)

    # saving (model_file.py) ------------------------------------------------------------

    def _get_state(self):
        encoder = self._encoder
        arrays = {"w": self._w}
        state = {
            "labels": list(self._labels),
            "n_features": int(self.coef_.shape[1]),
            **shared_state(self),
        }
        if self.features is None:
            state["kind"] = encoder.kind
            state["vocabulary"] = encoder.feature_names()
        else:
            columns, state["columns"] = encoder.get_state()
            arrays.update({f"columns.{name}": a for name, a in columns.items()})
        return arrays, state

    @classmethod
    def _from_state(cls, params, arrays, state):
        from maxmargin.core.rows import padded_width

        model = cls(**params)
        labels, d = state["labels"], state["n_features"]
        k = len(labels)
        width = padded_width(k)
        if k < 1 or arrays["w"].shape != (model._n_rows(d, k) * width,):
            raise ValueError("weights and labels do not fit together")
        model._encoder = _restore_encoder(arrays, state, d)
        model._labels = labels
        model.classes_ = np.array(labels)
        model._set_weights(arrays["w"], k, d, width)
        return restore_shared(model, state)


def _restore_encoder(arrays, state, d):
    from maxmargin.tags.features import ColumnEncoder, TokenEncoder

    if "columns" in state:
        prefix = "columns."
        columns = {
            name.removeprefix(prefix): array
            for name, array in arrays.items()
            if name.startswith(prefix)
        }
        encoder = ColumnEncoder.from_state(columns, state["columns"])
        if encoder.n_features != d:
            raise ValueError("weights and features do not fit together")
        return encoder
    encoder = TokenEncoder()
    encoder.kind = state["kind"]
    if encoder.kind == "tokens":
        names = state["vocabulary"]
        encoder.vocabulary = {name: j for j, name in enumerate(names)}
        if len(encoder.vocabulary) != d:
            raise ValueError("weights and vocabulary do not fit together")
    encoder.n_features_in = d
    return encoder
