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
from itertools import accumulate
from typing import Any

from maxmargin.core.listed import listed
from maxmargin.metrics import Counts
from maxmargin.metrics.bootstrap import Interval, f1_difference, f1_interval
from maxmargin.trees.brackets import escape
from maxmargin.trees.report import BracketReport, SentenceScores
from maxmargin.trees.tree import Tree, own_tree
from maxmargin.trees.treebank import EMPTY, ROOTS

PUNCTUATION = (",", ":", "``", "''", ".")
EQUAL = (("ADVP", "PRT"),)


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
    rules = _Rules(delete_labels, delete_punctuation, equal_labels)
    rows: list[SentenceScores] = []
    truth, found, correct = Counter(), Counter(), Counter()  # by label
    for tree, guess in zip(gold, predicted, strict=True):
        words = tree.tags()
        kept = rules.kept(words)
        length = sum(tag != EMPTY for _, tag in words)
        theirs: list[tuple[str, Any]] = [(w, None) for w, _ in words]
        if guess is not None:
            theirs = guess.tags()
        if _words(words) != _words(theirs):
            rows.append(SentenceScores(length, 0, 0, 0, 0, 0, 0, 0, "skipped"))
            continue
        a = Counter(rules.brackets(tree, kept).values())
        b = Counter(rules.brackets(guess, kept).values() if guess is not None else ())
        both = a & b
        rows.append(
            SentenceScores(
                length=length,
                truth=a.total(),
                predicted=b.total(),
                correct=both.total(),
                correct_spans=(_spans(a) & _spans(b)).total(),
                crossing=_crossing(a, b),
                words=sum(kept),
                correct_tags=sum(
                    keep and mine[1] == other[1]
                    for keep, mine, other in zip(kept, words, theirs, strict=True)
                ),
                status="failed" if guess is None else "valid",
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


def wrong_tags(gold: Tree, predicted: Tree) -> set[int]:
    """The numbers of the words that have another tag."""
    pairs = zip(gold.tags(), predicted.tags(), strict=True)
    return {k for k, (a, b) in enumerate(pairs) if a[1] != b[1]}


def wrong_brackets(
    gold: Tree,
    predicted: Tree,
    *,
    delete_labels: Iterable[str] = ROOTS,
    delete_punctuation: bool = True,
    equal_labels: Iterable[Iterable[str]] = EQUAL,
) -> tuple[set[int], set[int]]:
    """Which brackets were missed and which predicted ones are wrong.

    Both as places in the lists ``gold.spans()`` and ``predicted.spans()``; the settings
    are those of `score_brackets`.
    """
    words = gold.tags()
    if _words(words) != _words(predicted.tags()):
        raise ValueError("the trees have different words: they cannot be compared.")
    rules = _Rules(delete_labels, delete_punctuation, equal_labels)
    kept = rules.kept(words)
    a, b = rules.brackets(gold, kept), rules.brackets(predicted, kept)
    return _without_partner(a, b), _without_partner(b, a)


class _Rules:
    """What counts as a word and as a bracket."""

    def __init__(self, delete_labels, delete_punctuation, equal_labels):
        self.drop = set(delete_labels)
        self.deleted = {EMPTY, *PUNCTUATION} if delete_punctuation else {EMPTY}
        groups = [set(group) for group in equal_labels]
        self.same = {name: min(group) for group in groups for name in group}

    def kept(self, words: list[tuple[str, str]]) -> list[bool]:
        return [tag not in self.deleted for _, tag in words]

    def brackets(self, tree: Tree, kept: list[bool]) -> dict[int, tuple]:
        """Brackets in the numbers of the words that are kept, by place in spans()."""
        place = list(accumulate(kept, initial=0))
        return {
            k: (self.same.get(label, label), place[start], place[end])
            for k, (label, start, end) in enumerate(tree.spans())
            if label not in self.drop and place[start] < place[end]
        }


def _words(tags: list[tuple[str, str]]) -> list[str]:
    """Words that can be compared: some write brackets as they are, some as -LRB-."""
    return [escape(word) for word, _ in tags]


def _without_partner(mine: dict[int, tuple], other: dict[int, tuple]) -> set[int]:
    free = Counter(other.values())
    alone = set()
    for k, bracket in mine.items():
        if free[bracket]:
            free[bracket] -= 1
        else:
            alone.add(k)
    return alone


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
    gold, predicted = (
        listed(
            trees, f"{name} are of type {type(trees).__name__}: give a list of trees."
        )
        for name, trees in (("gold_trees", gold), ("predicted_trees", predicted))
    )
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
            tree = trees[i] = own_tree(tree, f"{name}[{i}]")
            if not isinstance(tree, kinds):
                raise ValueError(
                    f"{name}[{i}] is of type {type(tree).__name__}, but it must be a Tree."
                )
    return gold, predicted
