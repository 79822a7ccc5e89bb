"""Trees as labellings of the parser, and back."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from maxmargin.core.saved import Saved
from maxmargin.trees.binarize import base_label, binarize, unbinarize
from maxmargin.trees.cky.tables import make_tables
from maxmargin.trees.grammar import Grammar
from maxmargin.trees.tree import Tree, parsed


class Derivations:
    """A grammar as tables for kernels, with ways from trees to numbers and back."""

    def __init__(self, grammar: Grammar, chains=None):
        self.grammar = grammar
        numbers: dict[str, int] = {}
        label = [
            -1
            if k < grammar.n_tags or grammar.intermediate[k]
            else numbers.setdefault(base_label(symbol), len(numbers))
            for k, symbol in enumerate(grammar.symbols)
        ]
        self.labels = list(numbers)  # names of brackets, by number
        self.tables = make_tables(
            len(grammar.symbols),
            grammar.n_tags,
            grammar.binary,
            grammar.unary,
            grammar.chains if chains is None else chains,
            grammar.roots,
            label,
        )
        t = self.tables
        rules = zip(t.parent.tolist(), t.left.tolist(), t.right.tolist(), strict=True)
        self._rule = {rule: r for r, rule in enumerate(rules)}
        self._unary = {tuple(rule): u for u, rule in enumerate(grammar.unary.tolist())}
        places = t.chain_start.tolist()
        flat = t.chain_rules.tolist()
        self._chains = [tuple(flat[a:b]) for a, b in pairwise(places)]
        self._chain = {chain: c for c, chain in enumerate(self._chains)}

    def labelling(self, tree: Tree) -> np.ndarray:
        """The labelling of a binarised tree all of whose rules are in the grammar."""
        phrases, tags = self.grammar.phrase_number, self.grammar.tag_number
        nodes = []  # chain and rule in preorder
        stack = [tree]
        while stack:
            node, chain = stack.pop(), []
            while not node.is_preterminal and len(node.children) == 1:
                (child,) = node.children
                below = (tags if child.is_preterminal else phrases)[child.label]
                chain.append(self._unary[phrases[node.label], below])
                node = child
            number = self._chain[tuple(chain)] if chain else -1
            if node.is_preterminal:
                nodes.append((number, -1 - tags[node.label]))
                continue
            left, right = (
                (tags if child.is_preterminal else phrases)[child.label]
                for child in node.children
            )
            nodes.append((number, self._rule[phrases[node.label], left, right]))
            stack += node.children[::-1]
        # sizes of left parts from the last node to the first, then splits
        sizes, lefts = [], [0] * len(nodes)
        for m in range(len(nodes) - 1, -1, -1):
            if nodes[m][1] < 0:
                sizes.append(1)
            else:
                lefts[m] = sizes.pop()
                sizes.append(lefts[m] + sizes.pop())
        out = np.zeros((len(nodes), 3), np.int32)
        begins = [0] * len(nodes)
        for m, (chain, rule) in enumerate(nodes):
            out[m] = chain, rule, begins[m] + lefts[m] if rule >= 0 else 0
            if rule >= 0:
                begins[m + 1] = begins[m]
                begins[m + 2 * lefts[m]] = begins[m] + lefts[m]
        return out.ravel()

    def tree(self, labelling: np.ndarray, words: list[str]) -> Tree:
        """The tree of a labelling, as it was before it was binarised."""
        symbols, unary = self.grammar.symbols, self.grammar.unary
        parents = self.tables.parent
        built: list[Tree] = []
        position = len(words)
        for chain, rule, _ in labelling.reshape(-1, 3)[::-1].tolist():
            if rule < 0:
                position -= 1
                node = parsed(symbols[-1 - rule], [words[position]])
            else:
                left, right = built.pop(), built.pop()
                node = parsed(symbols[parents[rule]], [left, right])
            for u in reversed(self._chains[chain] if chain >= 0 else ()):
                node = parsed(symbols[unary[u, 0]], [node])
            built.append(node)
        return unbinarize(built[0])


def derive(trees, keep, options) -> tuple[Derivations, dict[int, np.ndarray]]:
    """Binarise the trees to keep, read a grammar off them; their labellings by number."""
    names = ("direction", "horizontal", "parent")
    settings = {name: getattr(options, name) for name in names}
    binarised = {
        i: binarize(tree, **settings)
        for i, tree in enumerate(trees)
        if keep[i] and isinstance(tree, Tree)
    }
    if not binarised:
        raise ValueError(
            "y holds no whole tree to learn from, off which the grammar is read: at least "
            "one sentence must have one."
        )
    derivations = Derivations(Grammar.from_trees(binarised.values()))
    return derivations, {
        i: derivations.labelling(tree) for i, tree in binarised.items()
    }


def saved_grammar(grammar: Grammar) -> tuple[dict, dict]:
    arrays, state = grammar.to_state()
    arrays = {f"grammar.{name}": array for name, array in arrays.items()}
    return arrays, {"grammar": state}


def restored_grammar(saved: Saved) -> Grammar:
    part = saved.part("grammar")
    return Grammar.from_state(part.arrays, part.state)
