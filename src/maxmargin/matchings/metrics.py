"""How good word alignments are: alignment error rate, precision and recall.

With the predicted links A, the sure ones S and the possible ones P, which include S
(Och & Ney 2003), all counted over the whole corpus:

    precision = |A & P| / |A|      recall = |A & S| / |S|
    AER = 1 - (|A & S| + |A & P|) / (|A| + |S|)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.checks import is_whole
from maxmargin.core.listed import is_pair, listed
from maxmargin.matchings.bitext import Link, Links, parse_links
from maxmargin.metrics.report import Report


@dataclass(frozen=True)
class AlignmentScores(Report):
    """Scores of a corpus, from 0 to 1, and the counts that they are made of."""

    aer: float
    precision: float
    recall: float
    interval: tuple[float, float] | None  # of the AER, from the bootstrap
    sentences: int
    predicted: int  # |A|
    sure: int  # |S|
    found_sure: int  # |A & S|
    found_possible: int  # |A & P|

    def _measures(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        rest = {k: v for k, v in vars(self).items() if k not in ("aer", "interval")}
        return {"aer": self.aer, "aer_low": low, "aer_high": high, **rest}

    def __str__(self) -> str:
        text = f"AER {100 * self.aer:.2f}%"
        if self.interval is not None:
            low, high = (100 * bound for bound in self.interval)
            text += f" (95% interval {low:.2f} to {high:.2f})"
        return (
            f"{text}, precision {100 * self.precision:.2f}%, recall "
            f"{100 * self.recall:.2f}%\n{self.sentences} sentence pairs: "
            f"{self.predicted} links predicted, {self.found_possible} of them right; "
            f"{self.found_sure} of {self.sure} sure links found."
        )


def alignment_scores(
    y_true: Iterable,
    y_pred: Iterable,
    bootstrap: int = 0,
    seed: int = 0,
    sample_weight: np.ndarray | None = None,
) -> AlignmentScores:
    """Compare predicted with true links.

    Parameters
    ----------
    y_true : list of alignments, as :func:`as_links` takes them
    y_pred : list of alignments; of these, sure and possible links count alike
    bootstrap : int
        Number of times to draw the sentences anew for a 95% interval of the AER;
        0 for no interval.
    sample_weight : array or None
        How much the sentence pairs count.

    Examples
    --------
    >>> from maxmargin.matchings.metrics import alignment_scores
    >>> print(alignment_scores(["0-0 1-1 2?1"], [[(0, 0), (2, 1)]]))
    AER 25.00%, precision 100.00%, recall 50.00%
    1 sentence pairs: 2 links predicted, 2 of them right; 1 of 2 sure links found.
    """
    truths = [as_links(links, f"y_true[{k}]") for k, links in enumerate(y_true)]
    guesses = [as_links(links, f"y_pred[{k}]") for k, links in enumerate(y_pred)]
    if len(truths) != len(guesses):
        raise ValueError(
            f"there are {len(truths)} true alignments, but {len(guesses)} predicted ones."
        )
    if not truths:
        raise ValueError("there are no alignments: at least one is needed.")
    rows = np.array([count_links(*pair) for pair in zip(truths, guesses, strict=True)])
    if sample_weight is not None:
        rows = rows * np.asarray(sample_weight)[:, None]
    interval = None
    if bootstrap:
        rng = np.random.default_rng(seed)
        draws = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), bootstrap)
        low, high = np.quantile(
            [aer_of(*total) for total in draws @ rows], [0.025, 0.975]
        )
        interval = float(low), float(high)
    a, s, hit_sure, hit = rows.sum(axis=0).tolist()
    return AlignmentScores(
        aer=aer_of(a, s, hit_sure, hit),
        precision=hit / a if a else 1.0,
        recall=hit_sure / s if s else 1.0,
        interval=interval,
        sentences=len(rows),
        predicted=a,
        sure=s,
        found_sure=hit_sure,
        found_possible=hit,
    )


def count_links(truth: Links, guess: Links) -> tuple[int, int, int, int]:
    found, sure = {*guess.sure, *guess.possible}, set(truth.sure)
    hit_sure = len(found & sure)
    return len(found), len(sure), hit_sure, hit_sure + len(found & {*truth.possible})


def wrong_links(truth: Links, found: Iterable[Link]) -> tuple[set[Link], set[Link]]:
    """The sure links that were missed, and those found that are not even possible."""
    sure, links = set(truth.sure), {(i, j) for i, j in found}
    return sure - links, links - sure - set(truth.possible)


def aer_of(a, s, hit_sure, hit) -> float:
    return 1.0 - (hit_sure + hit) / (a + s) if a + s else 0.0


def as_links(value: Any, where: str) -> Links:
    """An alignment as users write it, checked; ``where`` names it in messages.

    A text such as "0-0 1?1", a collection of pairs (i, j), all sure, or a pair of such
    collections, sure and possible. A possible link that is also sure is sure.
    """
    if isinstance(value, Links):
        return value
    if isinstance(value, str):
        try:
            return parse_links(value)
        except ValueError as error:
            raise ValueError(f"{where}: {error}.") from None
    if not isinstance(value, (Collection, np.ndarray)) or isinstance(
        value, (bytes, dict)
    ):
        raise ValueError(
            f"{where} is {value!r}, not an alignment: give pairs (i, j), or (sure, "
            'possible), or a text such as "0-0 1?1".'
        )
    parts: Any = (value, ())
    two = isinstance(value, (tuple, list)) and len(value) == 2
    if two and not any(map(_is_link, value)):
        parts = value
    sure, possible = ({_link(link, where) for link in _each(p, where)} for p in parts)
    return Links(sorted(sure), sorted(possible - sure))


def check_inside(links: Iterable[tuple[int, int]], source: int, target: int) -> None:
    """Refuse links of words that are not there."""
    for i, j in links:
        if i >= source or j >= target:
            raise ValueError(
                f"the link {i}-{j} leads outside: there are {source} source and "
                f"{target} target words."
            )


def _each(part, where):
    if isinstance(part, (set, frozenset)):
        return part
    return listed(
        part, f"{where} holds {part!r}: give (sure, possible), both as pairs."
    )


def _is_link(value) -> bool:
    return is_pair(value) and all(map(is_whole, value))


def _link(value, where) -> tuple[int, int]:
    if not _is_link(value) or min(value) < 0:
        raise ValueError(
            f"{where} holds {value!r}, which is not a link: give pairs (i, j) of word "
            "numbers from 0 on."
        )
    return int(value[0]), int(value[1])
