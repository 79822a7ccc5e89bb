"""A grammar as the arrays that the parser's kernels read.

Rules are renumbered so that those with the same left child lie together, chains so that
those with the same bottom do; ``rule_weight`` and ``chain_rules`` lead back to the
numbers of :class:`maxmargin.trees.grammar.Grammar`, in which weights are kept.

A *chain* A -> ... -> B is a finite list of unary rules on top of a symbol. An item is
built by a binary rule (or is a tag) and then topped by at most one chain, so that no
weights, positive ones neither, can make a derivation loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class GrammarTables(NamedTuple):
    """Symbols are numbers; the first ``n_tags`` are tags (preterminals)."""

    n_symbols: int
    n_tags: int
    n_labels: int
    n_unary: int
    label: np.ndarray  # int32[symbols]: number of the bracket's label, -1 for none
    by_left: np.ndarray  # int64[symbols + 1]: rules with this left child
    left: np.ndarray  # int32[rules]
    right: np.ndarray
    parent: np.ndarray
    rule_weight: np.ndarray  # int32[rules]: number of the rule in the grammar
    by_parent: np.ndarray  # int64[symbols + 1]: places in of_parent
    of_parent: np.ndarray  # int32[rules]: rules sorted by parent
    by_bottom: np.ndarray  # int64[symbols + 1]: chains with this bottom
    top: np.ndarray  # int32[chains]
    bottom: np.ndarray
    chain_start: np.ndarray  # int64[chains + 1]: places in chain_rules
    chain_rules: np.ndarray  # int32: unary rules from top to bottom
    chain_labels: np.ndarray  # int32: label of each rule's parent, -1 for none
    chain_seen: np.ndarray  # int32: how often the span has this label further down
    roots: np.ndarray  # int32: symbols that a tree may have at its top


def make_tables(
    n_symbols: int, n_tags: int, binary, unary, chains, roots, label
) -> GrammarTables:
    """Tables of a grammar given as plain arrays.

    ``binary`` has rows (parent, left, right), ``unary`` rows (parent, child), ``chains``
    tuples of unary rules from top to bottom. ``label`` is -1 for tags and for the
    intermediate symbols of a binarisation, which are no brackets.
    """
    binary = np.asarray(binary, np.int32).reshape(-1, 3)
    unary = np.asarray(unary, np.int32).reshape(-1, 2)
    label = np.asarray(label, np.int32)
    order = np.lexsort((binary[:, 0], binary[:, 2], binary[:, 1])).astype(np.int32)
    parent, left, right = np.ascontiguousarray(binary[order].T)
    of_parent = np.argsort(parent, kind="stable").astype(np.int32)
    chains = sorted(map(tuple, chains), key=lambda c: (unary[c[-1], 1], unary[c[0], 0]))
    flat = np.array([rule for chain in chains for rule in chain], np.int32)
    above = label[unary[flat, 0]].astype(np.int32)
    chain_start = np.cumsum([0, *map(len, chains)], dtype=np.int64)
    top = np.array([unary[c[0], 0] for c in chains], np.int32)
    bottom = np.array([unary[c[-1], 1] for c in chains], np.int32)
    return GrammarTables(
        n_symbols=int(n_symbols),
        n_tags=int(n_tags),
        n_labels=int(label.max(initial=-1)) + 1,
        n_unary=len(unary),
        label=label,
        by_left=_groups(left, n_symbols),
        left=left,
        right=right,
        parent=parent,
        rule_weight=order,
        by_parent=_groups(parent, n_symbols),
        of_parent=of_parent,
        by_bottom=_groups(bottom, n_symbols),
        top=top,
        bottom=bottom,
        chain_start=chain_start,
        chain_rules=flat,
        chain_labels=above,
        chain_seen=_seen_below(above, chain_start, label[bottom]),
        roots=np.ascontiguousarray(roots, np.int32),
    )


def _groups(keys, n: int) -> np.ndarray:
    """Where the group of each number begins in the sorted keys."""
    return np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=n))]).astype(
        np.int64
    )


def _seen_below(labels, chain_start, bottom_labels) -> np.ndarray:
    """For every place of a chain, how often its label stands below it on the span."""
    seen = np.zeros(len(labels), np.int32)
    for c, bottom in enumerate(bottom_labels.tolist()):
        here = labels[chain_start[c] : chain_start[c + 1]].tolist()
        for u, label in enumerate(here):
            seen[chain_start[c] + u] = [*here[u + 1 :], bottom].count(label)
    return seen
