"""Expectation maximisation over a bitext: Model 1, then HMMs that agree.

Every word is seen in several *forms*, such as itself and its first letters. Pairs of
forms are numbered through all forms, so one array holds the tables of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from maxmargin.engine.threads import ALONE, Team
from maxmargin.matchings.bitext_kernels import (
    common_prefixes,
    hmm_counts,
    model1_counts,
)

P_NULL = 0.2  # a generated word has no generating one
MODEL1_PASSES, HMM_PASSES = 5, 5
# Pseudo-counts of every pair: less than one, so that words keep few translations (Riley &
# Gildea 2012); and more for words that begin alike, which rare names and cognates need.
SPARSITY, COGNATE = 0.1, 1.0
JUMP_PRIOR = 0.1
CELLS = 1 << 15  # pairs of words that are worth a thread


class Model(NamedTuple):
    """Direction 0 is t(target | source), direction 1 is t(source | target)."""

    t: list[np.ndarray]  # by pair, of both directions
    nulls: list[np.ndarray]  # of the null word, by generated word, of both directions
    jumps: list[list[np.ndarray]]  # of every HMM, of both directions


class Corpus:
    """A bitext as flat arrays: words, cells of sentence pairs, distinct pairs of forms.

    vocabularies[side][f] : dict from forms to numbers, through all forms of a side
    words[side] : (forms, tokens); starts[side] : tokens of each sentence
    cells : (i, j) of each sentence pair, row by row; pair : (forms, cells) their pairs
    of[side] : the word of each pair
    """

    def __init__(
        self,
        pairs: Iterable[tuple[Sequence[str], Sequence[str]]],
        forms: Sequence[Callable[[str], str]],
        team: Team = ALONE,
    ):
        pairs = list(pairs)
        self.vocabularies: tuple[list[dict], list[dict]] = ([], [])
        self.words, self.starts = [], []
        for side in (0, 1):
            sentences = [pair[side] for pair in pairs]
            self.starts.append(np.cumsum([0, *map(len, sentences)]))
            tokens = list(chain.from_iterable(sentences))
            distinct = {word: k for k, word in enumerate(dict.fromkeys(tokens))}
            number = np.array([distinct[word] for word in tokens], np.int64)
            rows, first = [], 0
            for form in forms:
                table: dict[str, int] = {}
                row = [
                    table.setdefault(form(word), first + len(table))
                    for word in distinct
                ]
                rows.append(np.array(row, np.int64)[number])
                self.vocabularies[side].append(table)
                first += len(table)
            self.words.append(np.stack(rows))
        self.starts, self.words = tuple(self.starts), tuple(self.words)
        self.sizes = tuple(map(np.diff, self.starts))
        self.cells = np.concatenate([[0], np.cumsum(self.sizes[0] * self.sizes[1])])
        self.width = int(self.words[1].max()) + 1
        self.keys, self.pair = self._pairs(len(forms), team)
        self.of = (self.keys // self.width, self.keys % self.width)

    def _pairs(self, n_forms: int, team: Team):
        """Sorted keys (source word * width + target word) and their numbers by cell."""
        sentence = np.repeat(np.arange(len(self.cells) - 1), np.diff(self.cells))
        at = np.arange(self.cells[-1]) - self.cells[sentence]
        i, j = np.divmod(at, self.sizes[1][sentence])
        i, j = i + self.starts[0][sentence], j + self.starts[1][sentence]

        def number(f):  # numbers of words rise from form to form: so do keys
            keys = self.words[0][f, i] * self.width + self.words[1][f, j]
            return np.unique(keys, return_inverse=True)

        found = self._each(team, number, n_forms)
        first = np.cumsum([0, *(len(keys) for keys, _ in found)])
        numbers = [
            (row + k).astype(np.int32)
            for (_, row), k in zip(found, first[:-1], strict=True)
        ]
        return np.concatenate([keys for keys, _ in found]), np.stack(numbers)

    def presence(self) -> list[np.ndarray]:
        """In how many sentence pairs each source word, target word and pair occurs."""
        return [
            _distinct(rows, np.repeat(np.arange(len(sizes)), sizes))
            for rows, sizes in (
                *zip(self.words, self.sizes, strict=True),
                (self.pair, np.diff(self.cells)),
            )
        ]

    def _each(self, team: Team, function: Callable, count: int = 2) -> list:
        """``function`` of 0, 1, ...: side by side where there is much to do."""
        threads = max(min(team.size, count, int(self.cells[-1]) // CELLS), 1)
        return team.run(lambda _, k: function(k), list(range(count)), threads)

    def likeness(self) -> np.ndarray:
        """Common prefix of the words of each pair, relative to the longer; 0 if short."""
        letters, sizes = zip(*map(_letters, self.vocabularies), strict=True)
        prefix = common_prefixes(*letters, *self.of)
        longest = np.maximum(sizes[0][self.of[0]], sizes[1][self.of[1]])
        alike = prefix / np.maximum(longest, 1)
        return np.where((prefix >= 3) | (alike == 1.0), alike, 0.0)

    def train(self, team: Team = ALONE) -> list[Model]:
        """Model 1; an HMM of each form by itself; and one HMM of all forms together.

        Alone, the HMMs of forms err in different ways, which helps who combines them;
        together they are more often right.
        """
        prior = SPARSITY + COGNATE * self.likeness()
        model1 = self._model1(prior, team)
        alone = [[f] for f in range(len(self.pair))]
        together = [list(range(len(self.pair)))]
        return [model1, *(self._hmm(model1, prior, g, team) for g in (alone, together))]

    def _model1(self, prior, team: Team) -> Model:
        def learn(d):
            vocabulary, of = self.vocabularies[1 - d], self.of[d]
            t, nulls = prior / np.bincount(of, prior)[of], _shares_by_form(vocabulary)
            sizes = self.sizes[d], self.sizes[1 - d], d == 0, self.starts[1 - d]
            for _ in range(MODEL1_PASSES):
                counts, null = np.zeros(len(self.keys)), np.zeros(len(nulls))
                for pair, words in zip(self.pair, self.words[1 - d], strict=True):
                    tables = words, t, nulls, P_NULL
                    model1_counts(self.cells, pair, *sizes, *tables, counts, null)
                t = _sparse_shares(counts + prior, of)
                nulls = _shares_by_form(vocabulary, null)
            return t, nulls

        t, nulls = zip(*self._each(team, learn), strict=True)
        return Model(list(t), list(nulls), [])

    def _hmm(self, start: Model, prior, groups: list[list[int]], team: Team) -> Model:
        """HMMs of groups of forms, each in both directions, which agree."""
        t, nulls = start.t, start.nulls
        longest = int(max(map(np.max, self.sizes)))
        jumps = [[_first_jumps(longest) for _ in (0, 1)] for _ in groups]
        for _ in range(HMM_PASSES):
            counts = np.zeros(len(self.keys))
            null = tuple(map(np.zeros_like, nulls))
            logs = tuple(self._each(team, lambda d, t=t: np.log(t[d])))
            null_logs = tuple(map(np.log, nulls))
            for g, forms in enumerate(groups):
                moved = tuple(map(np.zeros_like, jumps[g]))
                tables = logs, null_logs, tuple(jumps[g]), P_NULL
                self._expect(team, forms, tables, (counts, null, moved))
                jumps[g] = [(j + JUMP_PRIOR) / (j + JUMP_PRIOR).sum() for j in moved]
            total = counts + prior
            t = self._each(
                team, lambda d, total=total: _sparse_shares(total, self.of[d])
            )
            nulls = [_shares_by_form(self.vocabularies[1 - d], null[d]) for d in (0, 1)]
        return Model(t, nulls, jumps)

    def _expect(self, team: Team, forms: list[int], tables: tuple, out: tuple) -> None:
        """Expected counts under these tables, added to the arrays of ``out``.

        Threads take ranges of sentence pairs and count apart; sums are in the ranges'
        order, so that they depend on the number of threads alone.
        """
        fixed = self.cells, self.pair[forms], self.starts
        fixed = (*fixed, tuple(side[forms] for side in self.words), *tables)
        n = len(self.cells) - 1
        threads = max(min(team.size, n, int(self.cells[-1]) // CELLS), 1)
        cuts = np.linspace(0, self.cells[-1], threads + 1)[1:-1]
        edges = [0, *np.searchsorted(self.cells, cuts).tolist(), n]

        def count(_, part):
            lo, hi = part
            counts, null, moved = out
            if lo > 0:
                counts = np.zeros_like(counts)
                null, moved = (
                    tuple(map(np.zeros_like, some)) for some in (null, moved)
                )
            hmm_counts(lo, hi, *fixed, counts, null, moved)
            return counts, *null, *moved

        parts = [(lo, hi) for lo, hi in pairwise(edges) if lo < hi]
        first, *others = team.run(count, parts, threads)
        for other in others:
            for total, more in zip(first, other, strict=True):
                total += more


def _distinct(rows, sentence):
    """How many sentences hold each of the numbers in rows (forms, tokens)."""
    n = int(rows.max()) + 1
    total = np.zeros(n)
    for row in rows:
        places = np.sort(sentence * n + row)
        once = places[np.append(True, np.diff(places) > 0)]
        total += np.bincount(once % n, minlength=n)
    return total


def _shares_by_form(tables, counts=None):
    """Counts of words (all alike without them) as shares of their form."""
    n = sum(map(len, tables))
    counts = np.ones(n) if counts is None else counts + 1e-3  # none is impossible
    cut = np.cumsum([len(table) for table in tables])[:-1]
    return np.concatenate([part / part.sum() for part in np.split(counts, cut)])


def _sparse_shares(counts, group):
    """Shares of a group under a sparse prior: exp digamma(count) in place of count."""
    return np.exp(digamma(counts) - digamma(np.bincount(group, counts))[group])


def _letters(tables) -> tuple[np.ndarray, np.ndarray]:
    """Words of all forms as rows of letter codes, ended by zeros, and their lengths."""
    words = np.array([word[:30] for table in tables for word in table])
    if words.dtype.itemsize == 0:  # nothing but empty strings
        words = words.astype("U1")
    return words.view(np.uint32).reshape(len(words), -1), np.char.str_len(words)


def _first_jumps(longest: int) -> np.ndarray:
    """Weights of jumps by -longest .. longest: one step ahead is the likeliest."""
    jump = np.exp(-0.5 * np.abs(np.arange(-longest, longest + 1) - 1.0)) + 1e-3
    return jump / jump.sum()
