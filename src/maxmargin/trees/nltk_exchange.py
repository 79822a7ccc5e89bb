"""Trees and grammars from and to nltk, which is imported when they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from maxmargin.trees.grammar import Grammar
    from maxmargin.trees.tree import Tree

START = "<start>"  # above several roots, where a grammar must have one start symbol


def import_nltk() -> Any:
    """The library nltk, which is only needed to exchange trees and grammars with it."""
    try:
        import nltk
    except ImportError:
        raise ImportError(
            "Exchange with nltk needs it: install it with  pip install 'maxmargin[nltk]'"
        ) from None
    return nltk


# trees -------------------------------------------------------------------------------


def tree_to_nltk(tree: Tree) -> Any:
    """The same tree as ``nltk.Tree``."""
    nltk = import_nltk()
    return tree.fold(
        lambda node, below: nltk.Tree(node.label, below or list(node.children))
    )


def tree_from_nltk(cls: type[Tree], tree: Any) -> Tree:
    """The same tree from ``nltk.Tree``; every word must have a node of its own."""
    nltk = import_nltk()
    if not isinstance(tree, nltk.Tree):
        raise ValueError(f"from_nltk takes an nltk.Tree, not a {type(tree).__name__}.")
    nodes, stack = [], [tree]
    while stack:
        node = stack.pop()
        nodes.append(node)
        if isinstance(node, nltk.Tree):
            stack += list(node)[::-1]
    results: list = []
    for node in reversed(nodes):
        if isinstance(node, nltk.Tree):
            n = len(node)
            below = results[: -n - 1 : -1]
            del results[len(results) - n :]
            results.append(cls(str(node.label()), below))
        else:
            results.append(node)
    return results[0]


# grammars ----------------------------------------------------------------------------


def grammar_to_nltk(grammar: Grammar, smoothing: float = 0.0) -> Any:
    """``nltk.PCFG`` with the tags as terminals."""
    nltk = import_nltk()
    logs = grammar.log_probabilities(smoothing)

    def symbol(k: int):
        name = grammar.symbols[k]
        return name if k < grammar.n_tags else nltk.Nonterminal(name)

    roots = grammar.roots.tolist()
    single = len(roots) == 1 and roots[0] >= grammar.n_tags
    start = symbol(roots[0]) if single else nltk.Nonterminal(START)
    productions = []
    for rules, values in (
        (grammar.binary, logs.binary),
        (grammar.unary, logs.unary),
    ):
        for (parent, *children), value in zip(
            rules.tolist(), values.tolist(), strict=True
        ):
            if value > -np.inf:
                right = [symbol(child) for child in children]
                productions.append(
                    nltk.ProbabilisticProduction(
                        symbol(parent), right, prob=np.exp(value)
                    )
                )
    if not single:
        for root, value in zip(roots, logs.roots.tolist(), strict=True):
            productions.append(
                nltk.ProbabilisticProduction(start, [symbol(root)], prob=np.exp(value))
            )
    return nltk.PCFG(start, productions)


def grammar_from_nltk(cls: type[Grammar], grammar: Any) -> Grammar:
    """From ``nltk.PCFG`` or ``nltk.CFG``: terminals become tags.

    Right-hand sides have one or two symbols. Probabilities become counts; the rules
    of a CFG count 1 each. Chains are the best ones (the shortest ones).
    """
    nltk = import_nltk()
    if not isinstance(grammar, nltk.CFG):
        raise ValueError(
            f"from_nltk takes an nltk.PCFG or nltk.CFG, not a {type(grammar).__name__}."
        )
    weighted = isinstance(grammar, nltk.PCFG)
    tags: dict[Any, int] = {}
    phrases: dict[Any, int] = {}

    def key(item):
        kind = phrases if isinstance(item, nltk.Nonterminal) else tags
        kind.setdefault(item, len(kind))
        return kind is phrases, item

    rules: dict[int, dict] = {1: {}, 2: {}}
    roots: dict = {}
    start = grammar.start()
    for production in grammar.productions():
        right = production.rhs()
        value = production.prob() if weighted else 1.0
        if len(right) not in rules:
            raise ValueError(
                f"the rule {production} has {len(right)} symbols on its right-hand side, "
                "but one or two are possible: bring the grammar into Chomsky normal form "
                "(nltk.CFG.chomsky_normal_form)."
            )
        if production.lhs() == start and str(start) == START and len(right) == 1:
            roots[key(right[0])] = value
            continue
        rule = tuple(map(key, (production.lhs(), *right)))
        rules[len(right)][rule] = rules[len(right)].get(rule, 0.0) + value
    if not roots:
        roots[key(start)] = 1.0
    names = [*tags, *phrases]
    shift = {False: 0, True: len(tags)}

    def numbers(keys, width):
        rows = [
            [shift[kind] + (phrases if kind else tags)[item] for kind, item in rule]
            for rule in keys
        ]
        return np.array(rows, np.int32).reshape(len(rows), width)

    unary = rules[1]
    parts: dict[str, Any] = {
        "symbols": [str(name) for name in names],
        "n_tags": len(tags),
        "binary": numbers(rules[2], 3),
        "unary": numbers(unary, 2),
        "roots": numbers([(root,) for root in roots], 1).ravel(),
        "counts_binary": np.array(list(rules[2].values()), np.float64),
        "counts_unary": np.array(list(unary.values()), np.float64),
        "counts_roots": np.array(list(roots.values()), np.float64),
        "tag_counts": np.zeros(len(tags)),
    }
    grammar = cls(**parts, chains=[])
    values = (
        grammar.log_probabilities().unary if weighted else np.full(len(unary), -1.0)
    )
    return cls(**parts, chains=grammar.best_chains(values)[0])
