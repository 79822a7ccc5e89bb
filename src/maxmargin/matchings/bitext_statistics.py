"""What a bitext says about word pairs: Dice, likelihood ratios, IBM Model 1, HMM.

Only sentences are needed, no links. Counts and tables are kept for the word pairs that
occur in some sentence pair, never for all pairs.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from scipy.special import xlogy

from maxmargin.core.jobs import effective_jobs
from maxmargin.core.saved import Saved
from maxmargin.engine.threads import Team
from maxmargin.matchings.bitext_kernels import hmm_posteriors
from maxmargin.matchings.bitext_training import P_NULL, Corpus
from maxmargin.matchings.parameters import FORMS

Pair = tuple[Sequence[str], Sequence[str]]
FLOOR = 1e-7  # t of a pair that the bitext never showed
# Pairs below both are forgotten after training: most pairs met by chance.
LEAST_T, LEAST_DICE = 1e-4, 0.02
DIRECTIONS = ("forward", "backward")


def form_function(name: str) -> Callable[[str], str]:
    """ "word" is the word in lower case, "stem4" its first four letters."""
    if name == "word":
        return str.lower
    match = re.fullmatch(r"stem([1-9][0-9]?)", name) if isinstance(name, str) else None
    if match is None:
        raise ValueError(
            f"the form {name!r} is not known: forms are 'word' and 'stem' with a number of "
            "letters, such as 'stem4'."
        )
    size = int(match[1])
    return lambda word: word.lower()[:size]


class BitextStatistics:
    """Association of source and target words, learned from sentence pairs alone.

    Parameters
    ----------
    forms : sequence of str, default ("word", "stem3", "stem4")
        What stands for a word: "word", it in lower case, or "stem4", its first four
        letters (any number), which its inflected forms share. In a small bitext most
        words are rare, and their stems are less so.

    Examples
    --------
    >>> from maxmargin.matchings.bitext_statistics import BitextStatistics
    >>> pairs = [(["the", "house"], ["la", "maison"]), (["the", "sea"], ["la", "mer"])]
    >>> known = BitextStatistics().fit(pairs).describe(pairs[0])
    >>> known["hmm_forward"].argmax(axis=0)  # the source word of every target word
    array([0, 1])
    """

    def __init__(self, forms: Sequence[str] = FORMS):
        if isinstance(forms, str) or not isinstance(forms, Iterable):
            raise ValueError(f"forms={forms!r} is not possible: give a list of names.")
        self.forms = tuple(forms)

    def fit(self, pairs: Iterable[Pair], n_jobs: int = 1) -> BitextStatistics:
        """Count, and train Model 1 and then both HMMs by EM, in ``n_jobs`` threads.

        The sentences to be aligned may, and should, be among the pairs. Pairs with an
        empty side say nothing and are left out.
        """
        team = Team(effective_jobs(n_jobs))
        functions = [form_function(name) for name in self.forms]
        if not functions:
            raise ValueError("forms is empty: name at least one, such as 'word'.")
        pairs = [pair for pair in pairs if len(pair[0]) and len(pair[1])]
        if not pairs:
            raise ValueError("the bitext is empty: give at least one sentence pair.")
        with team.at_work():
            corpus = Corpus(pairs, functions, team)
            model1, *hmms = corpus.train(team)
        *self.counts_, together = corpus.presence()
        self.n_pairs_ = len(pairs)
        self.vocabularies_ = corpus.vocabularies
        self.nulls_ = [hmm.nulls for hmm in hmms]
        self.jumps_ = [hmm.jumps for hmm in hmms]
        # rows: counts, then t of Model 1, of the HMMs alone, of the HMM of all forms
        tables = np.stack([together, *model1.t, *hmms[0].t, *hmms[1].t])
        dice = 2 * together / sum(self.counts_[d][corpus.of[d]] for d in (0, 1))
        kept = (tables[1:].max(axis=0) >= LEAST_T) | (dice >= LEAST_DICE)
        self.keys_ = corpus.keys[kept]
        self.tables_ = tables[:, kept].astype(np.float32)
        return self

    def describe(self, pair: Pair) -> dict[str, np.ndarray]:
        """Tables (source words, target words) of everything known about a sentence pair.

        hmm_forward, hmm_backward : posterior probability of the link, by all forms

        and for every form:

        word dice : 2 c(s, t) / (c(s) + c(t)), counts of sentence pairs
        word ratio : log-likelihood ratio of co-occurrence (Dunning 1993), negative if
            rarer than by chance
        word model1_forward, word model1_backward : t(target | source), t(source | target)
        word hmm_forward, word hmm_backward : posterior probability by this form alone
        word source_count, word target_count : of the words, as columns and rows
        """
        forms = range(len(self.forms))
        words = [[self._numbers(f, side, pair[side]) for side in (0, 1)] for f in forms]
        tables = [self._tables(*both) for both in words]
        out: dict[str, np.ndarray] = {}
        for f, name in enumerate(self.forms):
            (c, forward, backward), (source, target) = tables[f][:3], words[f]
            cs = np.where(source >= 0, self.counts_[0][source], 0.0)[:, None]
            ct = np.where(target >= 0, self.counts_[1][target], 0.0)[None, :]
            out[f"{name} dice"] = 2.0 * c / np.maximum(cs + ct, 1.0)
            out[f"{name} ratio"] = likelihood_ratio(c, cs, ct, self.n_pairs_)
            out[f"{name} source_count"] = np.broadcast_to(cs, c.shape)
            out[f"{name} target_count"] = np.broadcast_to(ct, c.shape)
            out[f"{name} model1_forward"] = forward
            out[f"{name} model1_backward"] = backward
        for d, direction in enumerate(DIRECTIONS):
            for f, name in enumerate(self.forms):
                link = self._posterior(0, f, d, [words[f]], [tables[f]])
                out[f"{name} hmm_{direction}"] = link
            out[f"hmm_{direction}"] = self._posterior(1, 0, d, words, tables)
        return out

    def _numbers(self, f: int, side: int, words) -> np.ndarray:
        """Numbers of words in one form, -1 if never seen."""
        form, table = form_function(self.forms[f]), self.vocabularies_[side][f]
        return np.array([table.get(form(word), -1) for word in words], np.int64)

    def _tables(self, source, target) -> np.ndarray:
        """The rows of ``tables_`` for all word pairs, zero for those not known."""
        keys = source[:, None] * len(self.counts_[1]) + target
        at = np.minimum(np.searchsorted(self.keys_, keys), len(self.keys_) - 1)
        known = (self.keys_[at] == keys) & (source >= 0)[:, None] & (target >= 0)
        return np.where(known, self.tables_[:, at], 0.0).astype(np.float64)

    def _posterior(self, model, number, direction, words, tables) -> np.ndarray:
        """Links by HMM ``number`` of a model (0: one form, 1: all), in one direction."""

        def mean(values):  # geometric, over forms
            return np.exp(np.mean(np.log(np.maximum(values, FLOOR)), axis=0))

        emit = mean([rows[3 + 2 * model + direction] for rows in tables])
        made = [both[1 - direction] for both in words]  # the words that are generated
        null = self.nulls_[model][direction]
        null = mean([np.where(row >= 0, null[row], 0.0) for row in made])
        emit = np.ascontiguousarray(emit if direction == 0 else emit.T)
        jump = _stretched(self.jumps_[model][number][direction], max(emit.shape))
        link = np.empty_like(emit)
        hmm_posteriors(emit, null, jump, P_NULL, link, np.zeros_like(jump))
        return link if direction == 0 else link.T

    # saving (model_file.py) ------------------------------------------------------------

    def get_state(self) -> tuple[dict[str, np.ndarray], dict]:
        """Arrays and plain values, from which :meth:`from_state` makes an equal object."""
        words = [w.encode("utf-8", "surrogatepass") for w in self._all_words()]
        arrays = {
            "text": np.frombuffer(b"".join(words), np.uint8),
            "lengths": np.array([len(word) for word in words], np.int32),
            "keys": self.keys_,
            "tables": self.tables_,
            "source_counts": self.counts_[0],
            "target_counts": self.counts_[1],
        }
        for model, nulls in enumerate(self.nulls_):
            for d, direction in enumerate(DIRECTIONS):
                rows = [jumps[d] for jumps in self.jumps_[model]]
                arrays[f"nulls{model}_{direction}"] = nulls[d]
                arrays[f"jumps{model}_{direction}"] = np.stack(rows)
        sizes = [[len(table) for table in side] for side in self.vocabularies_]
        return arrays, {"forms": self.forms, "n_pairs": self.n_pairs_, "sizes": sizes}

    def _all_words(self):
        return (word for side in self.vocabularies_ for table in side for word in table)

    @classmethod
    def from_state(cls, arrays, state) -> BitextStatistics:
        """The inverse; ValueError if the parts do not fit together."""
        saved = Saved(arrays, state)
        new = cls(saved.value("forms", tuple, list))
        for name in new.forms:
            form_function(name)
        n = len(new.forms)
        new.n_pairs_ = saved.whole("n_pairs", 1)
        text = saved.array("text", "u", None, dtype=np.uint8).tobytes()
        lengths = saved.integers("lengths", None, high=len(text), dtype=np.int32)
        cut = [0, *np.cumsum(lengths, dtype=np.int64).tolist()]
        words = [
            text[a:b].decode("utf-8", "surrogatepass")
            for a, b in itertools.pairwise(cut)
        ]
        sizes = saved.value("sizes", list)
        good = n > 0 and len(sizes) == 2 and all(len(side) == n for side in sizes)
        position, sides = 0, []
        for side in sizes if good else ():
            tables, first = [], 0
            for size in side:
                part = words[position : position + size]
                tables.append({word: first + k for k, word in enumerate(part)})
                good = good and type(size) is int and len(tables[-1]) == size
                position, first = position + size, first + size
            sides.append(tables)
        if not good or position != len(words) or cut[-1] != len(text):
            raise ValueError("the statistics of words do not fit together")
        new.vocabularies_ = tuple(sides)
        found = [sum(map(len, side)) for side in sides]
        new.counts_ = [
            saved.floats(f"{side}_counts", size, low=0.0, dtype=np.float64)
            for side, size in zip(("source", "target"), found, strict=True)
        ]
        new.keys_ = saved.integers("keys", None, high=2**63 - 1)
        rows = 1 + 2 * 3
        new.tables_ = saved.floats(
            "tables", rows, len(new.keys_), low=0.0, dtype=np.float32
        )
        new.nulls_, new.jumps_ = [], []
        for model, count in enumerate((n, 1)):
            names = [f"{model}_{direction}" for direction in DIRECTIONS]
            new.nulls_.append(
                [
                    saved.floats(f"nulls{name}", size, low=0.0, dtype=np.float64)
                    for name, size in zip(names, found[::-1], strict=True)
                ]
            )
            jumps = [
                saved.floats(f"jumps{name}", count, None, dtype=np.float64)
                for name in names
            ]
            # kernels look as far to the left as to the right, and divide by sums
            if any(rows.shape[1] % 2 == 0 or (rows <= 0).any() for rows in jumps):
                raise ValueError("the jumps between words are not valid")
            new.jumps_.append([[rows[k] for rows in jumps] for k in range(count)])
        if not len(new.keys_) or (np.diff(new.keys_) <= 0).any():
            raise ValueError("the pairs of words are not in order")
        return new


def _stretched(jump, longest: int) -> np.ndarray:
    """Jumps for sentences longer than those of the bitext: far ones are all alike."""
    more = longest - len(jump) // 2
    return np.pad(jump, more, mode="edge") if more > 0 else jump


def likelihood_ratio(c, cs, ct, n):
    """2 log P(counts | dependent) / P(counts | independent), signed by the direction."""

    def entropies(*counts):
        return sum(xlogy(k, np.maximum(k, 1.0)) for k in counts)

    ratio = entropies(c, cs - c, ct - c, n - cs - ct + c, n) - entropies(
        cs, ct, n - cs, n - ct
    )
    return np.where(c * n >= cs * ct, 2.0, -2.0) * np.maximum(ratio, 0.0)
