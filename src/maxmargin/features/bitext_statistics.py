"""What a bitext says about word pairs: Dice, likelihood ratios, IBM Model 1, HMM.

Only sentences are needed, no links. Counts and tables are kept for the word pairs that
occur in some sentence pair (sorted by source, then target word), never for all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy.special import digamma, xlogy

Pair = tuple[Sequence[str], Sequence[str]]

P_NULL = 0.2  # a generated word has no generating one
FLOOR = 1e-7  # t of a pair that the bitext never showed
MODEL1_PASSES, HMM_PASSES = 5, 5
# Prior of the tables: a word keeps few translations (Riley & Gildea 2012).
SPARSITY = 0.1
JUMP_PRIOR = 0.1


def lower(word: str) -> str:
    return word.lower()


def stem(word: str, size: int = 5) -> str:
    """The first letters, which inflected forms of a word mostly share."""
    return word.lower()[:size]


FORMS: dict[str, Callable[[str], str]] = {"word": lower, "stem": stem}


class BitextStatistics:
    """Association of source and target words, learned from sentence pairs alone.

    Parameters
    ----------
    form : {"word", "stem"}
        Whether words are compared in lower case, or by their first five letters only.

    Attributes
    ----------
    source_, target_ : dict, from forms to numbers
    source_counts_, target_counts_ : sentence pairs that hold a form
    tables_ : dict of arrays, one value per pair of forms that occurs:
        ``count`` of sentence pairs, ``forward`` = t(target | source) and ``backward`` =
        t(source | target) of Model 1, and the same of the HMM
    """

    def __init__(self, form: str = "word"):
        self.form = form

    def fit(self, pairs: Iterable[Pair]) -> BitextStatistics:
        """Count, and train Model 1 and then both HMMs by EM.

        The sentences to be aligned may, and should, be among the pairs.
        """
        corpus = _Corpus(pairs, FORMS[self.form])
        self.n_pairs_ = len(corpus.cells) - 1
        self.source_, self.target_ = corpus.vocabularies
        self.source_counts_, self.target_counts_ = corpus.presence()
        self._keys = corpus.keys
        self.tables_ = {"count": corpus.pair_presence()}
        models = corpus.train()
        self.tables_ |= models["tables"]
        self.nulls_, self.jumps_ = models["nulls"], models["jumps"]
        return self

    def numbers(self, pair: Pair) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers of source and target words (-1: never seen) and of their pairs."""
        change = FORMS[self.form]
        source, target = (
            np.array([table.get(change(word), -1) for word in side], np.int64)
            for table, side in zip((self.source_, self.target_), pair, strict=True)
        )
        keys = source[:, None] * len(self.target_) + target
        at = np.searchsorted(self._keys, keys)
        at[at == len(self._keys)] = 0
        known = (self._keys[at] == keys) & (source >= 0)[:, None] & (target >= 0)
        return source, target, np.where(known, at, -1)

    def describe(self, pair: Pair) -> dict[str, np.ndarray]:
        """Tables (source words, target words) of everything known about a sentence pair.

        dice : 2 c(s, t) / (c(s) + c(t)), counts of sentence pairs
        ratio : log-likelihood ratio of co-occurrence (Dunning 1993), negative if rarer
            than by chance
        model1_forward, model1_backward : t(target | source), t(source | target)
        hmm_forward, hmm_backward : posterior probability of the link
        source_count, target_count : of the words, as columns and rows
        """
        source, target, at = self.numbers(pair)
        c = np.where(at >= 0, self.tables_["count"][at], 0.0)
        cs = np.where(source >= 0, self.source_counts_[source], 0.0)[:, None]
        ct = np.where(target >= 0, self.target_counts_[target], 0.0)[None, :]

        def table(name):
            return np.where(at >= 0, self.tables_[name][at], 0.0)

        out = {
            "dice": 2.0 * c / np.maximum(cs + ct, 1.0),
            "ratio": _likelihood_ratio(c, cs, ct, self.n_pairs_),
            "model1_forward": table("model1_forward"),
            "model1_backward": table("model1_backward"),
            "source_count": cs,
            "target_count": ct,
        }
        forth = np.maximum(table("hmm_forward"), FLOOR)
        back = np.maximum(table("hmm_backward"), FLOOR)
        out["hmm_forward"] = self._posterior(forth, target, 0)
        out["hmm_backward"] = self._posterior(back.T.copy(), source, 1).T
        return out

    def _posterior(self, emit, words, direction):
        from maxmargin.features.bitext_kernels import hmm_posteriors

        null = np.where(words >= 0, self.nulls_[direction][words], 0.0)
        null = np.maximum(null, FLOOR)
        posterior = np.empty_like(emit)
        jump = _stretched(self.jumps_[direction], max(emit.shape))
        hmm_posteriors(emit, null, jump, P_NULL, posterior, np.zeros_like(jump))
        return posterior


class _Corpus:
    """A bitext as flat arrays: words, cells of sentence pairs, distinct word pairs."""

    def __init__(self, pairs: Iterable[Pair], change: Callable[[str], str]):
        self.vocabularies: tuple[dict, dict] = ({}, {})
        flat: tuple[list, list] = ([], [])
        starts: tuple[list, list] = ([0], [0])
        for pair in pairs:
            for side, words in enumerate(pair):
                table = self.vocabularies[side]
                flat[side].extend(table.setdefault(change(w), len(table)) for w in words)
                starts[side].append(len(flat[side]))
        self.words = tuple(np.array(side, np.int32) for side in flat)
        self.starts = tuple(np.array(side, np.int64) for side in starts)
        self.sizes = tuple(np.diff(side) for side in self.starts)
        self.cells = np.concatenate([[0], np.cumsum(self.sizes[0] * self.sizes[1])])
        width = len(self.vocabularies[1])
        keys = np.concatenate(
            [
                np.add.outer(a.astype(np.int64) * width, b).ravel()
                for a, b in zip(*map(self._sentences, (0, 1)), strict=True)
            ]
        )
        self.keys, pair = np.unique(keys, return_inverse=True)
        self.pair = pair.astype(np.int32)
        self.of = (self.keys // width, self.keys % width)  # the words of each pair

    def _sentences(self, side):
        return np.split(self.words[side], self.starts[side][1:-1])

    def presence(self):
        """In how many sentence pairs each word occurs."""
        return tuple(
            np.bincount(
                np.concatenate([np.unique(words) for words in self._sentences(side)]),
                minlength=len(self.vocabularies[side]),
            ).astype(np.float64)
            for side in (0, 1)
        )

    def pair_presence(self):
        sentence = np.repeat(np.arange(len(self.cells) - 1), np.diff(self.cells))
        once = np.unique(sentence * len(self.keys) + self.pair)
        return np.bincount(once % len(self.keys), minlength=len(self.keys)) * 1.0

    def train(self):
        """Tables of Model 1, then of HMMs that start from them and agree."""
        from maxmargin.features.bitext_kernels import hmm_counts, model1_counts

        t = [1.0 / np.bincount(self.of[side])[self.of[side]] for side in (0, 1)]
        nulls = [np.full(len(v), 1.0 / len(v)) for v in self.vocabularies[::-1]]
        for _ in range(MODEL1_PASSES):
            for d in (0, 1):  # forward: source words generate target words
                counts, null = np.zeros(len(self.keys)), np.zeros(len(nulls[d]))
                model1_counts(
                    self.cells,
                    self.pair,
                    self.sizes[d],
                    self.sizes[1 - d],
                    d == 0,
                    self.starts[1 - d],
                    self.words[1 - d],
                    t[d],
                    nulls[d],
                    P_NULL,
                    counts,
                    null,
                )
                t[d] = _sparse_shares(counts, self.of[d])
                nulls[d] = null / null.sum()
        tables = {"model1_forward": t[0], "model1_backward": t[1]}
        longest = int(max(side.max() for side in self.sizes))
        jumps = [_first_jumps(longest) for _ in (0, 1)]
        for _ in range(HMM_PASSES):
            counts = [np.zeros(len(self.keys)) for _ in (0, 1)]
            null = [np.zeros_like(n) for n in nulls]
            moved = [np.zeros_like(j) for j in jumps]
            hmm_counts(
                self.cells,
                self.pair,
                *self.starts,
                *self.words,
                *t,
                *nulls,
                *jumps,
                P_NULL,
                True,
                *counts,
                *null,
                *moved,
            )
            t = [_sparse_shares(counts[d], self.of[d]) for d in (0, 1)]
            nulls = [(n + 1e-3) / (n + 1e-3).sum() for n in null]
            jumps = [(j + JUMP_PRIOR) / (j + JUMP_PRIOR).sum() for j in moved]
        tables |= {"hmm_forward": t[0], "hmm_backward": t[1]}
        return {"tables": tables, "nulls": tuple(nulls), "jumps": tuple(jumps)}


def _sparse_shares(counts, group):
    """Shares of a group under a sparse prior: exp digamma(count) in place of count."""
    total = np.bincount(group, counts + SPARSITY)
    return np.exp(digamma(counts + SPARSITY) - digamma(total)[group])


def _first_jumps(longest: int) -> np.ndarray:
    """Weights of jumps by -longest .. longest: one step ahead is the likeliest."""
    jump = np.exp(-0.5 * np.abs(np.arange(-longest, longest + 1) - 1.0)) + 1e-3
    return jump / jump.sum()


def _stretched(jump, longest: int) -> np.ndarray:
    """Jumps for sentences longer than those of the bitext: far ones are all alike."""
    more = longest - len(jump) // 2
    return np.pad(jump, more, mode="edge") if more > 0 else jump


def _likelihood_ratio(c, cs, ct, n):
    """2 log P(counts | dependent) / P(counts | independent), signed by the direction."""
    a, b, d = c, cs - c, ct - c
    e = n - cs - ct + c
    both = sum(xlogy(x, np.maximum(x, 1e-300)) for x in (a, b, d, e))
    one = sum(xlogy(x, np.maximum(x, 1e-300)) for x in (cs, ct, n - cs, n - ct))
    return np.where(c * n >= cs * ct, 2.0, -2.0) * (both + n * np.log(n) - one)
