"""Words that positive sequences have more often: where a search for a motif may begin.

A word of a few letters is *enriched* if the share p of positive sequences that have it, on
either strand if both count, exceeds the share q of negative ones by many standard errors:

    z = (p - q) / sqrt(p (1 - p) / n+ + q (1 - q) / n-)

with sequences counted by their weights. Words that overlap a better one say the same and
are left out. Random starts find a weak motif seldom (yeast origins of replication: the
consensus is in none of a dozen); that of an enriched word begins near it.

A motif that is read on both strands enriches the reverse complements of its words as much
as these; one of the forward strand does not. Looked at are the best words of that strand.
"""

from __future__ import annotations

import numpy as np

from maxmargin.motifs.composition import counted, word_numbers

LONGEST = 8  # letters of a word: 65,536 of them
SHARED = 5  # letters in a row that two words may not have in common
FLOOR = 1e-4  # of variances: a word that is nowhere proves nothing
LOOKED_AT = 10  # words, for the strands
TURNED = 0.2  # share of their z that reverse complements have, if both strands count


def enriched_words(batch, weights, count: int) -> np.ndarray:
    """Codes of letters, (words, letters): at most ``count`` words, the best first."""
    z, size = _enrichment(batch, weights), _size(batch)
    best = np.argsort(-z, kind="stable")
    kept: list[np.ndarray] = []
    runs: set[bytes] = set()
    for number in best[: 50 * count]:
        if z[number] <= 0 or len(kept) == count:
            break
        word = _letters(number, size)
        own = _runs(word) | _runs(3 - word[::-1])
        if not own & runs:
            kept.append(word)
            runs |= own
    return np.array(kept).reshape(len(kept), size)


def on_both_strands(batch, weights) -> bool:
    """Whether reverse complements of the best words are enriched, too."""
    z, size = _enrichment(batch._replace(strands=1), weights), _size(batch)
    best = np.argsort(-z, kind="stable")[: 2 * LOOKED_AT]
    turned = (3 - _letters(best[:, None], size)[:, ::-1]) @ 4 ** np.arange(size)[::-1]
    other = best != turned
    best, turned = best[other][:LOOKED_AT], turned[other][:LOOKED_AT]
    return bool(z[turned].sum() > TURNED * z[best].sum() > 0)


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
    size = _size(batch)
    numbers, known = word_numbers(batch.codes, batch.first, size, batch.strands)
    start, word, _ = counted(numbers, known, batch.first, 4**size)
    sequence = np.repeat(np.arange(len(weights)), np.diff(start))
    shares, totals = [], []
    for label in (1, 0):
        own = np.where(batch.label == label, weights, 0.0)
        totals.append(own.sum())
        shares.append(np.bincount(word, own[sequence], minlength=4**size) / own.sum())
    p, q = shares
    variance = p * (1 - p) / totals[0] + q * (1 - q) / totals[1]
    return (p - q) / np.sqrt(np.maximum(variance, 0.0) + FLOOR)


def _letters(number, size: int) -> np.ndarray:
    """Codes of the letters of words."""
    return (number // 4 ** np.arange(size - 1, -1, -1)) % 4


def _runs(word) -> set[bytes]:
    short = min(SHARED, len(word))
    return {word[k : k + short].tobytes() for k in range(len(word) - short + 1)}
