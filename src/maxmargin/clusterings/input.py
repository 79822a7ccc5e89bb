"""X of a LinkClusterer: raw documents, or a table of features of pairs for each."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import issparse

from maxmargin.clusterings.documents import MentionDocument, as_document, check_spans
from maxmargin.clusterings.features import PairFeatures
from maxmargin.clusterings.pairs import PairTable, n_pairs, pair_table
from maxmargin.core.saved import Saved
from maxmargin.core.tables.arrays import MAX_FEATURES, csr_arrays

KEPT = 24  # bytes per pair: codes of its patterns, and once more while they are joined
WORK = 110  # bytes per pair of the document that is encoded or searched
MOST_TYPES = 100  # of entities: features of pairs grow with them


class Inputs:
    """How documents are encoded: ``features`` for words, or ``width`` of tables."""

    def __init__(self, features: PairFeatures | None, width: int, constant: int):
        self.features, self.width, self.constant = features, width, constant

    @property
    def n_weights(self) -> int:
        if self.features is not None:
            return self.features.n_features
        return self.width + self.constant

    @classmethod
    def learn(cls, X: list, fit_intercept) -> Inputs:
        if _has_words(X[0]):
            documents = [as_document(x, f"X[{i}]") for i, x in enumerate(X)]
            types = sorted({m.type for d in documents for m in d.mentions} - {""})
            if len(types) > MOST_TYPES:
                raise ValueError(
                    f"the mentions of X have {len(types)} types, such as {types[0]!r}, but "
                    f"at most {MOST_TYPES} are possible: give coarser ones or none."
                )
            return cls(PairFeatures(types), 0, 0)
        widths = [_table(x, i).shape[1] for i, x in enumerate(X)]
        width = max(widths)
        if width + 1 > MAX_FEATURES:
            raise ValueError(f"X has {width} features, more than can be counted.")
        return cls(None, width, int(bool(fit_intercept)))

    def sizes(self, X: list) -> list[int | None]:
        """How many mentions each document has; None: a table without rows, 0 or 1."""
        if self.features is not None:
            return [len(as_document(x, f"X[{i}]").mentions) for i, x in enumerate(X)]
        return [_n_mentions(self._rows(x, i).shape[0], i) for i, x in enumerate(X)]

    def check_clusters(self, X: list, gold, known) -> None:
        """Clusters must not contradict the words; ``known``: which are not guesses."""
        if self.features is None:
            return
        for i, x in enumerate(X):
            pairs = zip(gold[i], known[i], strict=True)
            ids = [int(g) if k else None for g, k in pairs]
            check_spans(as_document(x, f"X[{i}]"), ids, f"y[{i}]")

    def encode(self, X: list, memory: float, window: int) -> PairTable:
        """The pairs of all documents; those of words may take so many bytes."""
        if self.features is not None:
            documents = [as_document(x, f"X[{i}]") for i, x in enumerate(X)]
            check_memory([len(d.mentions) for d in documents], memory, window)
            parts = [self.features.encode(document, window) for document in documents]
            codes, patterns = ([p[k] for p in parts] for k in (0, 1))
            return pair_table(codes, patterns, self.n_weights, window)
        codes, patterns = [], []
        for i, x in enumerate(X):
            table = self._rows(x, i)
            try:
                rows = csr_arrays(table, np.float64)
            except ValueError as error:
                raise ValueError(f"X[{i}]: {error}") from None
            if self.constant:
                rows = _append_ones(*rows, self.width)
            codes.append(np.arange(table.shape[0], dtype=np.int32)[:, None])
            patterns.append(rows)
        return pair_table(codes, patterns, self.n_weights)

    def _rows(self, x, i: int):
        """The table of a document, with the width of training."""
        table = _table(x, i)
        if table.shape[1] != self.width and table.shape[0]:
            raise ValueError(
                f"X[{i}] has {table.shape[1]} features for each pair, but others have "
                f"{self.width}: give all pairs the same."
            )
        return table if table.shape[0] else np.zeros((0, self.width))

    def attributes(self) -> dict:
        """Fitted attributes of the estimator."""
        if self.features is None:
            return {"n_features_in_": self.width}
        return {
            "types_": self.features.types[1:],
            "feature_names_": self.features.names(),
        }

    # saving ----------------------------------------------------------------------------

    def state(self) -> dict:
        if self.features is None:
            return {"width": self.width, "constant": self.constant}
        return {"types": list(self.features.types[1:])}

    @classmethod
    def from_state(cls, saved: Saved) -> Inputs:
        if "types" not in saved.state:
            width = saved.whole("width", high=MAX_FEATURES - 1)
            return cls(None, width, saved.whole("constant", high=1))
        types = saved.texts("types")
        if len(types) > MOST_TYPES or "" in types:
            raise ValueError("'types' is not valid")
        return cls(PairFeatures(types), 0, 0)


def check_memory(sizes: list[int], memory: float, window: int) -> None:
    """Refuse documents whose pairs would take more."""
    pairs = [n_pairs(n, window) for n in sizes]
    needed = KEPT * sum(pairs) + WORK * max(pairs, default=0)
    if needed > memory:
        i = int(np.argmax(pairs))
        raise ValueError(
            f"the {sum(pairs):,} pairs of mentions in X would take about "
            f"{needed / 1e9:.3g} GB, but pair_memory={memory:g} allows {memory / 1e9:.3g} "
            f"GB; X[{i}] has {sizes[i]:,} mentions, {pairs[i]:,} pairs. Choose a "
            "smaller window, split long documents, or allow more."
        )


def _has_words(x) -> bool:
    return isinstance(x, (dict, MentionDocument))


def _table(x, i: int):
    """A document as a 2-D table, dense or sparse."""
    if _has_words(x):
        raise ValueError(
            f"X[{i}] has words, but other documents are tables of features: write all in "
            "one way."
        )
    if issparse(x):
        return x
    try:
        table = np.asarray(x)
        if table.size == 0 and table.ndim == 1:
            table = table.reshape(0, 0)
        if table.dtype.kind not in "biuf" or table.ndim != 2:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"X[{i}] is not a table of numbers: give a row of features per pair of "
            "mentions ((0, 1), (0, 2), ..., (1, 2), ...), or a MentionDocument."
        ) from None
    return table


def _n_mentions(pairs: int, i: int) -> int | None:
    if pairs == 0:
        return None
    n = (1 + math.isqrt(1 + 8 * pairs)) // 2
    if n * (n - 1) // 2 != pairs:
        raise ValueError(
            f"X[{i}] has {pairs} rows, but n mentions have n (n - 1) / 2 pairs ("
            f"{n} have {n * (n - 1) // 2}, {n + 1} have {n * (n + 1) // 2}): give every "
            "pair a row."
        )
    return n


def _append_ones(indptr, indices, values, width: int):
    """CSR arrays with a last column of ones."""
    indices = np.insert(indices, indptr[1:], width).astype(np.int32)
    return np.arange(len(indptr)) + indptr, indices, np.insert(values, indptr[1:], 1.0)
