"""Words that positive sequences have more often: where a search for a motif may begin.

A word of a few letters is *enriched* if the share p of positive sequences that have it, on
either strand if both count, exceeds the share q of negative ones by many standard errors:

    z = (p - q) / sqrt(p (1 - p) / n+ + q (1 - q) / n-)

with sequences counted by their weights. Words that overlap a better one say the same and
are left out. Random starts find a weak motif seldom (yeast origins of replication: the
consensus is in none of a dozen); that of an enriched word begins near it.

A motif that is read on both strands makes words stand out more if a word and its reverse
complement count as one; one of the forward strand makes them stand out less.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from maxmargin.motifs.structure import UNKNOWN

LONGEST = 8  # letters of a word: 65,536 of them
SHARED = 5  # letters in a row that two words may not have in common
FLOOR = 1e-4  # of variances: a word that is nowhere proves nothing


def enriched_words(batch, weights, count: int) -> np.ndarray:
    """Codes of letters, (words, letters): at most ``count`` words, the best first."""
    z, size = _enrichment(batch, weights), _size(batch)
    best = np.argsort(-z, kind="stable")
    kept: list[np.ndarray] = []
    runs: set[bytes] = set()
    for number in best[: 50 * count]:
        if z[number] <= 0 or len(kept) == count:
            break
        word = (number // 4 ** np.arange(size - 1, -1, -1)) % 4
        own = _runs(word) | _runs(3 - word[::-1])
        if not own & runs:
            kept.append(word)
            runs |= own
    return np.array(kept).reshape(len(kept), size)


def on_both_strands(batch, weights) -> bool:
    """Whether the best word stands out more when it may be on either strand."""
    one, two = (_enrichment(batch._replace(strands=k), weights).max() for k in (1, 2))
    return bool(two > one)


def word_weights(word, width: int, n_weights: int) -> np.ndarray:
    """Weights of a motif that is this word in its middle, and nothing else."""
    w = np.zeros(n_weights)
    at = (width - len(word)) // 2 + np.arange(len(word))
    w[4 * at + word] = 1.0
    return w


def shifted_motif(w, width: int, by: int) -> np.ndarray:
    """Weights whose motif stands so many letters further right; new columns are empty."""
    moved, kept = w.copy(), 4 * (width - abs(by))
    new, old = 4 * max(by, 0), 4 * max(-by, 0)
    moved[: 4 * width] = 0.0
    moved[new : new + kept] = w[old : old + kept]
    return moved


def _size(batch) -> int:
    return min(LONGEST, batch.width)


def _enrichment(batch, weights) -> np.ndarray:
    """z of every word."""
    shares, totals = [], []
    for label in (1, 0):
        chosen = np.flatnonzero((batch.label == label) & (weights > 0))
        shares.append(_shares(batch, chosen, weights, _size(batch)))
        totals.append(weights[chosen].sum())
    p, q = shares
    variance = p * (1 - p) / totals[0] + q * (1 - q) / totals[1]
    return (p - q) / np.sqrt(variance + FLOOR)


def _shares(batch, chosen, weights, size: int) -> np.ndarray:
    """The weighted share of these sequences that have each word."""
    total = np.zeros(4**size)
    spans = list(pairwise(batch.first.tolist()))
    for i in chosen.tolist():
        total[_words(batch.codes[slice(*spans[i])], size, batch.strands)] += weights[i]
    return total / weights[chosen].sum()


def _words(codes, size: int, strands: int) -> np.ndarray:
    """The words of a sequence, each once; of two strands, the smaller of both readings."""
    count = len(codes) - size + 1
    if count < 1:
        return np.zeros(0, np.int64)
    letters = np.lib.stride_tricks.sliding_window_view(codes.astype(np.int64), size)
    letters = letters[(letters != UNKNOWN).all(axis=1)]
    place = 4 ** np.arange(size - 1, -1, -1)
    found = letters @ place
    if strands == 2:
        found = np.minimum(found, (3 - letters) @ place[::-1])
    return np.unique(found)


def _runs(word) -> set[bytes]:
    short = min(SHARED, len(word))
    return {word[k : k + short].tobytes() for k in range(len(word) - short + 1)}
