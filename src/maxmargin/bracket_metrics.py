"""How good predicted trees are: labelled brackets, counted as the program evalb counts.

A *bracket* is a phrase with its label and the words below it; preterminals are none.
A predicted bracket is correct if the truth has one with the same label and words. Where a
tree has the same bracket twice, both count, and each needs a partner of its own.

By the usual settings, roots (TOP) are no brackets, punctuation is taken out of the
sentence before words are numbered, and ADVP and PRT are the same label. Two things differ
from evalb. What is punctuation is decided by the tags of the true tree, so that a wrong
tag never makes a sentence impossible to compare. And a sentence without a predicted tree
counts: all its brackets are missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maxmargin.bootstrap import Interval, f1_difference, f1_interval
from maxmargin.brackets import escape
from maxmargin.metrics import Counts
from maxmargin.trees import Tree

ROOTS = ("TOP", "ROOT", "S1")
PUNCTUATION = (",", ":", "``", "''", ".")
EQUAL = (("ADVP", "PRT"),)
EMPTY = "-NONE-"
SHORT = 40  # words up to which evalb gives a second summary


class SentenceScores(NamedTuple):
    """The numbers of one sentence."""

    length: int  # words, punctuation included
    truth: int  # brackets
    predicted: int
    correct: int
    correct_spans: int  # whatever their labels
    crossing: int  # predicted brackets that cross a true one
    words: int  # without punctuation
    correct_tags: int
    status: str = "valid"  # "failed": no predicted tree; "skipped": other words


@dataclass(frozen=True)
class BracketReport:
    """Scores of brackets; ``str()`` is a summary in the layout of evalb.

    Quotients are from 0 to 1; they are 0 where nothing was predicted or is there.
    ``sentences`` has a row of numbers for every sentence, ``labels`` the
    :class:`~maxmargin.metrics.Counts` of every label.
    """

    sentences: tuple[SentenceScores, ...]
    labels: dict[str, Counts]

    def _sum(self, name: str) -> int:
        return sum(getattr(row, name) for row in self.sentences)

    def _share(self, good: Iterable[bool]) -> float:
        good = list(good)
        return sum(good) / len(good) if good else 0.0

    def _compared(self) -> list[SentenceScores]:
        """Sentences that were not skipped."""
        return [row for row in self.sentences if row.status != "skipped"]

    @property
    def n_sentences(self) -> int:
        return len(self.sentences)

    @property
    def n_skipped(self) -> int:
        """Sentences whose two trees have different words; they count for nothing."""
        return sum(row.status == "skipped" for row in self.sentences)

    @property
    def n_failed(self) -> int:
        """Sentences without a predicted tree; all their brackets are missed."""
        return sum(row.status == "failed" for row in self.sentences)

    @property
    def counts(self) -> Counts:
        return Counts(self._sum("truth"), self._sum("predicted"), self._sum("correct"))

    @property
    def precision(self) -> float:
        return self.counts.precision

    @property
    def recall(self) -> float:
        return self.counts.recall

    @property
    def f1(self) -> float:
        return self.counts.f1

    @property
    def unlabelled_f1(self) -> float:
        """F1 of brackets without their labels."""
        return self.counts._replace(correct=self._sum("correct_spans")).f1

    @property
    def exact_match(self) -> float:
        """Share of sentences with all brackets right and no other."""
        return self._share(map(_is_exact, self._compared()))

    @property
    def average_crossing(self) -> float:
        """Predicted brackets that cross a true one, per sentence with a tree."""
        rows = [row.crossing for row in self.sentences if row.status == "valid"]
        return sum(rows) / len(rows) if rows else 0.0

    @property
    def no_crossing(self) -> float:
        """Share of the sentences with a tree in which no bracket crosses a true one."""
        return self._crossing_up_to(0)

    @property
    def two_or_less_crossing(self) -> float:
        return self._crossing_up_to(2)

    def _crossing_up_to(self, n: int) -> float:
        rows = [row for row in self.sentences if row.status == "valid"]
        return self._share(row.crossing <= n for row in rows)

    @property
    def tagging_accuracy(self) -> float:
        """Share of words, without punctuation, that have their true tag."""
        words = self._sum("words")
        return self._sum("correct_tags") / words if words else 0.0

    def table(self) -> np.ndarray:
        """True, predicted and correct brackets of every sentence, as rows."""
        rows = [(row.truth, row.predicted, row.correct) for row in self.sentences]
        return np.array(rows, np.float64).reshape(-1, 3)

    def as_dict(self) -> dict:
        """The numbers of the summary by name."""
        names = (
            "n_sentences n_failed n_skipped precision recall f1 unlabelled_f1 "
            "exact_match average_crossing no_crossing two_or_less_crossing "
            "tagging_accuracy"
        )
        return {name: getattr(self, name) for name in names.split()}

    def __str__(self) -> str:
        short = [row for row in self.sentences if row.length <= SHORT]
        all_, few = self.as_dict(), BracketReport(tuple(short), {}).as_dict()
        lines = [f"{'':26}{'all':>10}{f'<= {SHORT} words':>14}"]
        for title, name, scale in _LINES:
            digits = 0 if name.startswith("n_") else 2
            cells = [scale * numbers[name] for numbers in (all_, few)]
            lines.append(f"{title:<26}{cells[0]:>10.{digits}f}{cells[1]:>14.{digits}f}")
        return "\n".join(lines)


_LINES = (
    ("sentences", "n_sentences", 1),
    ("  without a parse", "n_failed", 1),
    ("  skipped (other words)", "n_skipped", 1),
    ("bracket recall %", "recall", 100),
    ("bracket precision %", "precision", 100),
    ("bracket F1 %", "f1", 100),
    ("F1 without labels %", "unlabelled_f1", 100),
    ("exact match %", "exact_match", 100),
    ("crossing brackets, mean", "average_crossing", 1),
    ("none crossing %", "no_crossing", 100),
    ("at most two crossing %", "two_or_less_crossing", 100),
    ("tagging accuracy %", "tagging_accuracy", 100),
)


def _is_exact(row: SentenceScores) -> bool:
    return row.status == "valid" and row.truth == row.predicted == row.correct


# scores ------------------------------------------------------------------------------


def score_brackets(
    gold_trees: Sequence[Tree],
    predicted_trees: Sequence[Tree | None],
    *,
    delete_labels: Iterable[str] = ROOTS,
    delete_punctuation: bool = True,
    equal_labels: Iterable[Iterable[str]] = EQUAL,
) -> BracketReport:
    """Precision, recall and F1 of labelled brackets, and the rest of evalb's summary.

    Parameters
    ----------
    gold_trees, predicted_trees : lists of Tree
        As many, in the same order. A predicted None is a sentence without a parse.
    delete_labels : labels of phrases that are no brackets
    delete_punctuation : bool
        Take words whose true tag is one of , : `` '' . out of the sentence. Empty
        elements (-NONE-) are always taken out.
    equal_labels : groups of labels that are not told apart

    Examples
    --------
    >>> gold = [Tree.parse("(S (NP (PRP We)) (VP (VBP try) (. .)))")]
    >>> predicted = [Tree.parse("(S (NP (PRP We)) (VP (VBP try)) (. .))")]
    >>> score_brackets(gold, predicted).f1, score_brackets(gold, [None]).recall
    (1.0, 0.0)
    """
    gold, predicted = _pairs(gold_trees, predicted_trees)
    deleted = {EMPTY, *PUNCTUATION} if delete_punctuation else {EMPTY}
    same = {name: min(group) for group in map(set, equal_labels) for name in group}
    drop = set(delete_labels)
    rows: list[SentenceScores] = []
    truth, found, correct = Counter(), Counter(), Counter()  # by label
    for tree, guess in zip(gold, predicted, strict=True):
        words = tree.tags()
        length = sum(tag != EMPTY for _, tag in words)
        kept = [tag not in deleted for _, tag in words]
        a = _brackets(tree, kept, drop, same)
        n_words, status = sum(kept), "valid"
        b: Counter = Counter()
        tags = 0
        if guess is None:
            status = "failed"
        else:
            theirs = guess.tags()
            if [escape(w) for w, _ in words] != [escape(w) for w, _ in theirs]:
                rows.append(SentenceScores(length, 0, 0, 0, 0, 0, 0, 0, "skipped"))
                continue
            b = _brackets(guess, kept, drop, same)
            for (_, tag), (_, other), keep in zip(words, theirs, kept, strict=True):
                tags += keep and tag == other
        both = a & b
        spans = _spans(a) & _spans(b)
        rows.append(
            SentenceScores(
                length=length,
                truth=a.total(),
                predicted=b.total(),
                correct=both.total(),
                correct_spans=spans.total(),
                crossing=_crossing(a, b),
                words=n_words,
                correct_tags=tags,
                status=status,
            )
        )
        for total, new in ((truth, a), (found, b), (correct, both)):
            for (label, _, _), n in new.items():
                total[label] += n
    labels = {
        label: Counts(truth[label], found[label], correct[label])
        for label in sorted({*truth, *found})
    }
    return BracketReport(tuple(rows), labels)


def _brackets(tree: Tree, kept: list[bool], drop: set, same: dict) -> Counter:
    """The brackets, as a multiset, in the numbers of the words that are kept."""
    place = np.concatenate([[0], np.cumsum(kept)]).tolist()
    return Counter(
        (same.get(label, label), place[start], place[end])
        for label, start, end in tree.spans()
        if label not in drop and place[start] < place[end]
    )


def _spans(brackets: Counter) -> Counter:
    spans: Counter = Counter()
    for (_, start, end), n in brackets.items():
        spans[start, end] += n
    return spans


def _crossing(truth: Counter, predicted: Counter) -> int:
    true = set(_spans(truth))
    return sum(
        n
        for (start, end), n in _spans(predicted).items()
        if any(a < start < b < end or start < a < end < b for a, b in true)
    )


# confidence --------------------------------------------------------------------------


def bootstrap(
    gold: Sequence[Tree],
    predicted: Sequence[Tree | None],
    n: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """F1 with a percentile interval over ``n`` draws of sentences with replacement."""
    return f1_interval(score_brackets(gold, predicted).table(), n, seed, level)


def bootstrap_difference(
    gold: Sequence[Tree],
    first: Sequence[Tree | None],
    second: Sequence[Tree | None],
    n: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """F1 of the second minus F1 of the first, over the same draws of sentences.

    An interval without zero says that the difference is more than chance.
    """
    a, b = score_brackets(gold, first), score_brackets(gold, second)
    good = [
        "skipped" not in (x.status, y.status)
        for x, y in zip(a.sentences, b.sentences, strict=True)
    ]
    return f1_difference(a.table()[good], b.table()[good], n, seed, level)


# input -------------------------------------------------------------------------------


def _pairs(gold, predicted) -> tuple[list[Tree], list[Tree | None]]:
    gold, predicted = list(gold), list(predicted)
    if len(gold) != len(predicted):
        raise ValueError(
            f"there are {len(gold)} true trees, but {len(predicted)} predicted ones: give "
            "one predicted tree, or None, per true one."
        )
    for name, trees, kinds in (
        ("gold_trees", gold, Tree),
        ("predicted_trees", predicted, (Tree, type(None))),
    ):
        for i, tree in enumerate(trees):
            if not isinstance(tree, kinds):
                raise ValueError(
                    f"{name}[{i}] is of type {type(tree).__name__}, but it must be a Tree."
                )
    return gold, predicted
