"""Why a tagger chose the label of every token, and its weights in words.

The runner-up of a token is the best label sequence with another label there. What decides
are the features of all tokens, and the transitions, in which the two sequences differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin.explain.explained import rows_of
from maxmargin.explain.explanation import Explanation, Part, ranked, taken
from maxmargin.tags.findings import words_of
from maxmargin.tags.plots import titles_of
from maxmargin.tags.weights import frame_columns

__all__ = ["explain", "frame_columns", "named_weights"]


class Trellis(NamedTuple):
    """Scores of one sequence, and its features."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    coef: np.ndarray  # (labels, features)
    steps: np.ndarray  # (labels, labels), -inf where forbidden
    first: np.ndarray
    last: np.ndarray

    @classmethod
    def of(cls, tagger: Any, batch: Any) -> Trellis:
        k = batch.n_labels
        wall = batch.barrier[:, :k]
        ends = [tagger.first_ + wall[k], tagger.last_ + wall[k + 1]]
        if tagger.order == 0:
            ends = [np.zeros(k), np.zeros(k)]
            steps = np.zeros((k, k))
        else:
            steps = tagger.transitions_ + wall[:k]
        return cls(
            batch.indptr, batch.indices, batch.values, tagger.coef_, steps, *ends
        )

    def node_scores(self) -> np.ndarray:
        """(tokens, labels): what the features of every token say."""
        n = len(self.indptr) - 1
        out = np.zeros((n, len(self.first)))
        for t in range(n):
            at = slice(self.indptr[t], self.indptr[t + 1])
            out[t] = self.coef[:, self.indices[at]] @ self.values[at].astype(float)
        return out

    def runners_up(self, labels: np.ndarray) -> list[np.ndarray]:
        """The best sequence with another label at each token."""
        theta = self.node_scores()
        n, k = theta.shape
        ahead, behind = np.zeros((n, k)), np.zeros((n, k))
        came, goes = np.zeros((n, k), int), np.zeros((n, k), int)
        ahead[0] = theta[0] + self.first
        for t in range(1, n):
            table = ahead[t - 1][:, None] + self.steps
            came[t] = table.argmax(0)
            ahead[t] = theta[t] + table.max(0)
        behind[-1] = self.last
        for t in range(n - 2, -1, -1):
            table = self.steps + (theta[t + 1] + behind[t + 1])
            goes[t] = table.argmax(1)
            behind[t] = table.max(1)
        found = []
        for t in range(n):
            through = ahead[t] + behind[t]
            through[labels[t]] = -np.inf
            path = np.zeros(n, int)
            path[t] = through.argmax()
            for s in range(t, 0, -1):
                path[s - 1] = came[s, path[s]]
            for s in range(t, n - 1):
                path[s + 1] = goes[s, path[s]]
            found.append(path if np.isfinite(through.max()) else labels)
        return found

    def rows(self, t: int, one: np.ndarray, two: np.ndarray, say: Any) -> Iterator:
        """(feature, value, weight) of what differs between two label sequences."""
        for s in np.flatnonzero(one != two).tolist():
            for e in range(self.indptr[s], self.indptr[s + 1]):
                j = self.indices[e]
                weight = float(self.coef[one[s], j]) - float(self.coef[two[s], j])
                yield say.feature(j, s, t), float(self.values[e]), weight
        yield from taken(_steps(one), _steps(two), say.step, self._weigh)

    def _weigh(self, step: tuple) -> float:
        a, b = step
        if a is None:
            return self.first[b]
        return self.last[a] if b is None else self.steps[a, b]


def _steps(path: np.ndarray) -> list[tuple]:
    """Pairs of neighbouring labels; None before the first and after the last."""
    return list(pairwise([None, *path.tolist(), None]))


class Words(NamedTuple):
    """How features and transitions are called."""

    titles: Any
    words: list[str]
    labels: list[str]

    def feature(self, j: int, s: int, t: int) -> str:
        title = str(self.titles[j])
        return title if s == t else f"{title} of {self.words[s]!r} (token {s + 1})"

    def step(self, step: tuple) -> str:
        a, b = step
        if a is None:
            return f"starts with {self.labels[b]}"
        if b is None:
            return f"ends with {self.labels[a]}"
        return f"{self.labels[a]} followed by {self.labels[b]}"


def explain(tagger: Any, x: Any) -> Explanation:
    """Every token of a sentence against its best other label."""
    if tagger.order == 2:
        raise ValueError("order=2 has no scores per token: fit with order=1.")
    if getattr(tagger, "kernel", None) is not None:
        raise ValueError(
            "a tagger with a kernel has no weights of features that explain could show: "
            "fit without kernel."
        )
    if getattr(x, "n_sentences", 1) != 1:
        raise ValueError(f"x has {x.n_sentences} sentences: explain takes one.")
    structure = tagger._fitted()
    X = structure.read(x if hasattr(x, "n_sentences") else [x])
    (found,) = tagger.predict(X)
    if not found:
        return Explanation(type(tagger).__name__, [])
    trellis = Trellis.of(tagger, structure.encode(X))
    labels = np.array([structure.labels.index(label) for label in found])
    words = words_of(X)[0]
    titles = titles_of(tagger, trellis.coef.shape[1])
    say = Words(titles, words, list(map(str, structure.labels)))
    parts = []
    for t, other in enumerate(trellis.runners_up(labels)):
        features = ranked(trellis.rows(t, labels, other, say))
        names = say.labels[labels[t]], say.labels[other[t]]
        parts.append(Part(f"{t + 1} {words[t]}", *names, features))
    note = "every label, and the best other one of its token"
    if structure.posterior:
        note += "; decoded by probabilities, so that another sequence may score more"
    return Explanation(type(tagger).__name__, parts, note, words)


def named_weights(tagger: Any) -> list[tuple[str, str, float]]:
    """(label, feature, weight) of features, the largest first."""
    labels = list(map(str, tagger.classes_.tolist()))
    names = titles_of(tagger, tagger.coef_.shape[1])
    return rows_of(tagger.coef_, labels, [str(name) for name in names])
