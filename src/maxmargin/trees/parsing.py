"""What structures of trees share, whether their weights are learnt or counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core.decode import decode
from maxmargin.core.structure import Outputs, Structure
from maxmargin.trees.binarize import base_label
from maxmargin.trees.cky.k_best import k_best
from maxmargin.trees.cky.sums import bracket_probabilities
from maxmargin.trees.cky.trees import NO_PARSE
from maxmargin.trees.derivations import Derivations
from maxmargin.trees.input import Sentences, read_sentences
from maxmargin.trees.span_features import cells
from maxmargin.trees.tree import Tree, parsed

Found = tuple[list[Tree | None], int]  # trees, and how many sentences have none


@dataclass
class Parsing(Structure):
    """Sentences in, trees of a grammar out; subclasses make batches of sentences."""

    input: str = "tags"
    fallback: str = "flat"
    derivations: Derivations = field(init=False, repr=False)

    def asked(self, sentences: Sentences, w: np.ndarray) -> tuple[Any, np.ndarray]:
        """(batch, its weights)."""
        raise NotImplementedError

    def encode(self, X: Any) -> Any:
        return self.asked(read_sentences(X, self.input), np.zeros(0))[0]

    def search(self, batch: Any, w: np.ndarray, n_jobs: int) -> np.ndarray:
        """The labellings that are predicted."""
        return decode(batch, w, n_jobs)

    # prediction ------------------------------------------------------------------------

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> Outputs:
        return Outputs(self.parse(read_sentences(X, self.input), w, n_jobs)[0])

    def parse(
        self,
        sentences: Sentences,
        w: np.ndarray,
        n_jobs: int = 1,
        leaves: list[list[str]] | None = None,
    ) -> Found:
        """The best trees; ``leaves`` are the words to put into them, if others."""
        batch, w = self.asked(sentences, w)
        flat = self.search(batch, w, n_jobs)
        if leaves is not None:
            sentences = sentences._replace(words=leaves)
        return self.trees(sentences, batch, flat)

    def trees(self, sentences: Sentences, batch: Any, flat: np.ndarray) -> Found:
        """The trees of labellings, with fallbacks where there is none."""
        trees: list[Tree | None] = []
        failed = 0
        for i, words in enumerate(sentences.words):
            labelling = flat[batch.start[i] : batch.start[i + 1]]
            if len(labelling) and labelling[0] != NO_PARSE:
                trees.append(self.derivations.tree(labelling, words))
            else:
                failed += 1
                trees.append(self._fall_back(sentences, i))
        return trees, failed

    def predict_k_best(
        self, X: Any, w: np.ndarray, k: int, n_jobs: int = 1
    ) -> list[list[tuple[Tree, float]]]:
        """The k trees of largest score of every sentence with their scores."""
        sentences = read_sentences(X, self.input)
        batch, w = self.asked(sentences, w)
        return [
            [
                (self.derivations.tree(labelling, words), score)
                for labelling, score in k_best(batch, i, w, k)
            ]
            for i, words in enumerate(sentences.words)
        ]

    def predict_marginals(
        self, X: Any, w: np.ndarray, n_jobs: int = 1, threshold: float = 1e-3
    ) -> list[dict]:
        """Per sentence {(label, begin, end): probability}, from the threshold on."""
        labels = self.derivations.labels
        result = []
        for table, words in self.bracket_tables(read_sentences(X, self.input), w):
            begin, end = cells(len(words))
            result.append(
                {
                    (labels[a], int(begin[cell]), int(end[cell])): min(
                        float(table[cell, a]), 1.0
                    )
                    for cell, a in np.argwhere(table >= threshold).tolist()
                }
            )
        return result

    def bracket_tables(self, sentences: Sentences, w: np.ndarray) -> Iterator[tuple]:
        """(probabilities of labels in the cells, words) of every sentence."""
        batch, w = self.asked(sentences, w)
        w = w.astype(np.float64, copy=False)
        for i, words in enumerate(sentences.words):
            yield bracket_probabilities(batch, i, w)[1], words

    # sentences without a tree ----------------------------------------------------------

    def _fall_back(self, sentences: Sentences, i: int) -> Tree | None:
        words = sentences.words[i]
        if self.fallback == "error":
            what = f"sentence {i} ({' '.join(words[:8])})" if words else f"sentence {i}"
            why = "the grammar has no tree for it" if words else "it is empty"
            raise ValueError(
                f"{what} cannot be parsed: {why}. Choose fallback='flat', 'right' or "
                "'none' to go on without."
            )
        if self.fallback == "none" or not words:
            return None
        tags = sentences.tags[i] or [self._likely_tag(word) for word in words]
        leaves = [parsed(tag, [word]) for tag, word in zip(tags, words, strict=True)]
        root = self._likely_root()
        if self.fallback == "flat" or len(leaves) == 1:
            return parsed(root, leaves)
        tree = leaves[-1]
        for leaf in leaves[-2::-1]:
            tree = parsed(root, [leaf, tree])
        return tree

    def _likely_root(self) -> str:
        grammar = self.derivations.grammar
        for k in np.argsort(-grammar.counts_roots, kind="stable"):
            if grammar.roots[k] >= grammar.n_tags:
                return base_label(grammar.symbols[grammar.roots[k]])
        return "S"

    def _likely_tag(self, word: str) -> str:
        grammar = self.derivations.grammar
        counts = Counter(grammar.lexicon.get(word, {}))
        if counts:
            return counts.most_common(1)[0][0]
        return grammar.symbols[int(np.argmax(grammar.tag_counts))]
