"""WordAligner: which words of two sentences translate each other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.decode import decode
from maxmargin.core.encoded import Encoded, check_weights
from maxmargin.core.listed import given_or
from maxmargin.core.structure import Outputs
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import floats
from maxmargin.fitting.tables import weigh
from maxmargin.matchings import input as match_input
from maxmargin.matchings.assignment import best_links
from maxmargin.matchings.bitext import read_bitext
from maxmargin.matchings.bitext_statistics import BitextStatistics
from maxmargin.matchings.k_best import k_best
from maxmargin.matchings.metrics import AlignmentScores, alignment_scores
from maxmargin.matchings.parameters import WordAlignerParameters
from maxmargin.matchings.scorers import aer
from maxmargin.matchings.structure import (
    POSSIBLE,
    SURE,
    make_batch,
    partly_linked,
    to_links,
)
from maxmargin.matchings.view import links
from maxmargin.matchings.word_pairs import pair_features
from maxmargin.views.shown import Shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from maxmargin.matchings.structure import MatchingBatch

Link = tuple[int, int]
CHUNK = 100  # sentence pairs whose features are held at once when predicting
FIRST = 1e6  # weight of a sure link beside which beliefs only break ties


class WordAligner(WordAlignerParameters, Shown, MaxMarginEstimator, init=False):
    """Word alignment as a matching of largest weight, learned with a large margin.

    The score of an alignment is the sum over its links of w . x_ij, with features x_ij of
    the word pair; every word has at most ``fertility`` links, or none. Minimises
    ``1/2 |w|^2 + C sum_i s_i H_i(w)``, where H_i is the largest violation and the loss is

        cost_extra * |links that are not even possible|
        + cost_missing * |sure links that are missing|

    (Taskar, Lacoste-Julien & Klein 2005). Possible links are free: they cost nothing
    whether predicted or not, and training aims at the sure ones.

    Parameters
    ----------
    C : float, default 0.1
    fertility : int, None, or a pair of these, default 2
        The largest number of links of a word, or (of source words, of target words); 1
        is one-to-one, None no bound. If the sure links of a training pair exceed it,
        training aims at the largest subset that does not, and among those at the one that
        the bitext supports most; the omitted sure links count as possible.
    cost_extra, cost_missing : float, 1 and 2 by default
        What links cost in the loss. A high ``cost_missing`` improves recall. See
        ``docs/matching.md`` for how the defaults were chosen.
    bitext : list of sentence pairs, path, fitted BitextStatistics or None
        Sentences, without links, to learn a dictionary from; the more, the better.
        It may include the sentences that will be aligned, which helps them. A path is read
        by :func:`maxmargin.matchings.bitext.read_bitext`. The training sentences are added,
        except to a fitted :class:`BitextStatistics`, which is taken as it is.
    forms : sequence of str
        How words are represented in the dictionary, see :class:`BitextStatistics`.
    features : list of names and functions, or None for all groups
        Groups of built-in features: bias, dictionary, neighbours, position, spelling,
        frequency, competition. A function of (source words, target words) returns an
        array (source, target) or (source, target, features).
    unlabelled_weight : float, default 0.1
        Factor for the sample weight of pairs without any known link: None in y. (i, None)
        among the links means that those of source word i are unknown, (None, j) those of
        target word j (``docs/partial-labels.md``).
    rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`.

    Attributes
    ----------
    coef_ : ndarray of shape (features,)
    feature_names_ : list of str
    statistics_ : BitextStatistics
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from maxmargin import WordAligner
    >>> X = [("the house sleeps", "la maison dort"), ("he sleeps", "il dort")]
    >>> model = WordAligner().fit(X, ["0-0 1-1 2-2", "0-0 1-1"])
    >>> model.predict([("he sleeps", "il dort")])
    [[(0, 0), (1, 1)]]
    """

    _view = staticmethod(links)

    _model_name = "WordAligner.v1"
    _scorers = (aer,)
    _fields = (floats("coef_", "n"),)
    _no_sums = "sums over matchings have no known algorithm that is quick"
    _params_in_state = ("bitext",)

    # prediction ------------------------------------------------------------------------

    @over_cluster()
    def predict(self, X: Any) -> list[list[Link]]:
        """The links (i, j) of every sentence pair, sorted."""
        out = Outputs()
        for batch in self._batches(X):
            y = decode(batch, self.coef_, self._threads())
            cuts = zip(batch.start[:-1], batch.start[1:], strict=True)
            out += [to_links(y[a:b], batch.source_most) for a, b in cuts]
        return out

    def predict_scores(self, X: Any) -> list[np.ndarray]:
        """The score w . x_ij of every word pair: an array (source, target) per pair.

        Links are predicted for their scores, but not alone: positive ones compete.
        """
        out = []
        for batch in self._batches(X):
            scores = np.split(batch.x @ self.coef_, batch.cells[1:-1])
            out += [
                row.reshape(-1, m)
                for row, m in zip(scores, batch.n_target.tolist(), strict=True)
            ]
        return out

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[list[Link], float]]]:
        """The k best alignments of every pair with their scores, best first.

        There are fewer if a pair has fewer. Scores of equal alignments add rounding.
        """
        most = match_input.check_fertility(self.fertility)
        return [k_best(scores, *most, k) for scores in self.predict_scores(X)]

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """1 - AER, the alignment error rate of the corpus: greater is better."""
        return 1.0 - self._evaluate(X, y, sample_weight).aer

    def evaluate(
        self, X: Any, y: Any, bootstrap: int = 1000, *, predicted: Any = None
    ) -> AlignmentScores:
        """AER with an interval of so many bootstrap draws, precision and recall.

        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        return self._evaluate(X, y, None, bootstrap, predicted)

    def _evaluate(self, X, y, weights, bootstrap=0, predicted=None) -> AlignmentScores:
        check_is_fitted(self, "coef_")
        X = list(X) if hasattr(X, "__iter__") else X
        truth = match_input.check_alignments(y, match_input.check_pairs(X).pairs)
        if weights is not None:
            weights = check_weights(weights, len(truth))
        found = given_or(predicted, lambda: self.predict(X))
        return alignment_scores(truth, found, bootstrap, sample_weight=weights)

    def _right(self, X, y) -> list[bool]:
        """Whether all sure links were found, and none that is not possible."""
        truth = match_input.check_alignments(y, match_input.check_pairs(X).pairs)
        rows = zip(truth, map(set, self.predict(X)), strict=True)
        return [set(a.sure) <= found <= {*a.sure, *a.possible} for a, found in rows]

    def _batches(self, X):
        """Encoded sentence pairs, some at a time."""
        check_is_fitted(self, "coef_")
        sample = match_input.check_pairs(X)
        for first in range(0, len(sample.pairs), CHUNK):
            part = match_input.Sample(*(side[first : first + CHUNK] for side in sample))
            _, tables = self._tables(part, self.statistics_, first)
            wrong = tables[0].shape[2]
            if wrong != len(self.coef_):
                raise ValueError(
                    f"X[{first}] has {wrong} features, but the aligner was trained with "
                    f"{len(self.coef_)}: give the same arrays or functions."
                )
            yield self._batch(tables, None, None, np.float64)

    # training --------------------------------------------------------------------------

    def _check(self) -> None:
        match_input.check_features(self.features)
        match_input.check_fertility(self.fertility)
        if self.cost_extra == self.cost_missing == 0:
            raise ValueError(
                "cost_extra and cost_missing are both zero: then there is nothing to "
                "learn."
            )

    def _encode(self, X, y, sample_weight) -> Encoded:
        sample = match_input.check_pairs(X)
        if not sample.pairs:
            raise ValueError("X is empty: at least one sentence pair is needed.")
        y, known = match_input.split_unknown(y, sample.pairs)
        links = match_input.check_alignments(y, sample.pairs)
        weights = check_weights(sample_weight, len(sample.pairs))
        if known is not None:
            weights = weigh(self, weights, [a.any() and b.any() for a, b in known])
        most = match_input.check_fertility(self.fertility)
        statistics = self.learn_dictionary(sample.pairs)
        names, tables = self._tables(sample, statistics)
        kinds, targets = [], []
        for pair, gold in zip(sample.pairs, links, strict=True):
            target = _feasible(gold.sure, pair, most, statistics)
            kinds.append(_kinds(pair, gold, target))
            targets.append(target)
        dtype = np.float64
        batch = self._batch(tables, kinds, targets, dtype)
        attributes = {"statistics_": statistics, "feature_names_": names}
        encoded = Encoded(batch, len(names), dtype, weights, attributes)
        if known is None:
            return encoded
        # first the words whose links are known, as if there were no others
        some = [k for k, (a, b) in enumerate(known) if a.any() and b.any()]
        first = self._batch(
            [tables[k][np.ix_(*known[k])] for k in some],
            [kinds[k][np.ix_(*known[k])] for k in some],
            [_renumbered(targets[k], *known[k]) for k in some],
            dtype,
        )
        unknown = [~(a[:, None] & b).ravel() for a, b in known]
        return replace(
            encoded,
            batch=partly_linked(batch, np.concatenate(unknown)),
            first=replace(encoded, batch=first, weights=weights[some]),
        )

    def learn_dictionary(self, pairs: Any) -> BitextStatistics:
        """What ``fit`` learns from ``bitext`` and these sentence pairs, without links.

        Several fits can share it: ``set_params(bitext=...)``.
        """
        bitext, pairs = self.bitext, match_input.check_pairs(pairs).pairs
        if isinstance(bitext, BitextStatistics):
            if not hasattr(bitext, "keys_"):
                raise ValueError("bitext is not fitted: call its fit(pairs) first.")
            return bitext
        if bitext is None:
            return BitextStatistics(self.forms).fit(pairs, self._threads())
        if isinstance(bitext, Iterator):
            raise ValueError(
                "bitext can be read only once, so that a second fit would find nothing: "
                "make a list of it."
            )
        if isinstance(bitext, (str, os.PathLike)):
            known = read_bitext(bitext)
        else:
            known = match_input.check_pairs(bitext, "bitext", strict=False).pairs
        seen = {(tuple(a), tuple(b)) for a, b in known}
        new = [pair for pair in pairs if (tuple(pair[0]), tuple(pair[1])) not in seen]
        return BitextStatistics(self.forms).fit([*known, *new], self._threads())

    def _tables(self, sample, statistics, first: int = 0):
        """Names of the features, and an array (source, target, features) per pair."""
        groups, functions = match_input.check_features(self.features)
        names, tables = [], []
        for k, (pair, array) in enumerate(zip(*sample, strict=True), first):
            own, table = pair_features(*pair, statistics, groups)  # type: ignore[call-arg]
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

    def _batch(self, tables, kinds, targets, dtype) -> MatchingBatch:
        most = match_input.check_fertility(self.fertility)
        costs = self.cost_extra, self.cost_missing
        return make_batch(tables, kinds, targets, *most, costs, dtype)

    # saving (files/model_file.py) ------------------------------------------------------

    def _more_state(self):
        words, facts = self.statistics_.get_state()
        arrays = {f"words.{name}": array for name, array in words.items()}
        return arrays, {"words": facts, "names": list(self.feature_names_)}

    def _loaded(self, saved, sizes) -> None:
        self.feature_names_ = saved.texts("names")
        if len(self.feature_names_) != sizes["n"]:
            raise ValueError("weights and names do not fit together")
        words = saved.part("words")
        self.statistics_ = BitextStatistics.from_state(words.arrays, words.state)


def _feasible(sure: list[Link], pair, most, statistics) -> list[Link]:
    """The most sure links that keep to the bounds; believed ones if there is a choice."""
    counts = [np.bincount([link[d] for link in sure] or [0]) for d in (0, 1)]
    if all(len(sure) == 0 or c.max() <= k for c, k in zip(counts, most, strict=True)):
        return sure
    known = statistics.describe(pair)
    belief = np.sqrt(known["hmm_forward"] * known["hmm_backward"])
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


def _kinds(pair, gold, target) -> np.ndarray:
    kinds = np.zeros((len(pair[0]), len(pair[1])), np.int8)
    for link in (*gold.sure, *gold.possible):
        kinds[link] = POSSIBLE
    for link in target:
        kinds[link] = SURE
    return kinds
