"""Sums over all trees of a sentence: log-partition, expected parts, brackets.

The inside chart with log-sums, then a way down: an item that is expected f times passes
f on to its chains, and each core to its splits and rules, in proportion to their sums.
That is the gradient of the log-partition, written by hand (Goodman 1999; Eisner 2016).
"""

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined, inner, kernel
from maxmargin.trees.cky.batch import (
    ParseBatch,
    PartialParseBatch,
    root_weight,
    sentence_of,
    span_at,
    span_weight,
    unary_weight,
    word_weight,
)
from maxmargin.trees.cky.cells import NONE, admits, cell_of, limits_of
from maxmargin.trees.cky.chart import (
    Sentence,
    add_logs,
    chain_score,
    inside_sums,
    label_score,
)
from maxmargin.trees.cky.trees import core_symbol, node_spans, root_number


@implements(contract.extent, ParseBatch)
def extent(batch, i):
    length = batch.token_start[i + 1] - batch.token_start[i]
    cells = length * (length + 1) // 2 if batch.n_span_features > 0 else 0
    return span_at(batch, i) + cells * batch.grammar.n_labels


@implements(contract.common, ParseBatch)
def common(batch):
    return batch.tag_at  # rules, chains and roots


@implements(contract.sums_room, ParseBatch)
def sums_room(batch):
    return batch.n_scores


@implements(contract.sums, ParseBatch)
def sums(batch, i, theta, mu, work):
    scores = start_sums(batch, i, theta, mu, work)
    sentence, out = sentence_of(batch, i, scores), sentence_of(batch, i, mu)
    return sum_trees(batch.grammar, sentence, None, False, out)


@implements(contract.known_sums, PartialParseBatch)
def known_sums(batch, i, theta, mu, work):
    scores = start_sums(batch, i, theta, mu, work)
    if batch.known[batch.start[i]]:
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        contract.parts(batch, i, truth, 1.0, mu)
        return contract.value(batch, i, scores, truth)
    sentence, out = sentence_of(batch, i, scores), sentence_of(batch, i, mu)
    rows = batch.brackets[batch.bracket_start[i] : batch.bracket_start[i + 1]]
    limits = limits_of(batch.grammar, sentence.length, rows)
    return sum_trees(batch.grammar, sentence, limits, False, out)


@inlined
def start_sums(batch, i, theta, mu, work):
    """mu <- 0; returns the scores in double precision, which log-sums need."""
    scores = work.reshape((1, batch.n_scores))
    for k in range(contract.extent(batch, i)):
        scores[0, k] = theta[0, k]
        mu[0, k] = 0.0
    return scores


@inner
def sum_trees(tables, sentence, limits, once, out):
    """The log-sum over trees; their expected parts are added to ``out``."""
    chart = inside_sums(tables, sentence, limits)
    total = log_partition(tables, sentence, chart)
    if total > -np.inf:
        pass_down(tables, sentence, chart, total, limits, once, out)
    return total


@kernel
def log_partition(tables, sentence, chart):
    total = -np.inf
    for q in range(len(tables.roots)):
        v = chart.best[cell_of(0, sentence.length), tables.roots[q]] + sentence.root[q]
        total = add_logs(total, v)
    return total


@inner
def pass_down(tables, sentence, chart, total, limits, once, out):
    """Add to ``out`` (a Sentence of expectations) how often each part is expected.

    ``once`` counts brackets that a chain has twice a single time.
    """
    by_left, right_of, parent_of = tables.by_left, tables.right, tables.parent
    by_bottom, labels, seen = tables.by_bottom, tables.chain_labels, tables.chain_seen
    length, weight, chain = sentence.length, sentence.rule, sentence.chain
    label, right, gold = sentence.label, sentence.right, sentence.gold
    best, first, last = chart.best, chart.first, chart.last
    flow = np.zeros(best.shape)
    core_flow, core_score = np.zeros(best.shape[1]), np.zeros(best.shape[1])
    for q in range(len(tables.roots)):
        a, whole = tables.roots[q], cell_of(0, length)
        p = np.exp(best[whole, a] + sentence.root[q] - total)
        flow[whole, a] += p
        out.root[q] += p
    for j in range(length, 0, -1):
        for i in range(j):
            cell = cell_of(i, j)
            for q in range(first[cell], last[cell]):
                a, core = chart.symbol[q], chart.core[q]
                if core == -np.inf:
                    continue
                f = 0.0
                if flow[cell, a] > 0.0 and admits(tables, limits, cell, a, NONE):
                    f = flow[cell, a] * np.exp(core - best[cell, a])
                for c in range(by_bottom[a], by_bottom[a + 1]):
                    top = tables.top[c]
                    above = flow[cell, top]
                    if above == 0.0 or not admits(tables, limits, cell, a, c):
                        continue
                    v = chain_score(tables, chain, label, right, gold, cell, c)
                    p = above * np.exp(core + v - best[cell, top])
                    f += p
                    out.chain[c] += p
                    if len(out.label) > 0:
                        u, z = tables.chain_start[c], tables.chain_start[c + 1]
                        for place in range(u, z):
                            if labels[place] >= 0 and not (once and seen[place] > 0):
                                out.label[cell, labels[place]] += p
                if tables.label[a] >= 0 and len(out.label) > 0:
                    out.label[cell, tables.label[a]] += f
                core_flow[a] = f
                core_score[a] = core - label_score(tables.label, label, cell, a)
                if j - i == 1 and len(out.tag) > 0:
                    out.tag[i, a] += f
            for k in range(i + 1, j):
                left, other_cell = cell_of(i, k), cell_of(k, j)
                for q in range(first[left], last[left]):
                    a = chart.symbol[q]
                    x, mine_flow = best[left, a], 0.0
                    for r in range(by_left[a], by_left[a + 1]):
                        f = core_flow[parent_of[r]]
                        y = best[other_cell, right_of[r]]
                        if f == 0.0 or y == -np.inf:
                            continue
                        p = f * np.exp(x + y + weight[r] - core_score[parent_of[r]])
                        out.rule[r] += p
                        mine_flow += p
                        flow[other_cell, right_of[r]] += p
                    flow[left, a] += mine_flow
            for q in range(first[cell], last[cell]):
                core_flow[chart.symbol[q]] = 0.0


@kernel
def bracket_probabilities(batch, i, w):
    """(log Z, table, mu): probabilities of brackets (cell, label) under exp(score) / Z.

    -inf and zeros for a sentence without trees. A tree that has a bracket twice, by a
    chain, counts once. mu has the expected rules, chains, roots and tags.
    """
    theta = np.zeros((1, max(batch.n_scores, 1)))
    contract.score(batch, i, w, theta)
    sentence = sentence_of(batch, i, theta)
    length = sentence.length
    table = np.zeros((length * (length + 1) // 2, batch.grammar.n_labels))
    if length == 0:
        return -np.inf, table, theta
    mu = np.zeros(theta.shape)
    s = sentence_of(batch, i, mu)
    rest = (s.length, s.tag_start, s.tags, s.rule, s.chain, s.root, s.tag)
    out = Sentence(*rest, table, s.right, s.gold)
    return sum_trees(batch.grammar, sentence, None, True, out), table, mu


@implements(contract.parts, ParseBatch)
def parts(batch, i, y, coefficient, mu):
    tables, out = batch.grammar, sentence_of(batch, i, mu)
    length = batch.token_start[i + 1] - batch.token_start[i]
    begins, ends = node_spans(y, length)
    out.root[root_number(tables.roots, tables.top, tables.parent, y)] += coefficient
    for node in range(2 * length - 1):
        c, r = y[3 * node], y[3 * node + 1]
        cell = cell_of(begins[node], ends[node])
        if r >= 0:
            out.rule[r] += coefficient
        elif len(out.tag) > 0:
            out.tag[begins[node], -1 - r] += coefficient
        if c >= 0:
            out.chain[c] += coefficient
        if len(out.label) > 0:
            a = tables.label[core_symbol(tables.parent, y, node)]
            if a >= 0:
                out.label[cell, a] += coefficient
            if c >= 0:
                for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
                    if tables.chain_labels[u] >= 0:
                        out.label[cell, tables.chain_labels[u]] += coefficient


@implements(contract.spread, ParseBatch)
def spread(batch, i, coefficient, mu, w):
    tables, source = batch.grammar, sentence_of(batch, i, mu)
    for r in range(len(tables.left)):
        w[tables.rule_weight[r]] += coefficient * source.rule[r]
    for c in range(len(tables.top)):
        for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
            w[unary_weight(batch, u)] += coefficient * source.chain[c]
    for q in range(len(tables.roots)):
        w[root_weight(batch, q)] += coefficient * source.root[q]
    token = batch.token_start[i]
    for t in range(len(source.tag)):
        word = token + t
        for p in range(batch.tag_start[word], batch.tag_start[word + 1]):
            x = coefficient * source.tag[t, batch.tags[p]]
            for f in range(batch.word_start[word], batch.word_start[word + 1]):
                w[word_weight(batch, batch.word_features[f], batch.tags[p])] += x
    n = tables.n_labels
    for cell in range(len(source.label)):
        span, row = batch.cell_start[i] + cell, source.label[cell]
        for f in range(batch.span_start[span], batch.span_start[span + 1]):
            place = span_weight(batch, batch.span_features[f], 0)
            for a in range(n):
                w[place + a] += coefficient * row[a]
