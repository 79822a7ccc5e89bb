"""Parsing: the output is a derivation of a binarised grammar over the words.

    value(x, y) = sum of the weights of its rules and of its root
                  + sum_words  word features . tag  +  sum_brackets  span features . label

A derivation over L words has 2L - 1 nodes, numbered in preorder; the left child of node
m is m + 1 and, if the left part has n words, its right child is m + 2n. A node has three
slots: its chain (or -1), its binary rule (or -1 - tag for a word), its split, the end of
the left part (0 for a word). Equal trees have equal labellings.

    w      binary rules, unary rules, roots; (word features, tags); (span features, labels)
    theta  one row: rules by left child, chains, roots; (words, tags); (cells, labels)

The loss compares the brackets (label, begin, end) of the tree before binarisation, words'
tags left out, as multisets: with g true and p predicted brackets of which t agree,

    zero-one  1 unless all is equal (tags and rules too)
    hamming   g + p - 2 t
    f1        1 - F1 = 1 - 2 t / (g + p)

All are searched exactly, under every rescaling: ``other.py``, ``counts.py``.
(Tsochantaridis et al. 2004, section on parsing, for weighted grammars and the F1 loss.)
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import contract
from maxmargin.core.compile.declared import Float, Int, Labels, Table
from maxmargin.core.kernel import direct, generic, implements, inlined, kernel, outlined
from maxmargin.core.partial import partly_known
from maxmargin.core.vectors import copy_into
from maxmargin.trees.cky import sums  # noqa: F401  implements sums
from maxmargin.trees.cky.batch import (
    Brackets,
    ParseBatch,
    PartialParseBatch,
    ZeroOne,
    make_batch,
    n_weights,
    root_weight,
    sentence_of,
    span_at,
    span_weight,
    unary_weight,
    word_weight,
)
from maxmargin.trees.cky.cells import cell_of, limits_of
from maxmargin.trees.cky.chart import chart_of, known_chart, marked
from maxmargin.trees.cky.counts import search_counts
from maxmargin.trees.cky.other import best_other
from maxmargin.trees.cky.trees import (
    core_symbol,
    count_brackets,
    is_tree,
    loss_of,
    node_spans,
    root_number,
    tree_value,
    true_brackets,
    write_best,
)

__all__ = ["ParseBatch", "for_training", "make_batch", "n_weights", "sentence_of"]


@implements(contract.shape, ParseBatch)
def shape(batch):
    return 1, max(batch.n_scores, 1)


@implements(contract.capacity, ParseBatch)
def capacity(batch):
    return batch.widest


# scores ---------------------------------------------------------------------------------


@inlined
def score_chain(batch, w, c, theta):
    tables = batch.grammar
    total = 0.0
    for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
        total += float(w[unary_weight(batch, u)])
    theta[0, batch.chain_at + c] = total


@inlined
def score_tag(batch, i, w, position, tag, theta):
    total = 0.0
    word = batch.token_start[i] + position
    for f in range(batch.word_start[word], batch.word_start[word + 1]):
        total += float(w[word_weight(batch, batch.word_features[f], tag)])
    theta[0, batch.tag_at + position * batch.grammar.n_tags + tag] = total


@inlined
def score_label(batch, i, w, cell, label, theta):
    total = 0.0
    span = batch.cell_start[i] + cell
    for f in range(batch.span_start[span], batch.span_start[span + 1]):
        total += float(w[span_weight(batch, batch.span_features[f], label)])
    theta[0, span_at(batch, i) + cell * batch.grammar.n_labels + label] = total


@implements(contract.score, ParseBatch)
def score(batch, i, w, theta):
    tables = batch.grammar
    for r in range(len(tables.left)):
        theta[0, r] = w[tables.rule_weight[r]]
    for c in range(len(tables.top)):
        score_chain(batch, w, c, theta)
    for q in range(len(tables.roots)):
        theta[0, batch.root_at + q] = w[root_weight(batch, q)]
    token, length = (
        batch.token_start[i],
        batch.token_start[i + 1] - batch.token_start[i],
    )
    if batch.n_word_features > 0:
        for t in range(length):
            for p in range(batch.tag_start[token + t], batch.tag_start[token + t + 1]):
                score_tag(batch, i, w, t, batch.tags[p], theta)
    if batch.n_span_features > 0:
        n = tables.n_labels
        rows = w[span_weight(batch, 0, 0) :].reshape((batch.n_span_features, n))
        for cell in range(length * (length + 1) // 2):
            place = span_at(batch, i) + cell * n
            row = theta[0, place : place + n]
            for label in range(n):
                row[label] = 0
            span = batch.cell_start[i] + cell
            for f in range(batch.span_start[span], batch.span_start[span + 1]):
                source = rows[batch.span_features[f]]
                for label in range(n):
                    row[label] += source[label]


@implements(contract.score_planes, ParseBatch)
def score_planes(batch, i, w, labellings, count, theta):
    """Only the parts of these trees."""
    tables = batch.grammar
    size = batch.start[i + 1] - batch.start[i]
    length = batch.token_start[i + 1] - batch.token_start[i]
    for p in range(count):
        y = labellings[p * size : (p + 1) * size]
        begins, ends = node_spans(y, length)
        q = root_number(tables.roots, tables.top, tables.parent, y)
        theta[0, batch.root_at + q] = w[root_weight(batch, q)]
        for m in range(size // 3):
            c, r = y[3 * m], y[3 * m + 1]
            if c >= 0:
                score_chain(batch, w, c, theta)
            if r >= 0:
                theta[0, r] = w[tables.rule_weight[r]]
            elif batch.n_word_features > 0:
                score_tag(batch, i, w, begins[m], -1 - r, theta)
            if batch.n_span_features > 0:
                cell = cell_of(begins[m], ends[m])
                label = tables.label[core_symbol(tables.parent, y, m)]
                if label >= 0:
                    score_label(batch, i, w, cell, label, theta)
                if c >= 0:
                    for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
                        label = tables.chain_labels[u]
                        if label >= 0:
                            score_label(batch, i, w, cell, label, theta)


@implements(contract.value, ParseBatch)
def value(batch, i, theta, y):
    if batch.start[i + 1] == batch.start[i]:
        return 0.0
    return tree_value(batch.grammar, sentence_of(batch, i, theta), y)


@inlined
def put_span(batch, i, cell, label, coefficient, index, values, m):
    span = batch.cell_start[i] + cell
    for f in range(batch.span_start[span], batch.span_start[span + 1]):
        index[m] = span_weight(batch, batch.span_features[f], label)
        values[m] = coefficient
        m += 1
    return m


@implements(contract.emit, ParseBatch)
def emit(batch, i, y, coefficient, index, values, m):
    tables = batch.grammar
    token, length = (
        batch.token_start[i],
        batch.token_start[i + 1] - batch.token_start[i],
    )
    if length == 0 or coefficient == 0.0:
        return m
    begins, ends = node_spans(y, length)
    q = root_number(tables.roots, tables.top, tables.parent, y)
    index[m], values[m] = root_weight(batch, q), coefficient
    m += 1
    for node in range(2 * length - 1):
        c, r = y[3 * node], y[3 * node + 1]
        cell = cell_of(begins[node], ends[node])
        if c >= 0:
            for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
                index[m], values[m] = unary_weight(batch, u), coefficient
                m += 1
                label = tables.chain_labels[u]
                if label >= 0 and batch.n_span_features > 0:
                    m = put_span(batch, i, cell, label, coefficient, index, values, m)
        if r >= 0:
            index[m], values[m] = tables.rule_weight[r], coefficient
            m += 1
            label = tables.label[tables.parent[r]]
            if label >= 0 and batch.n_span_features > 0:
                m = put_span(batch, i, cell, label, coefficient, index, values, m)
        else:
            word = token + begins[node]
            for f in range(batch.word_start[word], batch.word_start[word + 1]):
                index[m] = word_weight(batch, batch.word_features[f], -1 - r)
                values[m] = coefficient
                m += 1
    return m


# losses and searches --------------------------------------------------------------------


@inlined
def same(a, b, size):
    k = 0
    while k < size and a[k] == b[k]:
        k += 1
    return k == size


@implements(contract.possible, ParseBatch)
def possible(batch, i, y):
    a, b = batch.token_start[i], batch.token_start[i + 1]
    return is_tree(batch.grammar, b - a, batch.tag_start[a : b + 1], batch.tags, y)


@implements(contract.loss, ParseBatch)
def loss(batch, i, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    if same(truth, y, len(truth)):
        return 0.0
    return loss_by_kind(batch.loss, batch, i, truth, y)


@generic
def loss_by_kind(loss, batch, i, truth, y):
    """The loss of a wrong tree, by the type of ``batch.loss``."""
    length = batch.token_start[i + 1] - batch.token_start[i]
    gold, g = true_brackets(batch.grammar, length, truth)
    t, p = count_brackets(batch.grammar, length, gold, y)
    return loss_of(loss.kind, t, p, g)


@implements(loss_by_kind, ZeroOne)
def zero_one_loss(loss, batch, i, truth, y):
    return 1.0


@implements(contract.argmax, ParseBatch)
def argmax(batch, i, theta, scale, y):
    """A sentence that the grammar cannot parse gets NO_PARSE in every slot."""
    if batch.start[i + 1] == batch.start[i]:
        return
    if scale == 0.0:
        sentence = sentence_of(batch, i, theta)
        write_best(batch.grammar, sentence, chart_of(batch, sentence), y)
    else:
        search(batch.loss, batch, i, theta, 0, 0, scale, y)


@implements(contract.complete, PartialParseBatch)
def complete(batch, i, theta, y):
    """The best tree with all known brackets; what is there, if there is none."""
    first, length = batch.start[i], batch.token_start[i + 1] - batch.token_start[i]
    best = -np.inf
    if length > 0 and not batch.known[first]:
        tables, sentence = batch.grammar, sentence_of(batch, i, theta)
        rows = batch.brackets[batch.bracket_start[i] : batch.bracket_start[i + 1]]
        limits = limits_of(tables, length, rows)
        best = write_best(tables, sentence, known_chart(tables, sentence, limits), y)
    if best == -np.inf:
        copy_into(y, 0, batch.y[first:], batch.start[i + 1] - first)


@implements(contract.argmax_rescaled, ParseBatch)
def argmax_rescaled(batch, i, theta, form, y):
    if batch.start[i + 1] > batch.start[i]:
        search(batch.loss, batch, i, theta, form.slack, form.quadratic, 1.0, y)
    return True


@generic
def search(loss, batch, i, theta, slack, quadratic, scale, y):
    """y <- the tree with the largest violation, or score + scale * loss."""
    search_counts(batch, i, theta, slack, quadratic, scale, y)


@implements(search, ZeroOne)
def search_zero_one(loss, batch, i, theta, slack, quadratic, scale, y):
    search_other(
        batch, i, theta, scale, y
    )  # all rescalings of a loss of 1 are the same


@outlined
def search_other(batch, i: Int, theta: Table, scale: Float, y: Labels) -> None:
    tables, sentence = batch.grammar, sentence_of(batch, i, theta)
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    chart = chart_of(batch, sentence)
    best = write_best(tables, sentence, chart, y)
    if best == -np.inf:  # weights that overflowed
        copy_into(y, 0, truth, len(truth))
    elif same(truth, y, len(truth)):
        other = best_other(tables, sentence, chart, truth, y)
        if other + scale <= best:
            copy_into(y, 0, truth, len(truth))


@kernel
def bound_brackets(batch, theta):
    """bounds <- least right brackets, fewest and most brackets of any tree."""
    tables = batch.grammar
    y = np.empty(6 * batch.longest + 3, np.int32)
    for i in range(len(batch.start) - 1):
        if batch.start[i + 1] == batch.start[i]:
            continue
        sentence = sentence_of(batch, i, theta)
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        gold, _ = true_brackets(tables, sentence.length, truth)
        for which in range(3):
            right = 1.0 if which == 0 else 0.0
            extra = (0.0, -1.0, 1.0)[which]
            chart = chart_of(batch, marked(sentence, extra, right, gold))
            write_best(tables, sentence, chart, y)
            t, p = count_brackets(tables, sentence.length, gold, y)
            batch.bounds[i, which] = t if which == 0 else p


def for_training(batch: ParseBatch) -> ParseBatch:
    """The batch, with what the search for violated trees must know of it."""
    if isinstance(batch.loss, Brackets):
        no_scores = np.zeros((1, max(batch.n_scores, 1)))
        direct(bound_brackets, batch, no_scores)
    return batch


def partly_parsed(batch: ParseBatch, whole, brackets) -> PartialParseBatch:
    """The batch as one of which only some trees are known ``whole``.

    ``brackets`` has rows (begin, end, label or -1 for any label) for every sentence.
    """
    whole, sizes = np.asarray(whole, bool), [len(rows) for rows in brackets]
    bounds = batch.bounds.copy()
    bounds[~whole, 0] = 0  # their right brackets, whatever will stand for the truth
    rows = [row for known in brackets for row in known]
    return partly_known(
        batch._replace(bounds=bounds),
        np.repeat(whole, np.diff(batch.start)),
        bracket_start=np.cumsum([0, *sizes], dtype=np.int64),
        brackets=np.array(rows, np.int32).reshape(-1, 3),
    )
