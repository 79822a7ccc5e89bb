"""SequenceTagger: label every token of a sequence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain as chain_lists
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.completion import complete_all
from maxmargin.core.coordinates import check_kernel_options
from maxmargin.core.encoded import C_of, Encoded, check_weights
from maxmargin.core.partial import partly_known
from maxmargin.core.saved import distinct
from maxmargin.core.vectors import by_frequency, padded_width
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.parameters import refuse_without_kernel
from maxmargin.fitting.tables import weigh
from maxmargin.kernels.nested import NestedKernel
from maxmargin.tags.corpus.training import TagCorpus, encode_corpus
from maxmargin.tags.encoders import encoder_state, new_encoder, restored_encoder
from maxmargin.tags.features.pursued import Supervision
from maxmargin.tags.input import (
    check_allowed,
    check_known,
    check_matching,
    check_samples,
    label_set,
    warn_of_length,
    warn_of_truth,
)
from maxmargin.tags.metrics import SpanReport, TokenReport
from maxmargin.tags.objectives import OBJECTIVES
from maxmargin.tags.objects import as_columns, sequences_from
from maxmargin.tags.parameters import SequenceTaggerParameters
from maxmargin.tags.partial import fill_rows, known_runs
from maxmargin.tags.prediction import TagPrediction
from maxmargin.tags.schemes import check_scheme, guess_scheme
from maxmargin.tags.scorers import span_f1, token_accuracy
from maxmargin.tags.structure import TagStructure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class SequenceTagger(
    SequenceTaggerParameters,
    TagPrediction,
    NestedKernel,
    MaxMarginEstimator,
    init=False,
):
    """Label every token of a sequence: hidden Markov SVM, CRF and their relatives.

    A sequence in X is a 2-D array (tokens x features), a sparse matrix, or a list of
    tokens, each a dict or a list of strings as in sklearn-crfsuite. With ``features``, X
    is what :func:`maxmargin.files.read_columns` returns, or a list of sentences of rows of
    strings. y is a list of label sequences, strings or integers; ``None`` is an unknown
    label, or an unknown sequence (``docs/partial-labels.md``). Empty sequences are allowed
    and predicted as empty. A :class:`maxmargin.TagCorpus` holds X and y together, on disk.

    Parameters
    ----------
    objective : str, default "hinge"
        What is minimised besides 1/2 |w|^2: the loss of the truth y among all labellings.

        - "hinge": one slack per sequence (structural SVM)
        - "log": -log p(y), the conditional random field
        - "marginal": -sum_t log p(y_t), decoded token by token
        - "exponential": 1 / p(y) - 1, halved for every token; a baseline, which learns
          long sequences badly
        - "hinge-per-output": one slack per sequence and labelling, for short sequences
        - "boosting": the exponential loss without 1/2 |w|^2, one weight per round, 200
          rounds: a baseline with sparse weights and no certificate
        - "perceptron", "passive-aggressive": averaged, 10 passes, no certificate

    C : float or None, default None
        Per sequence, not divided by their number (``maxmargin.convert_C`` translates).
        None is 0.1 for the hinge, 1 for the others (``benchmarks/tagger_C.py``).
    features : str, path or None
        A feature template (text or file) in the syntax of CRF++, or the name of a built-in
        set ("chunking", "ner", "pos"); see ``docs/features.md``. None: X holds features.
    min_count : int, default 1
        With ``features``, ignore features that occur less often in training.
    feature_options : dict or None
        Further options of ``ColumnEncoder`` (tags/features): ``gazetteers`` (word lists),
        ``dense`` (word vectors in addition to the sparse features), ``hash_bits``.
    order : 0, 1 or 2, default 1
        1 learns transitions between labels, 2 also weights of three labels in a row, 0
        labels every token on its own. 2 needs the hinge, the perceptron or
        passive-aggressive, and has no k-best sequences, marginals or scores.
    scheme : "BIO", "IOB1", "BIOES" or None
        Never predict label sequences that violate this scheme.
    decoding : "auto", "viterbi" or "posterior", default "auto"
        The best sequence, or the most probable label of every token ("auto" chooses that
        for the marginal objective only). With forbidden transitions or a scheme, the
        allowed sequence with the largest sum of these probabilities.
    l1 : float, default 0.0
        Adds l1 |w|_1 to "log", "marginal" or "exponential": sparse weights.
    loss : "hamming", "zero-one", "spans", "absolute", dict, array or function
        "hamming", the default, counts wrong labels (not divided by the length),
        "zero-one" is 1 for any wrong sequence, "spans" counts missed and invented spans;
        the others are costs of one label against another, summed: "absolute" is the
        distance of numeric labels.
    forbidden : list of (label, label) or None
        Transitions that must not occur, at training and prediction; ``None`` in a pair
        stands for the start (first place) or the end (second place) of the sequence.
    unlabelled_weight : float, default 0.1
        Factor for the sample weight of sequences without any known label.
    kernel : str, Kernel, function or None
        A kernel of the tokens' features ("rbf", "poly", or one of ``maxmargin.kernels``):
        scores of labels are functions in its space. Transitions stay linear.
    method : "exact", "subspace-pursuit", "training-points", "nystroem", \
        "nystroem-kmeans", "nystroem-leverage" or "incomplete-cholesky", default "exact"
        The basis of these functions: all training tokens, or `n_components` points, found
        by training on single tokens and their labels ("subspace-pursuit" and
        "training-points", as in :class:`maxmargin.KernelSVM`) or chosen without labels.
    n_components : int, default 500
        Largest number of points in the basis.
    gamma : float, "scale" or "auto"
        Parameter of a kernel given by name.
    kernel_memory : float, default 4e9
        Bytes that kernel tables may take; a fit that needs more is refused before it
        starts.
    tol : float or None
        Relative gap at which to stop. None is 0.1 for the hinge and 0.01 for the others,
        where test accuracy has almost stopped changing (``benchmarks/chunking.py`` and
        ``benchmarks/tagging.py`` print the curves).
    solver : str, default "auto"
        For "log" also "exponentiated" (the default starts with it and switches to L-BFGS
        when it stalls) or "lbfgs", which "marginal" and "exponential" use. For "hinge" as
        in :class:`maxmargin.StructuralSVM`.
    rescaling, penalty, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    classes_ : ndarray of the labels, sorted
    coef_ : ndarray (labels, features)
    transitions_ : ndarray (labels, labels), from row to column
    first_, last_ : ndarray (labels,)
    triples_ : ndarray (labels, labels, labels), for order=2 only
    feature_names_ : list of str, or None for numeric input
    feature_titles_ : the same in words: suffix(4)=raat, not U14:raat
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
    _scorers = span_f1, token_accuracy
    _compares_labels = True
    _C_by_objective: ClassVar[dict[str, float]] = {"hinge": 0.1}
    _objectives = OBJECTIVES
    _params_in_state = ("feature_options", "kernel")

    # what prediction and training share -----------------------------------------------

    def _input(self, X, encoder=None):
        """X as its encoder wants it."""
        if self.features is None and getattr(encoder, "kind", "") != "columns":
            return sequences_from(X)
        return as_columns(X)

    def _n_rows(self, d: int, k: int) -> int:
        """Rows of the table of weights."""
        return d + k + 2 + (k * k if self.order == 2 else 0)

    # training --------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        dev: Any = None,
        Cs: Iterable[float] | None = None,
    ) -> Self:
        """Train on sequences X and their labels y, or on a corpus alone.

        ``dev`` and ``Cs`` are as in :meth:`maxmargin.StructuralSVM.fit`.
        """
        return super().fit(X, y, sample_weight, dev=dev, Cs=Cs)

    def _evaluated(self, X: Any, y: Any = None) -> SpanReport | TokenReport:
        """Spans where all labels follow a scheme, whatever is predicted so far."""
        rows = X.label_sequences() if y is None else y
        if y is not None:
            check_known(y)
        labels = {*chain_lists.from_iterable(rows), *self.classes_.tolist()}
        scheme = None if guess_scheme(labels) is None else "auto"
        return self.evaluate(X, y, scheme=scheme)

    def _check(self) -> None:
        self._check_together()
        if self.kernel is not None:
            check_kernel_options(self)
        if self.feature_options and self.features is None:
            raise ValueError("feature_options needs features, a template or a name.")

    def _check_together(self) -> None:
        """Parameters that depend on each other, before any work."""
        objective, l1 = self.objective, self.l1
        if self.order == 2 and OBJECTIVES[objective].problem != "hinge":
            others = [name for name, o in OBJECTIVES.items() if o.problem == "hinge"]
            raise ValueError(
                f"order=2 needs objective='hinge' or one of {', '.join(others[1:])}, not "
                f"{objective!r}."
            )
        if self.order == 2 and isinstance(self.loss, str) and self.loss != "hamming":
            raise ValueError(f"order=2 needs a loss of labels, not {self.loss!r}.")
        if self.order == 2 and self.decoding == "posterior":
            raise ValueError("order=2 has no marginals to decode with: use 'viterbi'.")
        if l1 > 0 and not OBJECTIVES[objective].l1:
            smooth = ", ".join(name for name, record in OBJECTIVES.items() if record.l1)
            raise ValueError(
                f"l1={l1!r} needs one of the objectives {smooth}, not {objective!r}."
            )

    def _tolerance(self) -> float:
        if self.tol is None:
            return 0.1 if self.objective == "hinge" else 0.01
        return super()._tolerance()

    def _encode(self, X, y, sample_weight) -> Encoded:
        refuse_without_kernel(self)
        encode = encode_corpus if isinstance(X, TagCorpus) else type(self)._sequences_of
        return encode(self, X, y, sample_weight)

    def _sequences_of(self, X, y, sample_weight) -> Encoded:
        X, y = check_samples(self._input(X), y, unlabelled=True)
        weights = check_weights(sample_weight, len(y))
        labels, gaps = label_set(y)
        numbers = {label: k for k, label in enumerate(labels)}
        if self.scheme is not None and not gaps:
            check_scheme(y, self.scheme)
        structure = TagStructure.to_train(self, labels)
        if gaps:
            numbers[None] = -1

        def number(start):
            """(rows of labels, a number per token) for sequences that start there."""
            rows = fill_rows(y, start) if gaps else y
            check_matching(start, rows)
            every = map(numbers.__getitem__, chain_lists.from_iterable(rows))
            return rows, np.fromiter(every, np.int32)

        encoder = new_encoder(self)
        if encoder.kind == "kernel":
            encoder.supervision = Supervision(
                lambda start: number(start)[1],
                structure.cost,
                C_of(self),
                weights,
                self.max_time,
            )
        tokens = encoder.fit_encode(X, **self._encoding(encoder))
        y, flat = number(tokens.start)
        if encoder.kind == "columns":
            warn_of_truth(X, encoder._fitted, y)
        warn_of_length(tokens.start)
        if gaps:
            labelled = [any(label is not None for label in row) for row in y]
            weights = weigh(self, weights, labelled)
        barrier = structure.barrier
        if barrier is not None and not gaps:
            check_allowed(barrier, flat, tokens.start, labels)
        dtype = self._working_dtype(tokens.values, weights)
        tokens, feature_of_row = by_frequency(tokens, len(labels), self._threads())
        batch = structure.batch(tokens, np.maximum(flat, 0), dtype)
        masses = structure.weigh(weights, tokens.start)
        attributes = {
            "_encoder": encoder,
            "_labels": labels,
            "classes_": np.array(labels),
        }
        size = self._n_rows(tokens.n_features, len(labels)) * batch.width
        encoded = Encoded(batch, size, dtype, masses, attributes, feature_of_row)
        if not gaps:
            return encoded
        batch = partly_known(batch, flat >= 0)
        if barrier is not None:
            found = complete_all(batch, np.zeros(size, dtype))
            check_allowed(barrier, found, tokens.start, labels)
        some, known, masses = known_runs(tokens, flat, weights)
        runs = structure.of_runs().batch(some, known, dtype)
        masses = structure.weigh(masses, some.start)
        first = replace(encoded, batch=runs, weights=masses)
        return replace(encoded, batch=batch, first=first)

    @property
    def feature_names_(self) -> list[str] | None:
        """Names of the features by index, or None for numeric input."""
        check_is_fitted(self, "coef_")
        return self._encoder.feature_names()

    @property
    def feature_titles_(self) -> list[str] | None:
        """The features by what they are: suffix(4)=raat where a template says U14:raat."""
        check_is_fitted(self, "coef_")
        columns = self._encoder.kind == "columns"
        return (
            self._encoder.feature_names(titles=True) if columns else self.feature_names_
        )

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
        for name in ("coef_", "transitions_", "first_", "last_", "triples_", "_single"):
            state.pop(name, None)
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_w" in self.__dict__:
            k = len(self._labels)
            width = padded_width(k)
            d = len(self._w) // width - self._n_rows(0, k)
            self._set_weights(self._w, k, d, width)

    # saving (files/model_file.py) ------------------------------------------------------

    def _more_state(self):
        arrays, encoder = encoder_state(self._encoder)
        n_features = int(self.coef_.shape[1])
        state = {"labels": list(self._labels), "n_features": n_features}
        return arrays | {"w": self._w}, state | encoder

    def _loaded(self, saved, sizes) -> None:
        labels = distinct(saved.value("labels", list), "labels", str, int)
        k, d = len(labels), saved.whole("n_features", 1)
        width = padded_width(k)
        w = saved.floats("w", self._n_rows(d, k) * width)
        self._encoder = restored_encoder(saved, self, d)
        self._labels = labels
        self.classes_ = np.array(labels)
        self._barrier(labels)  # what is forbidden are labels
        self._set_weights(w, k, d, width)
