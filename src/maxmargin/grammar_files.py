"""Grammars as nltk has them, and as arrays for model files."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.grammar import Grammar
from maxmargin.trees import import_nltk

START = "<start>"  # above several roots, where a grammar must have one start symbol

# nltk --------------------------------------------------------------------------------


def to_nltk(grammar: Grammar, smoothing: float = 0.0):
    """See `Grammar.to_nltk`."""
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


def from_nltk(source) -> Grammar:
    """See `Grammar.from_nltk`."""
    nltk = import_nltk()
    if not isinstance(source, nltk.CFG):
        raise ValueError(
            f"from_nltk takes an nltk.PCFG or nltk.CFG, not a {type(source).__name__}."
        )
    weighted = isinstance(source, nltk.PCFG)
    tags: dict[Any, int] = {}
    phrases: dict[Any, int] = {}

    def key(item):
        kind = phrases if isinstance(item, nltk.Nonterminal) else tags
        kind.setdefault(item, len(kind))
        return kind is phrases, item

    rules: dict[int, dict] = {1: {}, 2: {}}
    roots: dict = {}
    start = source.start()
    for production in source.productions():
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
    grammar = Grammar(**parts, chains=[])
    values = (
        grammar.log_probabilities().unary if weighted else np.full(len(unary), -1.0)
    )
    return Grammar(**parts, chains=grammar.best_chains(values)[0])


# model files -------------------------------------------------------------------------

_COUNTS = {
    "counts_binary": "binary",
    "counts_unary": "unary",
    "counts_roots": "roots",
}


def to_state(grammar: Grammar) -> tuple[dict[str, np.ndarray], dict]:
    """See `Grammar.to_state`."""
    names = ("binary", "unary", "roots", *_COUNTS, "tag_counts")
    arrays = {name: getattr(grammar, name) for name in names}
    sizes = [len(chain) for chain in grammar.chains]
    arrays["chain_start"] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    arrays["chain_rules"] = np.array(
        [rule for chain in grammar.chains for rule in chain], np.int32
    )
    entries = [
        (k, grammar.tag_number[tag], count)
        for k, counts in enumerate(grammar.lexicon.values())
        for tag, count in counts.items()
    ]
    words, tags, counts = zip(*entries, strict=True) if entries else ((), (), ())
    arrays["lexicon_words"] = np.array(words, np.int32)
    arrays["lexicon_tags"] = np.array(tags, np.int32)
    arrays["lexicon_counts"] = np.array(counts, np.float64)
    values = {
        "symbols": list(grammar.symbols),
        "n_tags": int(grammar.n_tags),
        "words": list(grammar.lexicon),
    }
    return arrays, values


def from_state(arrays: dict[str, np.ndarray], values: dict) -> Grammar:
    """See `Grammar.from_state`. Files come from anywhere: every number is checked."""
    symbols, n_tags, words = values["symbols"], values["n_tags"], values["words"]
    _require(type(symbols) is list and type(n_tags) is int and type(words) is list)
    _require(all(type(text) is str for text in [*symbols, *words]))
    _require(0 < n_tags <= len(symbols))
    for distinct in (symbols[:n_tags], symbols[n_tags:], words):
        _require(len(set(distinct)) == len(distinct))
    n = len(symbols)
    rules = {
        "binary": _indices(arrays["binary"], n, 3),
        "unary": _indices(arrays["unary"], n, 2),
        "roots": _indices(arrays["roots"], n),
    }
    for name in ("binary", "unary"):  # nothing grows below a word
        _require((rules[name][:, 0] >= n_tags).all())
    _require(len(rules["roots"]) > 0)
    counts = {
        name: _numbers(arrays[name], len(rules[of])) for name, of in _COUNTS.items()
    }
    tag_counts = _numbers(arrays["tag_counts"], n_tags)
    flat = _indices(arrays["chain_rules"], len(rules["unary"])).tolist()
    starts = _indices(arrays["chain_start"], len(flat) + 1)
    _require(len(starts) > 0 and starts[0] == 0 and starts[-1] == len(flat))
    _require((np.diff(starts) > 0).all())
    unary = rules["unary"].tolist()
    chains = []
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        chain = tuple(flat[start:end])
        for above, below in pairwise(chain):
            _require(unary[above][1] == unary[below][0])
        chains.append(chain)
    lexicon = _lexicon(arrays, words, symbols[:n_tags])
    return Grammar(
        symbols,
        n_tags,
        **rules,
        **counts,
        tag_counts=tag_counts,
        chains=chains,
        lexicon=lexicon,
    )


def _lexicon(arrays: dict[str, np.ndarray], words: list[str], tags: list[str]) -> dict:
    of_word = _indices(arrays["lexicon_words"], len(words))
    of_tag = _indices(arrays["lexicon_tags"], len(tags))
    counts = _numbers(arrays["lexicon_counts"], len(of_word))
    _require(len(of_tag) == len(of_word))
    lexicon: dict[str, dict[str, float]] = {word: {} for word in words}
    rows = zip(of_word.tolist(), of_tag.tolist(), counts.tolist(), strict=True)
    for word, tag, count in rows:
        lexicon[words[word]][tags[tag]] = count
    return lexicon


def _indices(array: np.ndarray, n: int, width: int | None = None) -> np.ndarray:
    """An integer array of which every entry is a number from 0 to n - 1."""
    _require(array.dtype in (np.int32, np.int64))
    _require(array.ndim == 1 if width is None else array.shape[1:] == (width,))
    _require(array.size == 0 or (array.min() >= 0 and array.max() < n))
    return array


def _numbers(array: np.ndarray, n: int) -> np.ndarray:
    _require(array.dtype == np.float64 and array.shape == (n,))
    _require(bool(np.isfinite(array).all()) and bool((array >= 0).all()))
    return array


def _require(good: bool) -> None:
    if not good:
        raise ValueError("the grammar in the file is not valid.")
