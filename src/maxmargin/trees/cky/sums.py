"""Sums over all trees of a sentence: the log-partition and probabilities of brackets."""

from __future__ import annotations

import numpy as np

from maxmargin.core.contract import score
from maxmargin.core.kernel import kernel
from maxmargin.trees.cky.chart import add_logs, cell_of, chain_marks, inside_sums
from maxmargin.trees.cky.outside import outside_sums
from maxmargin.trees.cky.structure import sentence_of


@kernel
def bracket_probabilities(batch, i, w):
    """(log Z, table): probability of every bracket (cell, label) under exp(score) / Z.

    -inf and zeros for a sentence without trees. A tree that has a bracket twice, by a
    chain, counts once.
    """
    theta = np.empty((1, max(batch.n_scores, 1)))
    score(batch, i, w, theta)
    tables, sentence = batch.grammar, sentence_of(batch, i, theta)
    label_of, by_bottom, top_of = tables.label, tables.by_bottom, tables.top
    chain_start, labels, seen = (
        tables.chain_start,
        tables.chain_labels,
        tables.chain_seen,
    )
    label, right, gold = sentence.label, sentence.right, sentence.gold
    length = sentence.length
    out = np.zeros((length * (length + 1) // 2, tables.n_labels))
    if length == 0:
        return -np.inf, out
    chart = inside_sums(tables, sentence)
    total = -np.inf
    for q in range(len(tables.roots)):
        v = chart.best[cell_of(0, length), tables.roots[q]] + sentence.root[q]
        total = add_logs(total, v)
    if total == -np.inf:
        return total, out
    above, _ = outside_sums(tables, sentence, chart)
    for cell in range(len(out)):
        for q in range(chart.first[cell], chart.last[cell]):
            a, core = chart.symbol[q], chart.core[q] - total
            if core == -np.inf:
                continue
            mine = label_of[a]
            if mine >= 0:
                out[cell, mine] += np.exp(core + above[cell, a])
            for c in range(by_bottom[a], by_bottom[a + 1]):
                u, z = chain_start[c], chain_start[c + 1]
                v = core + sentence.chain[c] + above[cell, top_of[c]]
                if len(label) > 0:
                    v += chain_marks(label, right, gold, cell, labels, seen, u, z)
                p = np.exp(v)
                if mine >= 0:
                    out[cell, mine] += p
                for place in range(u, z):
                    if labels[place] >= 0 and seen[place] == 0:
                        out[cell, labels[place]] += p
    return total, out
