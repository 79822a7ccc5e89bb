"""Why a sentence has the tree that it has, bracket by bracket; and the weights in words.

The runner-up of the tree is the second best tree; that of a bracket is the best tree that
does not have it, among the 100 best trees. Brackets that all of these have are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.explain.explanation import Explanation, Part
from maxmargin.explain.joint import Joint
from maxmargin.trees.cky.k_best import k_best
from maxmargin.trees.input import read_sentences
from maxmargin.trees.rules import named_rules
from maxmargin.trees.span_features import LENGTHS, PAIRS

RANKED = 100  # trees
WORDS = {
    "w": "the word {}", "l": "the word {} in lower case", "shape": "the shape {}",
    "p": "beginning with {}", "s": "ending in {}",
}  # fmt: skip
EDGES = ("(edge of the sentence)", "(a new word)")


def explain(parser: Any, x: Any) -> Explanation:
    """The best tree against the second, its brackets against the best tree without each."""
    sentences = read_sentences([x], parser.input)
    structure = parser._fitted()
    batch, w = structure.asked(sentences, parser._weights())
    words = sentences.words[0]
    found = k_best(batch, 0, w, RANKED)
    name = type(parser).__name__
    if not found:
        raise ValueError("the grammar has no tree for x: there is nothing to explain.")
    trees = [structure.derivations.tree(labelling, words) for labelling, _ in found]
    spans = [set(tree.spans()) for tree in trees]
    joint, parts = Joint(batch, w, namer(parser)), []
    if len(found) > 1:
        both = [spans[k] | _tags(tree) for k, tree in enumerate(trees[:2])]
        said = [_apart(a - b, words) for a, b in (both, both[::-1])]
        parts.append(Part("tree", *said, joint.between(found[0][0], found[1][0])))
    for label, begin, end in trees[0].spans():
        others = (k for k, s in enumerate(spans) if (label, begin, end) not in s)
        other = next(others, None)
        if other is None:
            continue
        there = sorted(z for z, a, b in spans[other] if (a, b) == (begin, end))
        said = " and ".join(there) if there else "no phrase"
        features = joint.between(found[0][0], found[other][0])
        text = " ".join(words[begin:end])
        parts.append(Part(f"{label} {text!r}", label, said, features))
    note = f"the tree, and its brackets: {trees[0]}"
    return Explanation(name, parts, note)


def _tags(tree: Any) -> set[tuple[str, int, int]]:
    """Tags as brackets of one word."""
    return {(tag, t, t + 1) for t, (_, tag) in enumerate(tree.tags())}


def _apart(spans: set, words: list[str]) -> str:
    """The brackets and tags that one of two trees has alone."""
    texts = [f"{z} {' '.join(words[a:b])!r}" for z, a, b in sorted(spans)]
    return ", ".join(texts) if texts else "no phrase or tag of its own"


def namer(parser: Any) -> Callable[[int], str]:
    """What the weights of a parser are called, by number."""
    grammar = parser.grammar_
    names = grammar.rule_names()
    names += [f"the root is {grammar.symbols[k]}" for k in grammar.roots.tolist()]
    encoders = getattr(parser.structure_, "encoders", {})
    words = list(encoders["words"].names) if "words" in encoders else []
    tags, labels = grammar.symbols[: grammar.n_tags], parser.labels_
    first_span = len(names) + len(words) * len(tags)

    def name(j: int) -> str:
        if j < len(names):
            return names[j]
        if j < first_span:
            k, tag = divmod(j - len(names), len(tags))
            return f"{tags[tag]}: {_word_title(words[k])}"
        k, label = divmod(j - first_span, len(labels))
        return f"{labels[label]}: {_span_title(encoders['spans'], k)}"

    return name


def _word_title(feature: str) -> str:
    """``s3=ing`` as "ending in ing"."""
    kind, equal, value = feature.partition("=")
    pattern = WORDS.get(kind) or WORDS.get(kind[:1])
    return pattern.format(value) if equal and pattern else feature


def _span_title(spans: Any, k: int) -> str:
    """What a span is described by, from its key (``SpanFeatures._all_keys``)."""
    size = max(2 + max(map(len, spans.channels), default=0), len(LENGTHS) + 1)
    rest, other = divmod(int(spans.keys[k]), size)
    template, one = divmod(rest, size)
    channel, pair = divmod(template, len(PAIRS))
    values = [*EDGES, *spans.channels[channel]]
    a, b = PAIRS[pair]
    said = [f"{a} {_value(a, one, values)}"]
    if a != b:
        said.append(f"{b} {_value(b, other, values)}")
    return ", ".join(said)


def _value(what: str, number: int, values: list[str]) -> str:
    if what != "length":
        return values[number]
    low = int(LENGTHS[number - 1]) if number else 1
    high = int(LENGTHS[number]) - 1 if number < len(LENGTHS) else None
    if high is None:
        return f"{low} or more"
    return str(low) if low == high else f"{low} to {high}"


def named_weights(parser: Any, top: int | None = None) -> list[tuple[str, str, float]]:
    """(what it is of, feature, weight); the logarithms of probabilities of a PCFG.

    The largest first, or the ``top`` of every group.
    """
    if not hasattr(parser, "coef_"):
        rules = sorted(named_rules(parser), key=lambda row: -abs(row[1]))
        return [("rules", name, value) for name, value in rules if value][:top]
    name, w = namer(parser), np.asarray(parser._weights(), float)
    roots = len(parser.coef_) + len(parser.root_coef_)
    words = roots + parser.word_coef_.size
    groups = {"rules": (0, roots), "words": (roots, words), "phrases": (words, len(w))}
    rows = []
    for group, (first, end) in groups.items():
        order = first + np.argsort(-np.abs(w[first:end]), kind="stable")[:top]
        rows += [(group, name(j), float(w[j])) for j in order[w[order] != 0].tolist()]
    return rows if top else sorted(rows, key=lambda row: -abs(row[2]))
