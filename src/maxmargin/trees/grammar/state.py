"""Grammars as arrays and plain values for model files."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.core.saved import LARGEST

if TYPE_CHECKING:
    from maxmargin.trees.grammar import Grammar

LONGEST = 1000  # chain; in a treebank they have a handful of rules
_COUNTS = {
    "counts_binary": "binary",
    "counts_unary": "unary",
    "counts_roots": "roots",
}


def to_state(grammar: Grammar) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and plain values for a model file; `from_state` takes them."""
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


def from_state(
    cls: type[Grammar], arrays: dict[str, np.ndarray], values: dict
) -> Grammar:
    """What `to_state` was called on; ValueError if numbers point nowhere."""
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
    # what is done with a chain takes the square of its length
    _require(((sizes := np.diff(starts)) > 0).all() and sizes.max(initial=0) <= LONGEST)
    unary = rules["unary"].tolist()
    chains = []
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        chain = tuple(flat[start:end])
        for above, below in pairwise(chain):
            _require(unary[above][1] == unary[below][0])
        chains.append(chain)
    lexicon = _lexicon(arrays, words, symbols[:n_tags])
    return cls(
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
    _require(bool(((array >= 0) & (array <= LARGEST[8])).all()))
    return array


def _require(good: bool) -> None:
    if not good:
        raise ValueError("the grammar in the file is not valid.")
