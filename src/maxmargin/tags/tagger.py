"""SequenceTagger: label every token of a sequence."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain as chain_lists
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from maxmargin.core.tables.coordinates import check_kernel_options
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import floats
from maxmargin.kernels.nested import NestedKernel
from maxmargin.tags.input import check_known
from maxmargin.tags.metrics import SpanReport, TokenReport
from maxmargin.tags.objectives import OBJECTIVES
from maxmargin.tags.parameters import SequenceTaggerParameters
from maxmargin.tags.prediction import TagPrediction
from maxmargin.tags.schemes import guess_scheme
from maxmargin.tags.scorers import span_f1, token_accuracy
from maxmargin.tags.structure import C_BY_OBJECTIVE, Tags, tolerance

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

    _structure_class = Tags
    _model_name = "SequenceTagger.v1"
    _fields = (floats("_w", "n", dtype=None),)
    _scorers = span_f1, token_accuracy
    _compares_labels = True
    _C_by_objective: ClassVar[dict[str, float]] = C_BY_OBJECTIVE
    _objectives = OBJECTIVES
    _params_in_state = ("feature_options", "kernel")

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
        return tolerance(self.tol, self.objective)

    # weights ---------------------------------------------------------------------------

    @property
    def feature_names_(self) -> list[str] | None:
        """Names of the features by index, or None for numeric input."""
        check_is_fitted(self, "coef_")
        return self.structure_.encoder.feature_names()

    @property
    def feature_titles_(self) -> list[str] | None:
        """The features by what they are: suffix(4)=raat where a template says U14:raat."""
        check_is_fitted(self, "coef_")
        encoder = self.structure_.encoder
        titles = {"titles": True} if encoder.kind == "columns" else {}
        return encoder.feature_names(**titles)

    def __getstate__(self):
        # the public tables are views of _w: pickled apart they would become copies
        state = dict(super().__getstate__())
        for name in ("coef_", "transitions_", "first_", "last_", "triples_", "_single"):
            state.pop(name, None)
        return state

    def __setstate__(self, state):
        super().__setstate__(state)
        if "_w" in self.__dict__:
            self.__dict__.update(self.structure_.split(self._w))

    def _loaded(self, saved, sizes) -> None:
        super()._loaded(saved, sizes)
        if self.structure_.kernel is not None:  # which is no parameter of the file
            self.kernel = self.structure_.kernel
        self.__dict__.update(self.structure_.split(self._w))
