"""Features of a word pair (i, j) in a sentence pair: one table (n, m, d) per pair.

Groups, to be chosen by name: see :data:`GROUPS`. A group is a function of a
:class:`PairView` that yields names and tables of shape (n, m).
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from maxmargin.matchings.bitext_statistics import BitextStatistics

Named = Iterator[tuple[str, np.ndarray]]
EVIDENCE = (0.02, 0.1, 0.3, 0.6, 0.9)  # bins of probabilities: at least this
DISTANCE = (0.03, 0.08, 0.15, 0.3)  # bins of relative distance: more than this
SIMILAR = (0.5, 0.75)  # bins of similarity: at least this
RARE = (1, 2, 5)  # bins of counts: at most this


class PairView:
    """A sentence pair with what the statistics say about it, looked up once."""

    def __init__(self, source, target, statistics: BitextStatistics):
        self.source, self.target = source, target
        self.shape = len(source), len(target)
        self.forms = statistics.forms
        self.known = statistics.describe((source, target))

    def both(self, name: str) -> np.ndarray:
        """Geometric mean of both directions."""
        return np.sqrt(self.known[f"{name}_forward"] * self.known[f"{name}_backward"])

    @functools.cached_property
    def belief(self) -> np.ndarray:
        """How far both HMMs agree on a link, 0 to 1."""
        return self.both("hmm")


def bias(view: PairView) -> Named:
    """One for every link: how easily words stay alone."""
    yield "bias", np.ones(view.shape)


def dictionary(view: PairView) -> Named:
    """What the bitext knows, as numbers and in bins."""
    for form in view.forms:
        yield f"{form} dice", view.known[f"{form} dice"]
        ratio = view.known[f"{form} ratio"]
        ratio = np.sqrt(np.abs(ratio)) * np.sign(ratio)
        yield f"{form} likelihood ratio", np.clip(ratio / 10.0, -1.0, 3.0)
        for model in (f"{form} model1", f"{form} hmm"):
            yield from _directions(view, model)
    yield from _directions(view, "hmm")
    yield "hmm, logarithm", np.log(np.maximum(view.belief, 1e-4)) / 9.2


def _directions(view: PairView, model: str) -> Named:
    both = view.both(model)
    yield f"{model} forward", view.known[f"{model}_forward"]
    yield f"{model} backward", view.known[f"{model}_backward"]
    yield f"{model} both", both
    for least in EVIDENCE:
        yield f"{model} both >= {least}", both >= least


def neighbours(view: PairView) -> Named:
    """How far links beside this one are believed in; both ends of a sentence fit."""
    n, m = view.shape
    for name, table in _evidence(view, "hmm"):
        wide = np.zeros((n + 2, m + 2))
        wide[0, 0] = wide[-1, -1] = 1.0
        wide[1:-1, 1:-1] = table
        around = {}
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                if di or dj:
                    shifted = wide[1 + di : n + 1 + di, 1 + dj : m + 1 + dj]
                    around[di, dj] = shifted
                    yield f"{name} at {di:+d},{dj:+d}", shifted
        yield f"{name} on both sides", np.sqrt(around[-1, -1] * around[1, 1])
        yield f"{name} here and before", np.sqrt(table * around[-1, -1])
        yield f"{name} here and after", np.sqrt(table * around[1, 1])


def _evidence(view: PairView, *models: str) -> Named:
    """What speaks for a link: by all forms together, and by each of them."""
    yield "hmm", view.belief
    for form in view.forms:
        yield f"{form} dice", view.known[f"{form} dice"]
        for model in models:
            yield f"{form} {model}", view.both(f"{form} {model}")


def position(view: PairView) -> Named:
    """How far the pair is from the diagonal, relative to the lengths."""
    n, m = view.shape
    away = np.abs(_centres(n)[:, None] - _centres(m)[None, :])
    yield "distance", away
    yield "distance, root", np.sqrt(away)
    for most in DISTANCE:
        yield f"distance > {most}", away > most
    yield "distance * hmm", away * view.belief
    yield "distance in words", np.minimum(away * (n + m) / 20.0, 2.0)


def spelling(view: PairView) -> Named:
    """How alike the words look."""
    table = np.array(
        [[_looks(s, t) for t in view.target] for s in view.source], np.float64
    )
    for k, name in enumerate(LOOKS):
        yield name, table[:, :, k]


LOOKS = (
    "identical",
    "identical, any case",
    "identical, four letters or more",
    "common prefix",
    "common suffix",
    "common prefix of four",
    "edit similarity",
    *(f"edit similarity >= {least}" for least in SIMILAR),
    "numbers, equal",
    "numbers, different",
    "one number",
    "punctuation, equal",
    "punctuation, different",
    "one punctuation",
    "capitals",
    "one capital",
    "difference of lengths",
)


@functools.lru_cache(maxsize=200_000)
def _looks(s: str, t: str) -> tuple[float, ...]:
    a, b = plain(s), plain(t)
    longest = max(len(a), len(b), 1)
    prefix, suffix = _common(a, b), _common(a[::-1], b[::-1])
    similar = 1.0 - edit_distance(a, b) / longest
    if min(len(a), len(b)) < 3:  # short words are alike by chance
        similar = float(a == b)
    digits = [any(map(str.isdigit, word)) for word in (s, t)]
    marks = [not any(map(str.isalnum, word)) for word in (s, t)]
    capitals = [word[:1].isupper() for word in (s, t)]
    return (
        s == t,
        a == b,
        a == b and longest >= 4,
        prefix / longest,
        suffix / longest,
        prefix >= 4,
        similar,
        *(similar >= least for least in SIMILAR),
        all(digits) and s == t,
        all(digits) and s != t,
        digits[0] != digits[1],
        all(marks) and s == t,
        all(marks) and s != t,
        marks[0] != marks[1],
        all(capitals),
        capitals[0] != capitals[1],
        min(abs(len(a) - len(b)), 10) / 10.0,
    )


@functools.lru_cache(maxsize=200_000)
def plain(word: str) -> str:
    """In lower case and without accents."""
    apart = unicodedata.normalize("NFD", word.casefold())
    return "".join(c for c in apart if not unicodedata.combining(c))


def _common(a: str, b: str) -> int:
    for k, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return k
    return min(len(a), len(b))


def edit_distance(a: str, b: str) -> int:
    """Insertions, deletions and substitutions from a to b (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(corner + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def frequency(view: PairView) -> Named:
    """How often the words occur: rare words mislead counts, frequent ones stay alone."""
    for form in view.forms:
        counts = [view.known[f"{form} {side}_count"] for side in ("source", "target")]
        s, t = map(np.log1p, counts)
        yield f"{form} log count of source", s / 10.0
        yield f"{form} log count of target", t / 10.0
        yield f"{form} difference of log counts", np.abs(s - t) / 10.0
        for most in RARE:
            rare = counts[0] <= most, counts[1] <= most
            yield f"{form} both <= {most}", rare[0] & rare[1]
            yield f"{form} one <= {most}", rare[0] ^ rare[1]


def competition(view: PairView) -> Named:
    """Whether there is a better partner for one of the two words."""
    for name, table in _evidence(view, "model1", "hmm"):
        of_source = table / np.maximum(table.max(axis=1, keepdims=True), 1e-9)
        of_target = table / np.maximum(table.max(axis=0, keepdims=True), 1e-9)
        yield f"{name} best for source", of_source >= 1.0
        yield f"{name} best for target", of_target >= 1.0
        yield f"{name} best for both", (of_source >= 1.0) & (of_target >= 1.0)
        yield f"{name} relative to best", np.sqrt(of_source * of_target)
        rivals = np.maximum(_best_other(table), _best_other(table.T).T)
        yield f"{name} above all others", table - rivals


GROUPS: dict[str, Callable[[PairView], Named]] = {
    "bias": bias,
    "dictionary": dictionary,
    "neighbours": neighbours,
    "position": position,
    "spelling": spelling,
    "frequency": frequency,
    "competition": competition,
}


def _centres(n: int) -> np.ndarray:
    return (np.arange(n) + 0.5) / n


def _best_other(table: np.ndarray) -> np.ndarray:
    """For every cell, the largest value in the rest of its row; 0 if it has none."""
    if table.shape[1] == 1:
        return np.zeros_like(table)
    second, first = np.partition(table, -2, axis=1)[:, -2:].T[:, :, None]
    return np.where(table == first, second, first)


def pair_features(
    source: Sequence[str],
    target: Sequence[str],
    statistics: BitextStatistics,
    groups: Sequence[str],
) -> tuple[list[str], np.ndarray]:
    """Names of the features, and their values as an array (source, target, features)."""
    view = PairView(source, target, statistics)
    named = [pair for group in groups for pair in GROUPS[group](view)]
    values = np.empty((*view.shape, len(named)), np.float32)
    for k, (_, table) in enumerate(named):
        values[:, :, k] = table
    return [name for name, _ in named], values
