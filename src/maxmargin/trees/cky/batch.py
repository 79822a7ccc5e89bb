"""Sentences as the parser's kernels read them, and where things lie in w and theta."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import inlined
from maxmargin.core.partial import with_known
from maxmargin.trees.cky.chart import Sentence
from maxmargin.trees.cky.tables import GrammarTables

ZERO_ONE, HAMMING, F1 = range(3)
LOSSES = {"zero-one": ZERO_ONE, "hamming": HAMMING, "f1": F1}


class ZeroOne(NamedTuple):
    """Types of losses, so that only the search that is used is compiled."""

    kind: int


class Brackets(NamedTuple):
    """Losses that are functions of counts of brackets."""

    kind: int


class ParseBatch(NamedTuple):
    """Sentences: the tags that every word may have, and features as lists of indices."""

    cuts = cut_by(
        start="example",
        y="start",
        token_start="example",
        tag_start="token_start",
        tags="tag_start",
        word_start="token_start",
        word_features="word_start",
        cell_start="example",
        span_start="cell_start",
        span_features="span_start",
        bounds="example",
    )

    start: np.ndarray
    y: np.ndarray
    token_start: np.ndarray  # int64[n + 1]
    tag_start: np.ndarray  # int64[words + 1]
    tags: np.ndarray  # int32: the tags that a word may have
    word_start: np.ndarray  # int64[words + 1], features of words
    word_features: np.ndarray  # int32
    cell_start: np.ndarray  # int64[n + 1]: the first span of a sentence
    span_start: np.ndarray  # int64[spans + 1], features of spans
    span_features: np.ndarray  # int32
    grammar: GrammarTables
    loss: ZeroOne | Brackets
    bounds: np.ndarray  # int64 (n, 3): least right, fewest and most brackets
    n_word_features: int
    n_span_features: int
    longest: int
    widest: int  # entries of the longest Psi
    chain_at: int  # places in theta
    root_at: int
    tag_at: int
    n_scores: int


# known brackets of trees that are not known whole: rows (begin, end, label)
PartialParseBatch = with_known(
    ParseBatch, also={"bracket_start": "example", "brackets": "bracket_start"}
)


def make_batch(
    grammar: GrammarTables,
    tags,
    y=None,
    loss: str = "f1",
    words=None,
    spans=None,
) -> ParseBatch:
    """Encode sentences.

    ``tags`` holds for every sentence a list of the tags that each word may have. ``y``
    holds labellings, or is None for prediction. ``words`` and ``spans`` are (indptr,
    indices, number of features): one row per word, and one per span of every sentence,
    ordered by end, then begin.
    """
    lengths = np.array([len(sentence) for sentence in tags], np.int64)
    token_start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    choices = [len(choice) for sentence in tags for choice in sentence]
    flat = [tag for sentence in tags for choice in sentence for tag in choice]
    cells = lengths * (lengths + 1) // 2
    slots = 3 * np.maximum(2 * lengths - 1, 0)
    start = np.concatenate([[0], np.cumsum(slots)]).astype(np.int64)
    word_start, word_features, n_word = words or _nothing(int(lengths.sum()))
    span_start, span_features, n_span = spans or _nothing(0)
    longest = int(lengths.max(initial=0))
    nodes = max(2 * longest - 1, 0)
    steepest = int(np.diff(grammar.chain_start).max(initial=0))
    per_word = int(np.diff(word_start).max(initial=0))
    per_span = int(np.diff(span_start).max(initial=0))
    chain_at = len(grammar.left)
    root_at = chain_at + len(grammar.top)
    tag_at = root_at + len(grammar.roots)
    span_at = tag_at + (longest * grammar.n_tags if n_word else 0)
    widest_cells = longest * (longest + 1) // 2
    return ParseBatch(
        start=start,
        y=np.zeros(start[-1], np.int32)
        if y is None
        else np.concatenate([*y, []]).astype(np.int32),
        token_start=token_start,
        tag_start=np.concatenate([[0], np.cumsum(choices)]).astype(np.int64),
        tags=np.array(flat, np.int32),
        word_start=word_start,
        word_features=word_features,
        cell_start=np.concatenate([[0], np.cumsum(cells)]).astype(np.int64),
        span_start=span_start,
        span_features=span_features,
        grammar=grammar,
        loss=(ZeroOne if loss == "zero-one" else Brackets)(LOSSES[loss]),
        bounds=np.zeros((len(lengths), 3), np.int64),
        n_word_features=n_word,
        n_span_features=n_span,
        longest=longest,
        widest=1 + longest * per_word + nodes * (1 + steepest) * (1 + per_span),
        chain_at=chain_at,
        root_at=root_at,
        tag_at=tag_at,
        n_scores=span_at + (widest_cells * grammar.n_labels if n_span else 0),
    )


def _nothing(rows: int):
    return np.zeros(rows + 1, np.int64), np.zeros(0, np.int32), 0


def n_weights(grammar: GrammarTables, n_word: int = 0, n_span: int = 0) -> int:
    """Length of w."""
    rules = len(grammar.left) + grammar.n_unary + len(grammar.roots)
    return rules + n_word * grammar.n_tags + n_span * grammar.n_labels


@inlined
def span_at(batch, i):
    """Where the scores of brackets begin in the theta of example i."""
    length = batch.token_start[i + 1] - batch.token_start[i]
    return batch.tag_at + (
        length * batch.grammar.n_tags if batch.n_word_features > 0 else 0
    )


@inlined
def sentence_of(batch, i, theta):
    """What the kernels of the chart need to know of example i."""
    row, tables = theta[0], batch.grammar
    token, length = (
        batch.token_start[i],
        batch.token_start[i + 1] - batch.token_start[i],
    )
    words = length if batch.n_word_features > 0 else 0
    cells = length * (length + 1) // 2 if batch.n_span_features > 0 else 0
    tags, labels, spans = tables.n_tags, tables.n_labels, span_at(batch, i)
    return Sentence(
        length,
        batch.tag_start[token : token + length + 1],
        batch.tags,
        row[: batch.chain_at],
        row[batch.chain_at : batch.root_at],
        row[batch.root_at : batch.tag_at],
        row[batch.tag_at : batch.tag_at + words * tags].reshape((words, tags)),
        row[spans : spans + cells * labels].reshape((cells, labels)),
        0.0,
        np.zeros((0, 0), np.int8),
    )


# where things lie in w ------------------------------------------------------------------


@inlined
def unary_weight(batch, u):
    return len(batch.grammar.left) + batch.grammar.chain_rules[u]


@inlined
def root_weight(batch, q):
    return len(batch.grammar.left) + batch.grammar.n_unary + q


@inlined
def word_weight(batch, feature, tag):
    first = root_weight(batch, len(batch.grammar.roots))
    return first + feature * batch.grammar.n_tags + tag


@inlined
def span_weight(batch, feature, label):
    first = word_weight(batch, batch.n_word_features, 0)
    return first + feature * batch.grammar.n_labels + label
