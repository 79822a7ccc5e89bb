"""The tree of least expected loss, from the probabilities p of brackets.

Of n predicted brackets, the sum R of their p is expected to be right. With E, the expected
number of true brackets, the Hamming loss E + n - 2 R is least where the sum of p - 1/2 is
largest: an ordinary search with scores of brackets. 1 - F1 is taken as 1 - 2 R / (E + n),
a ratio of expectations as in the F1 of a corpus; it is least where the sum of p - t is
largest for t = R / (E + n), which a few searches find (Dinkelbach 1967). The first of
them, with t = 0, is the tree with most brackets right of Goodman (1996), who has binary
trees only: without a price, each bracket that might be right is worth predicting.

Trees are those of the grammar. Of trees with equal brackets, the one with the largest
expected numbers of its rules and tags is taken.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import kernel
from maxmargin.engine.threads import over_ranges
from maxmargin.trees.cky.batch import F1, sentence_of
from maxmargin.trees.cky.cells import cell_of
from maxmargin.trees.cky.chart import Sentence, inside
from maxmargin.trees.cky.sums import bracket_probabilities
from maxmargin.trees.cky.trees import NO_PARSE, core_symbol, node_spans, write_best

TIES = 1e-7  # scores of expected parts, beside those of brackets
NEAR = 1e-9  # a price that rises by less has been found


def decode_posteriors(batch, w, n_jobs: int = 1) -> np.ndarray:
    """Labellings of the trees of least expected loss, laid out as ``batch.y``."""
    outputs = np.zeros(len(batch.y), np.int32)
    w = w.astype(np.float64)

    def part(lo, hi):
        for i in range(lo, hi):
            found, table, mu = bracket_probabilities(batch, i, w)
            y = outputs[batch.start[i] : batch.start[i + 1]]
            if found > -np.inf:
                least_loss_tree(batch, i, table, mu, y)
            else:
                y[:] = NO_PARSE

    over_ranges(part, batch.start, n_jobs)
    return outputs


@kernel
def least_loss_tree(batch, i, table, mu, y):
    """y <- the tree of least expected loss, from what is expected (mu is overwritten)."""
    for k in range(mu.shape[1]):
        mu[0, k] *= TIES
    expected = table.sum()
    price = 0.0 if batch.loss.kind == F1 else 0.5
    while True:
        sentence = priced(sentence_of(batch, i, mu), table, price)
        write_best(batch.grammar, sentence, inside(batch.grammar, sentence), y)
        right, total = found_brackets(batch.grammar, sentence.length, table, y)
        if batch.loss.kind != F1 or expected + total == 0.0:
            return
        share = right / (expected + total)
        if share <= price + NEAR:
            return
        price = share


@kernel
def priced(s, table, price):
    """The sentence with scores p - price of brackets."""
    label = np.empty(table.shape)
    for cell in range(table.shape[0]):
        for a in range(table.shape[1]):
            label[cell, a] = table[cell, a] - price
    rest = (s.length, s.tag_start, s.tags, s.rule, s.chain, s.root, s.tag)
    return Sentence(*rest, label, s.right, s.gold)


@kernel
def found_brackets(tables, length, table, y):
    """(sum of the probabilities of a tree's brackets, their number)."""
    begins, ends = node_spans(y, length)
    right, total = 0.0, 0
    for m in range(2 * length - 1):
        cell, c = cell_of(begins[m], ends[m]), y[3 * m]
        a = tables.label[core_symbol(tables.parent, y, m)]
        if a >= 0:
            right, total = right + table[cell, a], total + 1
        if c >= 0:
            for u in range(tables.chain_start[c], tables.chain_start[c + 1]):
                if tables.chain_labels[u] >= 0:
                    right += table[cell, tables.chain_labels[u]]
                    total += 1
    return right, total
