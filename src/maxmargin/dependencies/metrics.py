"""How good predicted trees are: attachment scores, with and without punctuation.

A word is attached right if it has its true head (unlabelled attachment score, UAS), and
its true label, too (LAS). Punctuation is what has a tag of the Penn Treebank for it
(, : `` '' .) or of Universal Dependencies (PUNCT); publications on the Penn Treebank leave
it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.dependencies.input import read_sentences, read_trees
from maxmargin.metrics import Counts
from maxmargin.metrics.report import Report

PUNCTUATION = frozenset({",", ":", "``", "''", ".", "PUNCT"})


class SentenceScores(NamedTuple):
    """The numbers of one sentence; those of words without punctuation have a plain_."""

    words: int
    heads: int  # words with the true head
    both: int  # words with the true head and label
    plain_words: int
    plain_heads: int
    plain_both: int


@dataclass(frozen=True)
class DependencyReport(Report):
    """Attachment scores, from 0 to 1.

    uas, las               right heads; right heads with right labels
    plain_uas, plain_las   the same without punctuation
    label_accuracy         right labels, whatever their heads
    complete               sentences with all heads right
    plain_complete         the same without punctuation
    root_accuracy          sentences whose root is right

    ``labels`` has the :class:`~maxmargin.metrics.Counts` of arcs by label, ``sentences`` a
    row for each sentence. Without labels, those measures are of heads alone.
    """

    uas: float
    las: float
    plain_uas: float
    plain_las: float
    label_accuracy: float
    complete: float
    plain_complete: float
    root_accuracy: float
    words: int
    plain_words: int
    sentences: tuple[SentenceScores, ...]
    labels: dict[str, Counts]

    def _measures(self) -> dict[str, Any]:
        return {
            k: v for k, v in vars(self).items() if k not in ("sentences", "labels")
        } | {"n_sentences": len(self.sentences)}

    def _parts(self):
        return "label", {label: found.as_dict() for label, found in self.labels.items()}

    def __str__(self) -> str:
        lines = [
            f"{len(self.sentences):,} sentences, {self.words:,} words, "
            f"{self.plain_words:,} without punctuation",
            "",
            f"{'':22s}{'all words':>12s}{'no punctuation':>17s}",
        ]
        for title, a, b in (
            ("heads (UAS)", self.uas, self.plain_uas),
            ("heads, labels (LAS)", self.las, self.plain_las),
            ("complete sentences", self.complete, self.plain_complete),
        ):
            lines.append(f"{title:22s}{100 * a:11.2f}%{100 * b:16.2f}%")
        lines.append(f"{'labels':22s}{100 * self.label_accuracy:11.2f}%")
        lines.append(f"{'roots':22s}{100 * self.root_accuracy:11.2f}%")
        return "\n".join(lines)


def attachment_scores(
    X: Any, truth: Any, found: Any, *, punctuation: Any = PUNCTUATION
) -> DependencyReport:
    """Compare predicted heads (and labels) with true ones.

    Parameters
    ----------
    X : sentences, lists of (word, tag)
    truth, found : lists with a head, or (head, label), for every word
    punctuation : tags of words that some numbers leave out

    >>> X = [[("dogs", "NNS"), ("bark", "VBP"), (".", ".")]]
    >>> report = attachment_scores(X, [[2, 0, 2]], [[2, 0, 1]])
    >>> round(report.uas, 3), report.plain_uas
    (0.667, 1.0)
    """
    X = read_sentences(X)
    sizes = [len(sentence) for sentence in X]
    true, other = (read_trees(y, sizes, strict=False) for y in (truth, found))
    left_out = set(punctuation)
    plain = np.array([tag not in left_out for s in X for _, tag in s], bool)
    heads = true.heads == other.heads
    labels = np.array(
        [a == b for a, b in zip(true.labels, other.labels, strict=True)], bool
    )
    both = heads & labels
    columns = np.ones(len(heads), bool), heads, both, plain, heads & plain, both & plain
    ends = [np.concatenate([[0], np.cumsum(column)])[true.start] for column in columns]
    rows = [SentenceScores(*row) for row in np.diff(ends, axis=1).T.tolist()]
    totals = [int(column.sum()) for column in columns]
    return DependencyReport(
        uas=_share(totals[1], totals[0]),
        las=_share(totals[2], totals[0]),
        plain_uas=_share(totals[4], totals[3]),
        plain_las=_share(totals[5], totals[3]),
        label_accuracy=_share(int(labels.sum()), totals[0]),
        complete=_share(sum(r.heads == r.words for r in rows), len(rows)),
        plain_complete=_share(
            sum(r.plain_heads == r.plain_words for r in rows), len(rows)
        ),
        root_accuracy=_share(
            int(heads[true.heads == 0].sum()), int((true.heads == 0).sum())
        ),
        words=totals[0],
        plain_words=totals[3],
        sentences=tuple(rows),
        labels=_by_label(true.labels, other.labels, both),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _by_label(true: Sequence, found: Sequence, both: np.ndarray) -> dict[str, Counts]:
    there, said = Counter(true), Counter(found)
    right = Counter(label for label, good in zip(true, both, strict=True) if good)
    names = sorted(name for name in there | said if name is not None)
    return {name: Counts(there[name], said[name], right[name]) for name in names}
