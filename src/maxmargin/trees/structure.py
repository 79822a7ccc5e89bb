"""Trees as a structure: sentences in, trees out, by a grammar whose weights are learnt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core.encoded import Encoded, Training, check_weights
from maxmargin.core.saved import distinct
from maxmargin.fitting.tables import weigh
from maxmargin.trees.cky.parses import (
    for_training,
    make_batch,
    n_weights,
    partly_parsed,
)
from maxmargin.trees.cky.posterior import decode_posteriors
from maxmargin.trees.derivations import (
    Derivations,
    derive,
    restored_grammar,
    saved_grammar,
)
from maxmargin.trees.input import (
    Sentences,
    known_words,
    learnable,
    read_sentences,
    tag_choices,
)
from maxmargin.trees.parsing import Found, Parsing
from maxmargin.trees.partial import (
    best_completions,
    bracket_rows,
    check_truths,
    first_trees,
    known_brackets,
    read_truths,
    warn_left_out,
    words_of,
)
from maxmargin.trees.span_features import SpanFeatures, WordFeatures
from maxmargin.trees.tree import Tree

FEATURES = ("lexical", "spans")
USUAL_C = {"hinge": 0.1, "log": 1.0, "perceptron": 0.1, "passive-aggressive": 0.1}


def kinds_of_features(features: Any, input: str) -> set[str]:
    """What the parameter ``features`` means, for this kind of sentences."""
    names = {features} if isinstance(features, str) else set(features or ())
    if features == "auto":
        names = {"spans"}
    if not names <= set(FEATURES):
        raise ValueError(
            f"features={features!r} is not known; choose auto, None, one of "
            f"{', '.join(FEATURES)}, or a list of them."
        )
    if input == "words":
        return names | {"lexical"}
    if "lexical" in names:
        raise ValueError(
            f"features={features!r} scores the tags of words, but with "
            f"input={input!r} tags are given: choose input='words'."
        )
    return names


@dataclass
class Trees(Parsing):
    """Trees by a weighted grammar; the parameters are those of `GrammarParser`."""

    loss: str = "f1"
    features: Any = "auto"
    direction: str = "right"
    horizontal: int | None = 1
    parent: int = 0
    max_length: int | None = None
    unlabelled_weight: float = 0.1
    decoding: str = "auto"
    objective: str = "hinge"
    encoders: dict[str, Any] = field(init=False, repr=False)

    # batches ---------------------------------------------------------------------------

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        self.objective = training.objective
        truths = read_truths(Y)
        sentences = self._sentences(X, truths)
        weights = check_weights(training.sample_weight, len(truths))
        weights = weigh(self, weights, [bool(truth) for truth in truths])
        keep = learnable(truths, sentences.words, self.max_length)
        C = training.C or USUAL_C.get(self.objective, 1.0)
        dtype = training.dtype(np.ones(1, np.float32), C, weights[keep])
        derivations, labellings = derive(truths, keep, self)
        self.derivations = derivations
        sentences = known_words(derivations.grammar, sentences)
        unsure = [i for i, kept in enumerate(keep) if kept and i not in labellings]
        if unsure:
            some, known = sentences.chosen(unsure), [truths[i] for i in unsure]
            found = first_trees(derivations, some, known, self.input, dtype)
            warn_left_out([i for k, i in enumerate(unsure) if k not in found], truths)
            labellings |= {unsure[k]: labelling for k, labelling in found.items()}
        chosen = sorted(labellings)
        truths, sentences = [truths[i] for i in chosen], sentences.chosen(chosen)
        self.encoders = self._learn_features(sentences, truths)
        batch = for_training(self._batch(sentences, [labellings[i] for i in chosen]))
        whole = [isinstance(truth, Tree) for truth in truths]
        if not all(whole):
            rows = [bracket_rows(truth, derivations.labels) for truth in truths]
            batch = partly_parsed(batch, whole, rows)
        self.n_weights = n_weights(derivations.tables, *self._sizes())
        left_out = {"n_left_out_": len(keep) - len(chosen)}
        C = self._usual_C(len(chosen))
        return Encoded(batch, self.n_weights, dtype, weights[chosen], left_out, C=C)

    def asked(self, sentences: Sentences, w: np.ndarray) -> tuple[Any, np.ndarray]:
        return self._batch(known_words(self.derivations.grammar, sentences)), w

    def _batch(self, sentences: Sentences, y=None):
        words = spans = None
        if "words" in self.encoders:
            words = self.encoders["words"].encode(sentences.words)
        if "spans" in self.encoders:
            both = len(self.encoders["spans"].channels) == 2
            kind = "both" if both else self.input
            spans = self.encoders["spans"].encode(sentences.channels(kind))
        tags = tag_choices(self.derivations.grammar, sentences, self.input)
        return make_batch(self.derivations.tables, tags, y, self.loss, words, spans)

    def _sentences(self, X, truths) -> Sentences:
        """The sentences of X, or of the trees, which must fit them."""
        sentences = read_sentences(words_of(X, truths), self.input)
        check_truths(sentences, truths, self.input)
        return sentences

    def _learn_features(self, sentences: Sentences, truths) -> dict[str, Any]:
        encoders: dict[str, Any] = {}
        kinds = kinds_of_features(self.features, self.input)
        if "lexical" in kinds:
            encoders["words"] = WordFeatures().fit(sentences.words)
        if "spans" in kinds:
            brackets = [
                [
                    end * (end - 1) // 2 + begin
                    for _, begin, end in known_brackets(truth)
                ]
                for truth in truths
            ]
            kind = self.input
            if self._words_may_be_seen() and sentences.words != sentences.tags:
                kind = "both"
            encoders["spans"] = SpanFeatures().fit(sentences.channels(kind), brackets)
        return encoders

    def _words_may_be_seen(self) -> bool:
        """Whether features of spans see words where they are given beside tags."""
        return self.input == "tags" and self.features == "auto"

    def _usual_C(self, n: int) -> float:
        """What C=None is for n sentences: less with more features, by cross-validation.

        With few sentences it is more, or no weight would pay.
        """
        kinds = kinds_of_features(self.features, self.input)
        if self.objective == "hinge" and "spans" in kinds:
            least = 0.03 if self.input == "words" else 0.01
            return float(f"{min(max(3.0 / n, least), 0.1):.2g}")
        return USUAL_C.get(self.objective, 1.0)

    # prediction ------------------------------------------------------------------------

    def search(self, batch: Any, w: np.ndarray, n_jobs: int) -> np.ndarray:
        probable = self.decoding == "auto" and self.objective == "log"
        if self.loss != "zero-one" and (probable or self.decoding == "posterior"):
            return decode_posteriors(batch, w, n_jobs)
        return super().search(batch, w, n_jobs)

    def completions(self, X: Any, Y: Any, w: np.ndarray, n_jobs: int = 1) -> Found:
        """The best trees that have what is known of them; whole trees stay."""
        truths = read_truths(Y)
        sentences = self._sentences(X, truths)
        batch, w = self.asked(sentences, w)
        flat = best_completions(batch, self.derivations, truths, w, n_jobs)
        trees, failed = self.trees(sentences, batch, flat)
        both = zip(truths, trees, strict=True)
        return [z if isinstance(z, Tree) else tree for z, tree in both], failed

    # weights ---------------------------------------------------------------------------

    def _sizes(self) -> tuple[int, int]:
        """How many features words and spans have."""
        words, spans = self.encoders.get("words"), self.encoders.get("spans")
        n_words = 0 if words is None else len(words.names)
        return n_words, 0 if spans is None else len(spans.keys)

    def split(self, w: np.ndarray) -> dict[str, Any]:
        """Public attributes are views of the one array that prediction uses."""
        tables, (n_word, n_span) = self.derivations.tables, self._sizes()
        rules = len(tables.left) + tables.n_unary
        words = rules + len(tables.roots)
        spans = words + n_word * tables.n_tags
        return {
            "_w": w,
            "coef_": w[:rules],
            "root_coef_": w[rules:words],
            "word_coef_": w[words:spans].reshape(n_word, tables.n_tags),
            "span_coef_": w[spans:].reshape(n_span, tables.n_labels),
        }

    def join(self, fitted: Any) -> np.ndarray:
        return fitted._w

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        return {
            "grammar_": self.derivations.grammar,
            "labels_": self.derivations.labels,
        }

    def saved(self) -> tuple[dict, dict]:
        arrays, state = saved_grammar(self.derivations.grammar)
        if "words" in self.encoders:
            state["words"] = list(self.encoders["words"].names)
        if "spans" in self.encoders:
            spans = self.encoders["spans"]
            state["spans"] = [list(names) for names in spans.channels]
            arrays["spans"] = spans.keys
        return arrays, state

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        self.derivations = Derivations(restored_grammar(saved))
        self.encoders = {}
        kinds = kinds_of_features(self.features, self.input)
        if "lexical" in kinds:
            self.encoders["words"] = WordFeatures(saved.texts("words"))
        if "spans" in kinds:
            keys = saved.integers("spans", None, high=2**63 - 1)
            channels = saved.value("spans", list)
            known = {1 + (self.input == "both"), 1 + self._words_may_be_seen()}
            if (np.diff(keys) <= 0).any() or len(channels) not in known:
                raise ValueError("the features of spans do not fit together")
            names = [distinct(names, "spans", str) for names in channels]
            self.encoders["spans"] = SpanFeatures(names, keys)
        if n_weights(self.derivations.tables, *self._sizes()) != sizes["n"]:
            raise ValueError("weights, rules and features do not fit together")
