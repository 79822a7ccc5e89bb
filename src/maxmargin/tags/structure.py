"""Label sequences as a structure: sequences of tokens in, a label for every token out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.core.completion import complete_all
from maxmargin.core.decode import decode
from maxmargin.core.encoded import (
    SINGLE_PRECISION_TOL,
    Encoded,
    Training,
    check_weights,
)
from maxmargin.core.partial import partly_known
from maxmargin.core.saved import Saved, distinct
from maxmargin.core.structure import Outputs, Structure, check_k
from maxmargin.core.tables.arrays import TokenMatrix
from maxmargin.core.tables.coordinates import KernelEncoder
from maxmargin.core.tables.label_costs import cost_table
from maxmargin.core.vectors import by_frequency, padded_width
from maxmargin.fitting.fit import seed_of
from maxmargin.fitting.parameters import UNLABELLED, refuse_without_kernel
from maxmargin.fitting.tables import weigh
from maxmargin.kernels.basis import KERNEL_MEMORY
from maxmargin.tags.chain_batch import known_runs, make_batch
from maxmargin.tags.chain_inference import decode_posteriors, k_best, table_per_token
from maxmargin.tags.chain_spans import span_tables
from maxmargin.tags.corpus.training import TagCorpus, encode_corpus
from maxmargin.tags.encoders import encoder_state, restored_encoder
from maxmargin.tags.features import ColumnEncoder, TokenEncoder
from maxmargin.tags.features.pursued import Supervision
from maxmargin.tags.input import (
    Truth,
    barrier_with,
    check_allowed,
    check_samples,
    first_forbidden,
    read_input,
    warn_of_length,
    warn_of_truth,
)
from maxmargin.tags.schemes import check_scheme, guess_scheme
from maxmargin.tags.second_order import second_order
from maxmargin.waiting import stage

C_BY_OBJECTIVE = {"hinge": 0.1}  # where C is None; 1 for the others


def tolerance(tol: float | None, objective: str) -> float:
    """The relative gap at which to stop; None is a rule."""
    if tol is None:
        return 0.1 if objective == "hinge" else 0.01
    return float(tol)


@dataclass(frozen=True)
class Making:
    """What makes batches of encoded tokens; it can be sent to other processes."""

    cost: np.ndarray
    barrier: np.ndarray | None
    order: int
    dtype: Any = np.float64
    zero_one: bool = False
    spans: Any = None

    def batch(self, tokens: TokenMatrix, y: np.ndarray | None = None) -> Any:
        """The batch; without transitions every token is a sequence of its own."""
        if self.order == 0:
            tokens = tokens._replace(start=np.arange(tokens.start[-1] + 1))
        rest = self.cost, self.barrier, self.zero_one, self.dtype, self.spans
        batch = make_batch(tokens, tokens.n_features, y, *rest)
        return second_order(batch) if self.order == 2 else batch

    def of_runs(self) -> Making:
        """That of runs of known labels, which may begin and end with any."""
        if self.barrier is None:
            return self
        barrier = self.barrier.copy()
        barrier[len(self.cost) :] = 0.0
        return replace(self, barrier=barrier)

    def weigh(self, weights: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Weights of the examples of sequences that start there."""
        return np.repeat(weights, np.diff(start)) if self.order == 0 else weights


@dataclass
class Tags(Structure):
    """Labels of tokens by weights of features, of transitions and, by ``order``, triples.

    The parameters are those of `SequenceTagger`. X are its sequences, or a corpus that
    has Y as well; an unknown label in Y is None.
    """

    loss: Any = "hamming"
    objective: str = "hinge"  # decides what decoding="auto" is, and tol=None
    tol: float | None = None
    features: Any = None
    min_count: int = 1
    feature_options: dict | None = None
    order: int = 1
    scheme: str | None = None
    forbidden: list | None = None
    decoding: str = "auto"
    unlabelled_weight: float = UNLABELLED
    kernel: Any = None
    method: str = "exact"
    n_components: int = 500
    gamma: float | str = "scale"
    kernel_memory: float = KERNEL_MEMORY
    random_state: Any = None
    encoder: Any = field(init=False, repr=False)
    labels: list = field(init=False, repr=False)
    n_features: int = field(init=False, repr=False)

    takes_lists = False

    # training --------------------------------------------------------------------------

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        refuse_without_kernel(self)
        C = float(training.C or C_BY_OBJECTIVE.get(training.objective, 1.0))
        if isinstance(X, TagCorpus):
            return encode_corpus(self, X, Y, training, C)
        X = read_input(X, self.features is not None)
        X, Y = check_samples(X, Y, unlabelled=True)
        weights = check_weights(training.sample_weight, len(Y))
        truth = Truth(Y)
        self.labels = truth.labels
        if self.scheme is not None and not truth.gaps:
            check_scheme(Y, self.scheme)
        making = self.to_train()
        encoder = self.new_encoder(training.tol)
        if encoder.kind == "kernel":
            encoder.seed = seed_of(self.random_state)
            known = making.cost, C, weights, training.max_time
            encoder.supervision = Supervision(truth.numbers, *known)
        tokens = encoder.fit_encode(X, **_threads(encoder, training.n_jobs))
        self.encoder = encoder
        flat = truth.numbers(tokens.start)
        if encoder.kind == "columns":
            warn_of_truth(X, encoder._fitted, truth.y)
        warn_of_length(tokens.start)
        if truth.gaps:
            labelled = [any(label is not None for label in row) for row in truth.y]
            weights = weigh(self, weights, labelled)
        elif making.barrier is not None:
            check_allowed(making.barrier, flat, tokens.start, self.labels)
        dtype = training.dtype(tokens.values, C, weights)
        making = replace(making, dtype=dtype)
        tokens, order = by_frequency(tokens, len(self.labels), training.n_jobs)
        batch = making.batch(tokens, np.maximum(flat, 0))
        masses = making.weigh(weights, tokens.start)
        encoded = self.encoded(batch, dtype, masses, order, C)
        if not truth.gaps:
            return encoded
        return self._partly_known(encoded, making, tokens, flat, weights)

    def encoded(self, batch, dtype, masses, order, C) -> Encoded:
        self.n_features = batch.n_features
        size = self._n_rows() * batch.width
        return Encoded(batch, size, dtype, masses, {}, order, C=C)

    def _partly_known(self, encoded, making, tokens, flat, weights) -> Encoded:
        batch = partly_known(encoded.batch, flat >= 0)
        if making.barrier is not None:
            found = complete_all(batch, np.zeros(encoded.n_weights, encoded.dtype))
            check_allowed(making.barrier, found, tokens.start, self.labels)
        some, known, weights = known_runs(tokens, flat, weights)
        making = making.of_runs()
        masses = making.weigh(weights, some.start)
        first = replace(encoded, batch=making.batch(some, known), weights=masses)
        return replace(encoded, batch=batch, first=first)

    # encoding --------------------------------------------------------------------------

    def new_encoder(self, tol: float | None = None) -> Any:
        """An encoder that is not fitted yet."""
        tol = tolerance(self.tol, self.objective) if tol is None else tol
        if self.features is None:
            inner: Any = TokenEncoder()
        else:
            options = self.feature_options or {}
            inner = ColumnEncoder(self.features, min_count=self.min_count, **options)
        if self.kernel is None:
            return inner
        return KernelEncoder(
            inner,
            self.kernel,
            self.method,
            self.n_components,
            self.gamma,
            self.kernel_memory,
            single=tol >= SINGLE_PRECISION_TOL,
        )

    def tokens(self, X: Any, n_jobs: int = 1) -> TokenMatrix:
        """New inputs as features by number."""
        return self.encoder.encode(self.read(X), **_threads(self.encoder, n_jobs))

    def read(self, X: Any) -> Any:
        """X as the encoder wants it."""
        columns = self.features is not None or self.encoder.kind == "columns"
        return read_input(X, columns)

    def encode(self, X: Any, dtype: Any = np.float64) -> Any:
        return self.to_predict(dtype).batch(self.tokens(X))

    def _encoded(self, X: Any, w: np.ndarray, n_jobs: int) -> tuple[Any, np.ndarray]:
        """(batch, where its sequences start, which order=0 cuts into tokens)."""
        if isinstance(X, TagCorpus):
            raise ValueError(
                f"{X.folder} is a corpus, which predict, predict_shards and score take: "
                "rankings, probabilities and scores of labels need text in memory."
            )
        with stage("encoding"):
            tokens = self.tokens(X, n_jobs)
        batch = self.to_predict(w.dtype).batch(tokens)
        self.check_possible(batch, w, n_jobs)
        return batch, tokens.start

    def to_train(self) -> Making:
        named = self.loss if isinstance(self.loss, str) else ""
        spans = _span_tables(self.labels) if named == "spans" else None
        cost = cost_table("hamming" if spans else self.loss, self.labels)
        one = named == "zero-one"
        return Making(cost, self.barrier(), self.order, zero_one=one, spans=spans)

    def to_predict(self, dtype: Any) -> Making:
        """That of batches without a loss."""
        k = len(self.labels)
        return Making(np.zeros((k, k)), self.barrier(), self.order, dtype)

    def barrier(self) -> np.ndarray | None:
        """(labels + 2, labels): -inf where a transition, start or end is forbidden."""
        return barrier_with(self.scheme, self.forbidden, self.labels)

    def check_possible(self, batch: Any, w: np.ndarray, n_jobs: int) -> None:
        """Forbidden transitions may leave no sequence of some length."""
        if not np.isinf(batch.barrier).any():
            return
        found = first_forbidden(batch.barrier, decode(batch, w, n_jobs), batch.start)
        if found is not None:
            i, y, _ = found
            raise ValueError(
                f"sequence {i} has {len(y)} tokens, and the forbidden transitions "
                "leave no label sequence of that length: allow more."
            )

    # prediction ------------------------------------------------------------------------

    @property
    def posterior(self) -> bool:
        """Whether tokens have their most probable labels, not the best sequence."""
        if self.decoding == "auto":
            return self.objective == "marginal"
        return self.decoding == "posterior"

    def search(self, batch: Any, w: np.ndarray, n_jobs: int) -> np.ndarray:
        """The numbers of the best labels of all tokens."""
        return (decode_posteriors if self.posterior else decode)(batch, w, n_jobs)

    def sequences(self, start: np.ndarray, flat: np.ndarray) -> list[list[Any]]:
        """Numbers of labels as label sequences."""
        labels = [self.labels[k] for k in flat.tolist()]
        return Outputs(labels[a:b] for a, b in pairwise(start.tolist()))

    def output(self, batch: Any, i: int, labelling: Any) -> list[Any]:
        return [self.labels[k] for k in labelling.tolist()]

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list[list[Any]]:
        batch, start = self._encoded(X, w, n_jobs)
        return self.sequences(start, self.search(batch, w, n_jobs))

    def predict_k_best(self, X: Any, w: np.ndarray, k: int, n_jobs: int = 1) -> list:
        """The k best label sequences of every input with their scores, best first."""
        k = check_k(k)
        if self.order != 1:
            raise ValueError(
                "predict_k_best ranks whole sequences, which needs order=1."
            )
        batch, start = self._encoded(X, w, n_jobs)
        labels, scores = k_best(batch, w, k, n_jobs)
        ranked = [self.sequences(start, row) for row in labels]
        return [
            [
                (ranked[rank][i], float(scores[rank, i]))
                for rank in range(k)
                if scores[rank, i] > -np.inf
            ]
            for i in range(len(start) - 1)
        ]

    def predict_marginals(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list:
        """Per sequence (tokens, labels): probabilities under exp(score) / Z."""
        return self.tables("sum", X, w, n_jobs)

    def tables(self, kind: str, X: Any, w: np.ndarray, n_jobs: int) -> list:
        """Per sequence (tokens, labels): marginals, "sum", or max-marginals, "max"."""
        if self.order == 2:
            raise ValueError("order=2 has no scores per token: fit with order=1.")
        batch, start = self._encoded(X, w, n_jobs)
        table = table_per_token(kind, batch, w, n_jobs)
        return np.split(table, start[1:-1]) if len(start) > 1 else []

    def complete(self, X: Any, w: np.ndarray, Y: Any, n_jobs: int = 1) -> list:
        """Y with every None replaced by the best label, given the known ones."""
        X, Y = check_samples(X, Y, unlabelled=True)
        batch, start = self._encoded(X, w, n_jobs)
        truth = Truth(Y, self.labels)
        flat = truth.numbers(start)
        batch = partly_known(batch._replace(y=np.maximum(flat, 0)), flat >= 0)
        found = self.sequences(start, complete_all(batch, w, n_jobs))
        return [
            [b if a is None else a for a, b in zip(*rows, strict=True)]
            for rows in zip(truth.y, found, strict=True)
        ]

    # weights ---------------------------------------------------------------------------

    def _n_rows(self) -> int:
        """Rows of the table of weights."""
        k = len(self.labels)
        return self.n_features + k + 2 + (k * k if self.order == 2 else 0)

    def split(self, w: np.ndarray) -> dict[str, Any]:
        """Public tables are views of the one that prediction uses."""
        k, d = len(self.labels), self.n_features
        rows = w.reshape(self._n_rows(), -1)
        tables = {
            "_w": w,
            "coef_": rows[:d, :k].T,
            "transitions_": rows[d : d + k, :k],
            "first_": rows[d + k, :k],
            "last_": rows[d + k + 1, :k],
        }
        if self.order == 2:
            tables["triples_"] = rows[d + k + 2 :, :k].reshape(k, k, k)
        return tables

    def join(self, fitted: Any) -> np.ndarray:
        return fitted._w

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        return {"classes_": np.array(self.labels)}

    def saved(self) -> tuple[dict, dict]:
        arrays, state = encoder_state(self.encoder)
        own = {"labels": list(self.labels), "n_features": self.n_features}
        return arrays, own | state

    def restore(self, saved: Saved, sizes: dict[str, int]) -> None:
        self.labels = distinct(saved.value("labels", list), "labels", str, int)
        self.n_features = d = saved.whole("n_features", 1)
        saved.floats("w", self._n_rows() * padded_width(len(self.labels)))
        self.encoder = restored_encoder(saved, self, d)
        self.barrier()  # what is forbidden are labels


def _threads(encoder: Any, n_jobs: int) -> dict[str, int]:
    """How an encoder is called: those of columns have threads."""
    return {"n_jobs": n_jobs} if encoder.kind == "columns" else {}


def _span_tables(labels: list):
    if guess_scheme(labels) is None:
        raise ValueError(
            "loss='spans' needs labels in a span scheme, such as B-PER, I-PER and O."
        )
    return span_tables(labels)
