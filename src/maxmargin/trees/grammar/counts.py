"""Counting the rules of binarised trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.trees.tree import Tree

if TYPE_CHECKING:
    from maxmargin.trees.grammar import Grammar

LONGEST_CHAIN = 30  # of unary nodes; all parts of a chain are kept, so it must end

Key = tuple[bool, str]  # a symbol while counting: (whether it is a phrase, its name)


def count(cls: type[Grammar], trees: Iterable[Tree]) -> Grammar:
    """The rules of binarised trees, with counts.

    Everything is ordered by falling count, then by name, so that the grammar does
    not depend on the order of the trees.
    """
    symbols: Counter[Key] = Counter()
    binary: Counter[tuple[Key, Key, Key]] = Counter()
    unary: Counter[tuple[Key, Key]] = Counter()
    roots: Counter[Key] = Counter()
    chains: Counter[tuple[Key, ...]] = Counter()  # symbols from top to bottom
    words: Counter[tuple[str, str]] = Counter()
    for i, tree in enumerate(trees):
        if not isinstance(tree, Tree):
            raise ValueError(
                f"trees[{i}] is of type {type(tree).__name__}: give a list of trees, "
                "such as [binarize(Tree.parse(text))]."
            )
        roots[_key(tree)] += 1
        for node, chain in _with_chains(tree, i):
            key = _key(node)
            symbols[key] += 1
            if node.is_preterminal:
                words[node.children[0], node.label] += 1
            elif len(node.children) == 2:
                binary[key, _key(node.children[0]), _key(node.children[1])] += 1
            elif len(node.children) == 1:
                unary[key, _key(node.children[0])] += 1
            else:
                raise ValueError(
                    f"trees[{i}] has a node {node.label} with {len(node.children)} "
                    "children: binarise trees first."
                )
            if len(chain) > 1:
                chains[chain] += 1
    if not roots:
        raise ValueError("there are no trees: a grammar needs one at least.")
    return _grammar(cls, symbols, binary, unary, roots, chains, words)


def _key(node: Tree) -> Key:
    return (not node.is_preterminal, node.label)


def _with_chains(tree: Tree, i: int):
    """All nodes, with the chain of unary nodes above those where a chain ends."""
    stack: list[tuple[Tree, tuple[Key, ...]]] = [(tree, ())]
    while stack:
        node, above = stack.pop()
        chain = (*above, _key(node))
        if node.is_preterminal or len(node.children) > 1:
            yield node, chain
            if not node.is_preterminal:
                stack += [(child, ()) for child in node.children[::-1]]
        else:
            if len(chain) > LONGEST_CHAIN:
                raise ValueError(
                    f"trees[{i}] has more than {LONGEST_CHAIN} nodes with one child, one "
                    f"below the other, at {node.label}: remove some, or join them with "
                    "collapse_unaries."
                )
            yield node, ()
            stack.append((node.children[0], chain))


def _grammar(cls, symbols, binary, unary, roots, chains, words) -> Grammar:
    """Names to numbers; frequent things first, equally frequent ones by name."""
    tags = _ordered({key: n for key, n in symbols.items() if not key[0]})
    phrases = _ordered({key: n for key, n in symbols.items() if key[0]})
    number = {key: k for k, key in enumerate([*tags, *phrases])}
    unary_rules = _ordered(unary)
    rule = {pair: k for k, pair in enumerate(unary_rules)}
    binary_rules, root_keys = _ordered(binary), _ordered(roots)
    lexicon: dict[str, dict[str, float]] = {}
    for word, tag in _ordered(words):
        lexicon.setdefault(word, {})[tag] = float(words[word, tag])
    return cls(
        symbols=[name for _, name in number],
        n_tags=len(tags),
        binary=_numbers(binary_rules, number, 3),
        unary=_numbers(unary_rules, number, 2),
        roots=_numbers([(key,) for key in root_keys], number, 1).ravel(),
        counts_binary=_values(binary, binary_rules),
        counts_unary=_values(unary, unary_rules),
        counts_roots=_values(roots, root_keys),
        tag_counts=_values(symbols, tags),
        chains=_parts(chains, rule),
        lexicon=lexicon,
    )


def _ordered(counts: dict) -> list:
    return sorted(counts, key=lambda key: (-counts[key], key))


def _numbers(rules: list, number: dict[Key, int], width: int) -> np.ndarray:
    rows = [[number[key] for key in rule] for rule in rules]
    return np.array(rows, np.int32).reshape(len(rows), width)


def _values(counts: dict, keys: list) -> np.ndarray:
    return np.array([counts[key] for key in keys], np.float64)


def _parts(chains: Counter, rule: dict) -> list[tuple[int, ...]]:
    """Chains as rule numbers, with all their contiguous parts: short and frequent first."""
    seen: Counter[tuple[int, ...]] = Counter()
    for chain, n in chains.items():
        rules = [rule[pair] for pair in pairwise(chain)]
        for start in range(len(rules)):
            for end in range(start + 1, len(rules) + 1):
                seen[tuple(rules[start:end])] += n
    return sorted(seen, key=lambda part: (len(part), -seen[part], part))
