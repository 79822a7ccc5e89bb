"""Matchings as a structure: sentence pairs in, links between their words out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from maxmargin.core.encoded import Encoded, Training, check_weights
from maxmargin.core.structure import Outputs, Structure
from maxmargin.fitting.tables import weigh
from maxmargin.matchings import input as match_input
from maxmargin.matchings.assignment import best_links
from maxmargin.matchings.bitext import Link, Links, Pair, read_bitext
from maxmargin.matchings.bitext_statistics import BitextStatistics
from maxmargin.matchings.input import Sample, check_fertility, check_pairs
from maxmargin.matchings.k_best import k_best
from maxmargin.matchings.links import (
    POSSIBLE,
    SURE,
    MatchingBatch,
    make_batch,
    partly_linked,
    to_links,
)
from maxmargin.matchings.parameters import FORMS
from maxmargin.matchings.word_pairs import PairView, pair_features

CHUNK = 100  # sentence pairs whose features are held at once when predicting
FIRST = 1e6  # weight of a sure link beside which beliefs only break ties


@dataclass
class Matchings(Structure):
    """Links between the words of two sentences; parameters are those of `WordAligner`."""

    fertility: Any = 2
    cost_extra: float = 1.0
    cost_missing: float = 2.0
    bitext: Any = field(default=None, repr=False)
    forms: Sequence[str] = FORMS
    features: Sequence | None = None
    unlabelled_weight: float = 0.1
    statistics: BitextStatistics = field(init=False, repr=False)
    names: list[str] = field(default_factory=list, init=False, repr=False)

    # training --------------------------------------------------------------------------

    def prepare(self, X: Any, Y: Any, training: Training) -> Encoded:
        sample = check_pairs(X)
        if not sample.pairs:
            raise ValueError("X is empty: at least one sentence pair is needed.")
        Y, known = match_input.split_unknown(Y, sample.pairs)
        links = match_input.check_alignments(Y, sample.pairs)
        weights = check_weights(training.sample_weight, len(sample.pairs))
        if known is not None:
            weights = weigh(self, weights, [a.any() and b.any() for a, b in known])
        most = check_fertility(self.fertility)
        self.statistics = self.learn_dictionary(sample.pairs, training.n_jobs)
        self.bitext = None  # of which this is all that is needed
        self.names, tables = self._tables(sample)
        kinds, targets = [], []
        for pair, gold in zip(sample.pairs, links, strict=True):
            target = _feasible(gold.sure, pair, most, self.statistics)
            kinds.append(_kinds(pair, gold, target))
            targets.append(target)
        batch = self._batch(tables, kinds, targets)
        encoded = Encoded(batch, len(self.names), np.float64, weights)
        if known is None:
            return encoded
        # first the words whose links are known, as if there were no others
        some = [k for k, (a, b) in enumerate(known) if a.any() and b.any()]
        first = self._batch(
            [tables[k][np.ix_(*known[k])] for k in some],
            [kinds[k][np.ix_(*known[k])] for k in some],
            [_renumbered(targets[k], *known[k]) for k in some],
        )
        unknown = [~(a[:, None] & b).ravel() for a, b in known]
        return replace(
            encoded,
            batch=partly_linked(batch, np.concatenate(unknown)),
            first=replace(encoded, batch=first, weights=weights[some]),
        )

    def learn_dictionary(self, pairs: list[Pair], n_jobs: int = 1) -> BitextStatistics:
        """What the bitext says about words, with these sentence pairs added to it."""
        bitext = self.bitext
        if isinstance(bitext, BitextStatistics):
            if not hasattr(bitext, "keys_"):
                raise ValueError("bitext is not fitted: call its fit(pairs) first.")
            return bitext
        if bitext is None:
            return BitextStatistics(self.forms).fit(pairs, n_jobs)
        if isinstance(bitext, Iterator):
            raise ValueError(
                "bitext can be read only once, so that a second fit would find nothing: "
                "make a list of it."
            )
        if isinstance(bitext, (str, os.PathLike)):
            known = read_bitext(bitext)
        else:
            known = check_pairs(bitext, "bitext", strict=False).pairs
        seen = {(tuple(a), tuple(b)) for a, b in known}
        new = [pair for pair in pairs if (tuple(pair[0]), tuple(pair[1])) not in seen]
        return BitextStatistics(self.forms).fit([*known, *new], n_jobs)

    # batches ---------------------------------------------------------------------------

    def encode(self, X: Any) -> MatchingBatch:
        sample = check_pairs(X)
        names, tables = self._tables(sample)
        if tables and len(names) != len(self.names):
            raise ValueError(
                f"X[{sample.first}] has {len(names)} features, but the aligner was trained "
                f"with {len(self.names)}: give the same arrays or functions."
            )
        return self._batch(tables)

    def output(self, batch: Any, i: int, labelling: Any) -> list[Link]:
        return to_links(labelling, batch.source_most)

    def _tables(self, sample: Sample):
        """Names of the features, and an array (source, target, features) per pair."""
        groups, functions = match_input.check_features(self.features)
        first, names, tables = sample.first, [], []
        both = zip(sample.pairs, sample.arrays, strict=True)
        for k, (pair, array) in enumerate(both, first):
            own, table = pair_features(*pair, self.statistics, groups)  # type: ignore[call-arg]
            added = [(f.__name__, f(*pair)) for f in functions]
            if array is not None:
                added.append(("array", array))
            for name, value in added:
                where = f"the features ({name}) of X[{k}]"
                more = match_input.user_table(value, pair, where)
                own += [f"{name} {column}" for column in range(more.shape[2])]
                table = np.concatenate([table, more.astype(np.float32)], axis=2)
            if k == first:
                names = own
            if len(own) != len(names):
                raise ValueError(
                    f"X[{k}] has {len(own)} features, but X[{first}] has {len(names)}: "
                    "give arrays of equal depth to all pairs, or to none."
                )
            tables.append(table)
        if tables and not names:
            raise ValueError("there are no features: name at least one group.")
        return names, tables

    def _batch(self, tables, kinds=None, targets=None) -> MatchingBatch:
        costs = self.cost_extra, self.cost_missing
        return make_batch(
            tables, kinds, targets, *check_fertility(self.fertility), costs
        )

    # prediction ------------------------------------------------------------------------

    def predict(self, X: Any, w: np.ndarray, n_jobs: int = 1) -> list[list[Link]]:
        """The links (i, j) of every sentence pair, sorted."""
        found = Outputs()
        for part in check_pairs(X).parts(CHUNK):
            found += super().predict(part, w, n_jobs)
        return found

    def predict_scores(self, X: Any, w: np.ndarray) -> list[np.ndarray]:
        """The score w . x_ij of every word pair: an array (source, target) per pair."""
        found = []
        for batch in map(self.encode, check_pairs(X).parts(CHUNK)):
            scores = np.split(batch.x @ w, batch.cells[1:-1])
            found += [
                row.reshape(-1, m)
                for row, m in zip(scores, batch.n_target.tolist(), strict=True)
            ]
        return found

    def predict_k_best(
        self, X: Any, w: np.ndarray, k: int, n_jobs: int = 1
    ) -> list[list[tuple[list[Link], float]]]:
        """The k best alignments of every pair with their scores, best first."""
        most = check_fertility(self.fertility)
        return [k_best(scores, *most, k) for scores in self.predict_scores(X, w)]

    # saving ----------------------------------------------------------------------------

    def attributes(self) -> dict[str, Any]:
        return {"statistics_": self.statistics, "feature_names_": self.names}

    def saved(self) -> tuple[dict, dict]:
        words, facts = self.statistics.get_state()
        arrays = {f"words.{name}": array for name, array in words.items()}
        return arrays, {"words": facts, "names": list(self.names)}

    def restore(self, saved: Any, sizes: dict[str, int]) -> None:
        self.names = saved.texts("names")
        if len(self.names) != sizes["n"]:
            raise ValueError("weights and names do not fit together")
        words = saved.part("words")
        self.statistics = BitextStatistics.from_state(words.arrays, words.state)


def _feasible(sure: list[Link], pair: Pair, most, statistics) -> list[Link]:
    """The most sure links that keep to the bounds; believed ones if there is a choice."""
    counts = [np.bincount([link[d] for link in sure] or [0]) for d in (0, 1)]
    if all(len(sure) == 0 or c.max() <= k for c, k in zip(counts, most, strict=True)):
        return sure
    belief = PairView(*pair, statistics).belief
    weight = np.full(belief.shape, -1.0)
    at = tuple(np.array(sure).T)
    weight[at] = FIRST + belief[at]
    taken = np.zeros(belief.shape, bool)
    rooms = (np.full(n, k, np.int64) for n, k in zip(belief.shape, most, strict=True))
    best_links(weight, *rooms, taken)
    return [(i, j) for i, j in np.argwhere(taken).tolist()]


def _renumbered(links: list[Link], source, target) -> list[Link]:
    """Links of these words (masks), counted among them."""
    before, above = np.cumsum(source) - 1, np.cumsum(target) - 1
    return [(int(before[i]), int(above[j])) for i, j in links]


def _kinds(pair: Pair, gold: Links, target: list[Link]) -> np.ndarray:
    kinds = np.zeros((len(pair[0]), len(pair[1])), np.int8)
    for link in (*gold.sure, *gold.possible):
        kinds[link] = POSSIBLE
    for link in target:
        kinds[link] = SURE
    return kinds
