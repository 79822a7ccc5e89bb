"""A corpus as a tagger trains on it: pieces that become batches when they are loaded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.core.encoded import Encoded, Training, check_weights
from maxmargin.core.pieces.totals import Scattered
from maxmargin.core.tables.arrays import TokenMatrix, offsets
from maxmargin.core.vectors import padded_width
from maxmargin.core.warn import warn
from maxmargin.tags.corpus.corpus import Shard, TagCorpus
from maxmargin.tags.features.ready import READY_NAMES
from maxmargin.tags.features.templates import Template, parse_template
from maxmargin.tags.input import LONG, check_allowed
from maxmargin.tags.schemes import check_scheme


def _joined(shards: tuple[Shard, ...], dtype: Any) -> tuple[TokenMatrix, Any]:
    """Encoded tokens and labels, one after the other; those of one shard are mapped."""
    parts = [shard.tokens(dtype) for shard in shards]
    if len(parts) == 1:
        return parts[0]
    tokens, y = zip(*parts, strict=True)
    values = np.concatenate([part.values for part in tokens])
    whole = TokenMatrix(
        offsets(np.concatenate([np.diff(part.indptr) for part in tokens])),
        np.concatenate([part.indices for part in tokens]),
        values,
        offsets(np.concatenate([np.diff(part.start) for part in tokens])),
        tokens[0].n_features,
    )
    return whole, np.concatenate(y)


@dataclass(frozen=True)
class CorpusPiece:
    """Shards that become one batch when needed; it can be sent to other processes."""

    shards: tuple[Shard, ...]
    making: Any  # what makes batches of tokens and labels

    @property
    def n(self) -> int:
        """Examples."""
        if self.making.order == 0:
            return self.n_slots
        return sum(shard.n_sentences for shard in self.shards)

    @property
    def n_slots(self) -> int:
        return sum(shard.n_tokens for shard in self.shards)

    def load(self) -> Any:
        return self.making.batch(*_joined(self.shards, self.making.dtype))


class CorpusBatch(Scattered):
    """In place of a batch: the pieces of a corpus, and what a tagger asks of a batch."""

    def __init__(self, pieces: list[CorpusPiece], n_features: int, n_labels: int):
        super().__init__(pieces, pieces[0].shards[0].folder)
        self.n_features, self.n_labels = n_features, n_labels
        self.width = padded_width(n_labels)

    def joined(self, pieces: list[CorpusPiece]) -> CorpusPiece:
        shards = tuple(shard for piece in pieces for shard in piece.shards)
        return CorpusPiece(shards, pieces[0].making)


def encode_corpus(
    structure: Any, corpus: TagCorpus, y: Any, training: Training, C: float
) -> Encoded:
    """What the structure prepares of the same sentences in memory."""
    _check_use(structure, corpus, y, training.objective)
    labels = list(corpus.labels)
    if len(labels) < 2:
        raise ValueError(
            f"{corpus.folder} holds one label only ({labels[0]!r}): at least two labels "
            "are needed to learn to tell them apart."
        )
    structure.labels, structure.encoder = labels, corpus.encoder
    weights = check_weights(training.sample_weight, corpus.n_sentences)
    making = structure.to_train()
    _check_sentences(corpus, making.barrier, structure)
    sample = corpus.shards[0].tokens()[0].values
    making = replace(making, dtype=training.dtype(sample, C, weights))
    pieces = [CorpusPiece((shard,), making) for shard in corpus.shards]
    batch: Any = pieces[0].load()
    if len(pieces) > 1:  # one shard is trained on as data in memory are
        batch = CorpusBatch(pieces, corpus.n_features, len(labels))
    if structure.order == 0:
        weights = _per_token(corpus, weights)
    return structure.encoded(batch, making.dtype, weights, corpus.feature_of_row, C)


def _check_use(structure: Any, corpus: TagCorpus, y: Any, objective: str) -> None:
    """Refuse what contradicts the corpus, or needs all data at once."""
    if y is not None:
        raise ValueError(
            "y was given beside a corpus, which has its labels: leave y out."
        )
    if structure.kernel is not None:
        raise ValueError(
            "A kernel needs all tokens in memory: give it files that fit, or train on the "
            "corpus without a kernel."
        )
    if objective not in ("hinge", "log"):
        raise ValueError(
            f"{objective=} needs all data in memory: train on a corpus "
            "by a SequenceTagger with 'hinge' or 'log'."
        )
    if corpus.settings["like"]:
        raise ValueError(
            f"{corpus.folder} was built with the features of other data (like=), for "
            "prediction: build a corpus with features of its own to train on."
        )
    advice = "Leave it out, or build the corpus again with it."
    if structure.feature_options:
        raise ValueError(
            f"feature_options was given, but the corpus has its features. {advice}"
        )
    for name, usual in (("features", None), ("min_count", 1)):
        given, own = getattr(structure, name), corpus.settings[name]
        if given != usual and _plain(name, given) != _plain(name, own):
            raise ValueError(
                f"{name} of the tagger is not that of the corpus {corpus.folder}, which "
                f"was built with {_short(own)}. {advice}"
            )


def _plain(name: str, value: Any) -> Any:
    if name != "features" or (isinstance(value, str) and value in READY_NAMES):
        return value
    text = (value if isinstance(value, Template) else parse_template(value)).text
    return text.rstrip("\n")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _check_sentences(corpus: TagCorpus, barrier: Any, structure: Any) -> None:
    if corpus.longest > LONG:
        warn(
            f"{corpus.folder} has a sequence of {corpus.longest} tokens, and long ones "
            "train slowly: is there a blank line missing between sentences?",
        )
    labels, scheme = structure.labels, structure.scheme
    if barrier is None and scheme is None:
        return
    for shard in corpus.shards:
        tokens, y = shard.tokens()
        start = tokens.start.tolist()
        if scheme is not None:
            flat = np.array(labels, object)[y].tolist()
            rows = [flat[a:b] for a, b in pairwise(start)]
            name = os.path.join(corpus.folder, shard.name)
            check_scheme(
                rows,
                scheme,
                lambda i, t, at=name: f"{at}, sentence {i}, token {t}",
            )
        if barrier is not None:
            check_allowed(barrier, y, tokens.start, labels)


def _per_token(corpus: TagCorpus, weights: np.ndarray) -> np.ndarray:
    lengths = [np.diff(shard.tokens()[0].start) for shard in corpus.shards]
    return np.repeat(weights, np.concatenate(lengths))


# prediction ----------------------------------------------------------------------------


def predicted(
    structure: Any, corpus: TagCorpus, w: np.ndarray, n_jobs: int
) -> Iterator[tuple[np.ndarray, ...]]:
    """(start, numbers of predicted labels, those of true ones) of every shard.

    True labels have the structure's numbers, -1 for those that it does not know.
    """
    if not same_features(structure.encoder, corpus.encoder):
        raise ValueError(
            f"{corpus.folder} has other features than the tagger: build it with "
            "TagCorpus.build(..., like=tagger)."
        )
    w = _rows_of(w, len(structure.labels), corpus.feature_of_row)
    making = structure.to_predict(w.dtype)
    number = {label: j for j, label in enumerate(structure.labels)}
    known = np.array([number.get(label, -1) for label in corpus.labels], np.int32)
    for shard in corpus.shards:
        batch = CorpusPiece((shard,), making).load()
        structure.check_possible(batch, w, n_jobs)
        tokens, y = shard.tokens(w.dtype)
        yield tokens.start, structure.search(batch, w, n_jobs), known[y]


def same_features(ours: Any, theirs: Any) -> bool:
    """Whether two encoders give the same features the same numbers."""
    if ours is theirs:
        return True
    if getattr(ours, "kind", None) != "columns":
        return False
    (a, state), (b, other) = ours.get_state(), theirs.get_state()
    same = state == other and a.keys() == b.keys()
    return same and all(np.array_equal(a[key], b[key]) for key in a)


def _rows_of(w: np.ndarray, n_labels: int, order: np.ndarray | None) -> np.ndarray:
    """The weights in the order of the features of the corpus."""
    if order is None:
        return w
    rows = w.reshape(-1, padded_width(n_labels)).copy()
    rows[: len(order)] = rows[order]
    return rows.ravel()
