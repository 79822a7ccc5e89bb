"""Grammars with binary and unary rules, read off binarised trees, as plain arrays.

*Tags* (preterminals) are the terminals here; what words they can have is the *lexicon*.
A tag and a phrase of the same name are different symbols.

A *chain* is a sequence of unary rules A -> B, B -> C, ... of which each starts where the
one before ends, from top to bottom. A parser that puts at most one chain on top of a
binary rule or a tag has finitely many trees, whatever the weights of the rules.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maxmargin.trees.binarize import is_intermediate
from maxmargin.trees.grammar.chains import best_chains
from maxmargin.trees.grammar.counts import count
from maxmargin.trees.grammar.state import from_state, to_state
from maxmargin.trees.grammar.words import WordModel
from maxmargin.trees.nltk_exchange import grammar_from_nltk, grammar_to_nltk


class LogProbabilities(NamedTuple):
    """log P(rule | parent symbol) for binary and unary rules, log P(root)."""

    binary: np.ndarray
    unary: np.ndarray
    roots: np.ndarray


@dataclass(frozen=True, eq=False)
class Grammar:
    """Symbols, rules and their counts; made by `from_trees` or `from_nltk`.

    Attributes
    ----------
    symbols : list of str
        The first ``n_tags`` are tags, the others phrases; frequent ones first.
    binary : int32 (n, 3), unary : int32 (n, 2)
        Rows (parent, left, right) and (parent, child) of symbol numbers.
    roots : int32
        Symbols that a tree can have as its root.
    counts_binary, counts_unary, counts_roots, tag_counts : float64
    chains : list of tuples of int
        Numbers of unary rules from top to bottom: all chains that were seen, and all
        parts of them.
    lexicon : dict of word -> dict of tag name -> count
    """

    symbols: list[str]
    n_tags: int
    binary: np.ndarray
    unary: np.ndarray
    roots: np.ndarray
    counts_binary: np.ndarray
    counts_unary: np.ndarray
    counts_roots: np.ndarray
    tag_counts: np.ndarray
    chains: list[tuple[int, ...]]
    lexicon: dict[str, dict[str, float]] = field(default_factory=dict)

    @cached_property
    def intermediate(self) -> np.ndarray:
        """bool per symbol: whether binarisation made it, so that it is no node."""
        return np.array(
            [
                k >= self.n_tags and is_intermediate(symbol)
                for k, symbol in enumerate(self.symbols)
            ],
            bool,
        )

    @cached_property
    def tag_number(self) -> dict[str, int]:
        """Number of every tag by name."""
        return {name: k for k, name in enumerate(self.symbols[: self.n_tags])}

    @cached_property
    def phrase_number(self) -> dict[str, int]:
        """Number of every phrase symbol by name."""
        phrases = self.symbols[self.n_tags :]
        return {name: k for k, name in enumerate(phrases, self.n_tags)}

    def chain_ends(self, chain: Sequence[int]) -> tuple[int, int]:
        """The symbols at the top and at the bottom of a chain."""
        return int(self.unary[chain[0], 0]), int(self.unary[chain[-1], 1])

    from_trees = classmethod(count)

    # probabilities --------------------------------------------------------------------

    def log_probabilities(self, smoothing: float = 0.0) -> LogProbabilities:
        """Relative frequencies: log (count + s) / (sum of count + s over the parent).

        The binary and unary rules of a parent sum to one together; so do the roots.
        ``smoothing`` s is added to every count. A symbol all of whose rules have count
        zero gets -inf.
        """
        if not isinstance(smoothing, numbers.Real) or not 0 <= smoothing < np.inf:
            raise ValueError(
                f"smoothing={smoothing!r} is not possible: it is added to counts, so it "
                "must be a number, 0 or more."
            )
        binary, unary = self.counts_binary + smoothing, self.counts_unary + smoothing
        roots = self.counts_roots + smoothing
        total = np.zeros(len(self.symbols))
        np.add.at(total, self.binary[:, 0], binary)
        np.add.at(total, self.unary[:, 0], unary)
        with np.errstate(divide="ignore"):
            log_total = np.log(np.where(total > 0, total, 1.0))
            return LogProbabilities(
                np.log(binary) - log_total[self.binary[:, 0]],
                np.log(unary) - log_total[self.unary[:, 0]],
                np.log(roots) - np.log(roots.sum() or 1.0),
            )

    def word_model(self, rare: int = 2) -> Any:
        """P(word | tag) with a model of unknown words; see `WordModel`."""
        return WordModel(self.lexicon, self.symbols[: self.n_tags], rare)

    best_chains = best_chains

    # exchange -------------------------------------------------------------------------

    to_nltk, from_nltk = grammar_to_nltk, classmethod(grammar_from_nltk)
    to_state, from_state = to_state, classmethod(from_state)

    # for people -----------------------------------------------------------------------

    def rule_names(self) -> list[str]:
        """Texts "A -> B C" of the binary rules, then "A -> B" of the unary rules."""
        names = self.symbols
        return [
            f"{names[parent]} -> {' '.join(names[child] for child in children)}"
            for rules in (self.binary, self.unary)
            for parent, *children in rules.tolist()
        ]

    def rules_table(self, top: int | None = 20) -> str:
        """The most frequent rules: count, log-probability, rule."""
        counts = np.concatenate([self.counts_binary, self.counts_unary])
        logs = np.concatenate(self.log_probabilities()[:2])
        names = self.rule_names()
        order = np.argsort(-counts, kind="stable")[:top]
        lines = [f"{'count':>9}  {'log P':>8}  rule"]
        lines += [f"{counts[k]:>9.6g}  {logs[k]:>8.3f}  {names[k]}" for k in order]
        return "\n".join(lines)

    def __repr__(self):
        n, hidden = len(self.symbols), int(self.intermediate.sum())
        return (
            f"<Grammar: {self.n_tags} tags, {n - self.n_tags - hidden} phrases, {hidden} "
            f"intermediate symbols, {len(self.binary)} binary and {len(self.unary)} unary "
            f"rules, {len(self.chains)} chains, {len(self.lexicon)} words>"
        )
