"""HMMTagger: a hidden Markov model, the generative baseline of every tagger."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from maxmargin.core.encoded import Encoded
from maxmargin.core.jobs import at_most
from maxmargin.core.partial import alternate
from maxmargin.solvers.result import Certificate
from maxmargin.tags.parameters import HMMTaggerParameters
from maxmargin.tags.tagger import SequenceTagger

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class HMMTagger(HMMTaggerParameters, SequenceTagger, init=False):
    """Label every token of a sequence by a hidden Markov model, from counts alone.

    The probabilities are relative frequencies in the training data, ``alpha`` added to
    every count:

        p(x, y) = first(y_1) e(x_1 | y_1) trans(y_1, y_2) e(x_2 | y_2) ... last(y_T)

    With one feature per token, the word, this is the plain model. With several, the
    features overlap, and ``e`` is the product of p(value | label) over the attributes of
    the token, as if these were independent: with ``features`` an attribute is a line of
    the template. Otherwise it is what stands before the first ``:`` or ``=`` of a
    feature's name (``word:the`` of a dict, ``suffix=he``), features without such a name
    are values of one attribute, and so are all features if no token has more than one,
    and the columns of numeric input. A token without any value of an attribute counts as
    one more value of it. At prediction, values never seen in training are left out.

    Weights are logarithms of these probabilities, in the tables of
    :class:`maxmargin.SequenceTagger`, so that everything that class can do after
    training, this one can do as well: k best sequences, marginals, saving, pictures.

    Parameters
    ----------
    alpha : float, default 1.0
        Added to every count (Laplace smoothing); positive.
    features, min_count, scheme, forbidden, decoding, n_jobs
        As in :class:`maxmargin.SequenceTagger`. Forbidden transitions have no share in
        the probabilities.

    Attributes
    ----------
    classes_, coef_, transitions_, first_, last_, feature_names_
        As in :class:`maxmargin.SequenceTagger`, logarithms of probabilities.
        ``transitions_`` and ``last_`` belong together: a row of the one and an entry
        of the other are the logarithms of numbers that sum to one.
    certificate_ : the objective, minus the log-likelihood with ``alpha`` in the counts.
        Its optimum is known in closed form: the gap is zero.

    Examples
    --------
    >>> from maxmargin import HMMTagger
    >>> X = [[["the"], ["dog"], ["barks"]], [["dogs"], ["bark"]]]
    >>> y = [["D", "N", "V"], ["N", "V"]]
    >>> HMMTagger().fit(X, y).predict([[["the"], ["dogs"], ["bark"]]])
    [['D', 'N', 'V']]
    """

    _model_name = "HMMTagger.v1"

    # what SequenceTagger asks of itself and a hidden Markov model has no choice of
    objective = "likelihood"
    order = 1
    loss = "hamming"
    C = 1.0
    tol = 1e-5  # double precision
    max_time = None

    @property
    def path(self) -> Any:
        raise AttributeError("HMMTagger has no path(): it has no C to vary.")

    def _settings(self):
        self._check_parameters()
        self._threads()

    def fit(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Count; as in :meth:`SequenceTagger.fit`."""
        self._settings()
        with at_most(1):
            self._learn(self._encode(X, y, sample_weight))
        return self

    def _learn(self, encoded: Encoded) -> None:
        began = time.perf_counter()
        names = encoded.attributes["structure_"].encoder.feature_names()

        def solve(part):
            batch = part.batch
            counts = _count(batch, part.weights, _attributes(names, batch))
            w, objective = _estimate(batch, counts, float(self.alpha))
            return w.reshape(-1), objective

        if encoded.first is None:
            w, objective = solve(encoded)
        else:  # labels that are not known
            w, objective = alternate(encoded, solve, self._threads())
        self.__dict__.pop("calibration_", None)  # of an earlier fit
        for attribute, value in encoded.attributes.items():
            setattr(self, attribute, value)
        self._install(encoded, w)
        self.certificate_ = Certificate.of(objective, objective, True)
        row = {"iteration": 1, "seconds": time.perf_counter() - began}
        row |= {"primal": objective, "dual": objective, "gap": 0.0}
        row |= {"oracle_calls": 0, "oracle_seconds": 0.0, "update_seconds": 0.0}
        self.history_ = [row]
        self.n_iter_ = 1
        self.converged_ = True


class _Counts(NamedTuple):
    emissions: np.ndarray  # (features, labels)
    attribute: np.ndarray  # of every feature, by number
    sizes: np.ndarray  # values of every attribute, "none" included if it occurs
    totals: np.ndarray  # (attributes, labels): all values, "none" included
    none: np.ndarray  # (attributes, labels): tokens without a value
    transitions: np.ndarray  # (labels + 1, labels + 1): the start, then the end


def _attributes(names, batch) -> np.ndarray:
    """The number of the attribute of every feature."""
    one = np.diff(batch.indptr).max(initial=0) <= 1
    if names is None or one:
        return np.zeros(batch.n_features, np.int64)
    found: dict = {}
    return np.array(
        [found.setdefault(_attribute(name), len(found)) for name in names], np.int64
    )


def _attribute(name: str) -> str:
    ends = [end for end in (name.find(":"), name.find("=")) if end >= 0]
    return name[: min(ends) + 1] if ends else ""


def _count(batch, weights, attribute) -> _Counts:
    _check_values(batch)
    n_tokens, k = len(batch.y), batch.n_labels
    lengths = np.diff(batch.start)
    weight = np.repeat(weights, lengths)
    tokens = np.arange(n_tokens)
    labels = sp.csr_array((weight, (tokens, batch.y)), shape=(n_tokens, k))
    shape = (n_tokens, batch.n_features)
    x = sp.csr_array((batch.values.astype(float), batch.indices, batch.indptr), shape)
    emissions = (x.T @ labels).toarray()

    n_attributes = int(attribute.max(initial=0)) + 1
    has = sp.csr_array(
        (
            (batch.values != 0).astype(float),
            (np.repeat(tokens, np.diff(batch.indptr)), attribute[batch.indices]),
        ),
        shape=(n_tokens, n_attributes),
    )
    has.sum_duplicates()
    has.data = np.minimum(has.data, 1.0)
    with_value = has.T @ np.ones(n_tokens)
    of_label = np.bincount(batch.y, weight, k)
    none = np.maximum(of_label - (has.T @ labels).toarray(), 0.0)
    totals = none.copy()
    np.add.at(totals, attribute, emissions)
    sizes = np.bincount(attribute, minlength=n_attributes) + (with_value < n_tokens)

    transitions = np.zeros((k + 1, k + 1))
    some = lengths > 0
    first, last = batch.start[:-1][some], batch.start[1:][some] - 1
    inner = np.ones(n_tokens, bool)
    inner[first] = False
    later = np.flatnonzero(inner)
    np.add.at(transitions, (batch.y[later - 1], batch.y[later]), weight[later])
    np.add.at(transitions[k], batch.y[first], weight[first])
    np.add.at(transitions[:, k], batch.y[last], weight[last])
    return _Counts(emissions, attribute, sizes, totals, none, transitions)


def _check_values(batch) -> None:
    bad = np.flatnonzero(batch.values < 0)
    if len(bad):
        token = int(np.searchsorted(batch.indptr, bad[0], side="right")) - 1
        i = int(np.searchsorted(batch.start, token, side="right")) - 1
        raise ValueError(
            f"sequence {i} has a feature of value {batch.values[bad[0]]:g} at token "
            f"{token - batch.start[i]}: a hidden Markov model counts features, so values "
            "must not be negative."
        )


def _estimate(batch, counts: _Counts, alpha: float):
    """(weights by rows as in ``chain.py``, the objective that they minimise)."""
    d, k = batch.n_features, batch.n_labels
    w = np.zeros((d + k + 2, batch.width))
    # values of an attribute, given the label
    totals = np.log(counts.totals + alpha * counts.sizes[:, None])
    emissions = counts.emissions + alpha
    w[:d, :k] = np.log(emissions) - totals[counts.attribute]
    objective = -float((emissions * w[:d, :k]).sum())
    none = counts.none + alpha
    occurs = counts.sizes > np.bincount(counts.attribute, minlength=len(counts.sizes))
    objective -= float((none * (np.log(none) - totals))[occurs].sum())
    # the next label or the end, given the label; the first label, given the start
    allowed = np.ones((k + 1, k + 1), bool)
    allowed[:k, :k] = np.isfinite(batch.barrier[:k, :k])
    allowed[k, :k] = np.isfinite(batch.barrier[k, :k])
    allowed[:k, k] = np.isfinite(batch.barrier[k + 1, :k])
    allowed[k, k] = False  # there are no empty sequences
    smooth = np.where(allowed, counts.transitions + alpha, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(smooth / smooth.sum(axis=1, keepdims=True))
    logs[~allowed] = 0.0  # the barrier forbids them
    w[d : d + k, :k] = logs[:k, :k]
    w[d + k, :k], w[d + k + 1, :k] = logs[k, :k], logs[:k, k]
    return w, objective - float((smooth * logs).sum())
