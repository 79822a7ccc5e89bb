"""PCFGParser: the generative baseline, rules with their relative frequencies."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.jobs import effective_jobs
from maxmargin.fitting.saving import Saving, whole
from maxmargin.trees.binarize import binarize
from maxmargin.trees.cky.parses import make_batch
from maxmargin.trees.derivations import Derivations, restored_grammar, saved_grammar
from maxmargin.trees.grammar import Grammar
from maxmargin.trees.input import (
    Sentences,
    check_same_words,
    known_words,
    learnable,
    read_sentences,
    read_trees_of,
    tag_choices,
)
from maxmargin.trees.model import ParserMixin
from maxmargin.trees.parameters import PCFGParserParameters
from maxmargin.trees.parsing import Parsing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass
class CountedTrees(Parsing):
    """Trees of a grammar with probabilities, which are their weights."""

    words: Any = field(
        default=None, init=False, repr=False
    )  # P(word | tag), if asked for

    def asked(self, sentences: Sentences, w: np.ndarray) -> tuple[Any, np.ndarray]:
        """(batch, w); every word of X is a feature whose weights are log P(word | tag)."""
        tables, grammar = self.derivations.tables, self.derivations.grammar
        sentences = known_words(grammar, sentences)
        if self.words is None:
            return make_batch(tables, tag_choices(grammar, sentences, "tags")), w
        number: dict[str, int] = {}
        flat = [
            number.setdefault(word, len(number))
            for words in sentences.words
            for word in words
        ]
        scores = np.array([self.words.scores(word) for word in number])
        scores = scores.reshape(len(number), tables.n_tags)
        possible = [np.flatnonzero(row > -np.inf).tolist() for row in scores]
        tags = [[possible[number[word]] for word in words] for words in sentences.words]
        features = np.arange(len(flat) + 1), np.array(flat, np.int32), len(number)
        w = np.concatenate([w, np.where(scores > -np.inf, scores, 0.0).ravel()])
        return make_batch(tables, tags, words=features), w


class PCFGParser(PCFGParserParameters, ParserMixin, Saving, BaseEstimator, init=False):
    """Parse sentences with a probabilistic grammar, from counts alone.

    A rule A -> B C has probability count(A -> B C) / count(A). The prediction is the most
    probable tree; its score is the logarithm of its probability. Chains of unary rules
    are exact: from every symbol to every other the most probable one is used.

    Parameters
    ----------
    smoothing : float, default 0.0
        Added to the count of every rule.
    input : "tags", "words" or "both", default "tags"
        As in :class:`maxmargin.GrammarParser`. "words" models P(word | tag), with the
        ends and shapes of rare words for words that are new; "both" is "tags" with
        words for the leaves.
    direction, horizontal, parent, max_length, fallback, n_jobs
        As in :class:`maxmargin.GrammarParser`.

    Attributes
    ----------
    grammar_ : Grammar
    labels_ : list of str, the labels of brackets
    n_left_out_ : int

    Notes
    -----
    Marginals sum over trees with the best chain between two symbols, not over all chains.

    Examples
    --------
    >>> from maxmargin import PCFGParser
    >>> from maxmargin.trees import Tree
    >>> trees = [Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))")]
    >>> PCFGParser().fit(None, trees).predict([["DT", "NN", "VBD"]])
    [(S (NP (DT DT) (NN NN)) (VP (VBD VBD)))]
    """

    _model_name = "PCFGParser.v1"
    _fields = (whole("n_left_out_"),)

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Count the rules of the trees y; X may be None.

        Sample weights are not possible here. A call that raises leaves the parser as it
        was.
        """
        self._settings()
        if sample_weight is not None:
            raise ValueError(
                "PCFGParser counts every tree once: leave sample_weight out."
            )
        trees = read_trees_of(y)
        sentences = read_sentences(trees if X is None else X, self.input)
        check_same_words(sentences, trees, self.input)
        keep = learnable(trees, sentences.words, self.max_length)
        names = ("direction", "horizontal", "parent")
        settings = {name: getattr(self, name) for name in names}
        grammar = Grammar.from_trees(
            [binarize(tree, **settings) for tree in compress(trees, keep)]
        )
        self._set_grammar(grammar)
        self.n_left_out_ = keep.count(False)
        return self

    def _settings(self) -> None:
        self._check_parameters()
        self._threads()

    def _set_grammar(self, grammar: Grammar) -> None:
        logs = grammar.log_probabilities(self.smoothing)
        if not np.isfinite(logs.binary).all():
            names = grammar.rule_names()
            rule = names[int(np.argmin(logs.binary))]
            raise ValueError(
                f"the rule {rule} has probability zero: leave it out of the grammar, or "
                "choose smoothing > 0."
            )
        chains, _ = grammar.best_chains(logs.unary)
        structure = CountedTrees(self.input, self.fallback)
        structure.derivations = Derivations(grammar, chains)
        structure.words = grammar.word_model() if self.input == "words" else None
        self.structure_ = structure
        self._logs = np.concatenate([logs.binary, logs.unary, logs.roots])
        self.labels_ = structure.derivations.labels
        self.grammar_ = grammar

    @classmethod
    def from_grammar(cls, grammar: Grammar, **params: Any) -> PCFGParser:
        """A parser for a grammar with counts, such as ``Grammar.from_nltk(pcfg)``."""
        parser = cls(**params)
        parser._set_grammar(grammar)
        parser.n_left_out_ = 0
        return parser

    def to_nltk(self) -> Any:
        """``nltk.PCFG`` with the tags as terminals."""
        return self.grammar_.to_nltk(self.smoothing)

    def _threads(self) -> int:
        return effective_jobs(self.n_jobs)

    def _fitted(self) -> CountedTrees:
        check_is_fitted(self, "grammar_")
        self._check_parameters("fallback")
        structure = copy(self.structure_)
        structure.input, structure.fallback = self.input, self.fallback
        return structure

    def _weights(self) -> np.ndarray:
        return self._logs

    # saving (files/model_file.py) ------------------------------------------------------

    def _more_state(self):
        return saved_grammar(self.grammar_)

    def _loaded(self, saved, sizes) -> None:
        self._set_grammar(restored_grammar(saved))
