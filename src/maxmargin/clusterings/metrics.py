"""How good clusters are: MUC, B-cubed, CEAF, their average, pair and MITRE losses.

True and predicted clusters are of the same mentions. Counts are summed over all documents
before they are divided, as the scorer of the CoNLL-2012 shared task does; the two losses,
those of Finley & Joachims (2005), are means over documents, in per cent.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from maxmargin.clusterings.documents import first_mentions
from maxmargin.metrics.report import Report


class Rates(NamedTuple):
    """Precision, recall and their harmonic mean, from 0 to 1."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class ClusterReport(Report):
    """Scores from 0 to 1, and two losses in per cent.

    muc         links that are needed to join true clusters (Vilain et al. 1995)
    b_cubed     mean over mentions of the overlap of both clusters (Bagga & Baldwin 1998)
    ceaf_e      best one-to-one map of clusters, similarity 2 |both| / sum of sizes (phi 4)
    ceaf_m      the same, similarity |both| (phi 3; Luo 2005)
    conll       mean F1 of muc, b_cubed and ceaf_e
    mitre_loss  100 (1 - F1 of MUC), mean over documents
    pair_loss   per cent of pairs that are together in one of both clusterings only
    """

    muc: Rates
    b_cubed: Rates
    ceaf_e: Rates
    ceaf_m: Rates
    conll: float
    mitre_loss: float
    pair_loss: float
    documents: int
    mentions: int
    clusters: int
    found: int

    def _measures(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if not isinstance(v, Rates)}

    def _parts(self):
        rates = {k: v._asdict() for k, v in vars(self).items() if isinstance(v, Rates)}
        return "measure", rates

    def __str__(self) -> str:
        names = {
            "MUC": self.muc,
            "B-cubed": self.b_cubed,
            "CEAF, entities": self.ceaf_e,
            "CEAF, mentions": self.ceaf_m,
        }
        head = (
            f"{self.documents} documents, {self.mentions:,} mentions, "
            f"{self.clusters:,} clusters, {self.found:,} predicted"
        )
        lines = [head, "", f"{'':16s} precision  recall      F1"]
        for name, (p, r, f) in names.items():
            lines.append(f"{name:16s} {100 * p:8.2f} {100 * r:8.2f} {100 * f:8.2f}")
        lines.append(f"{'CoNLL average':34s}{100 * self.conll:8.2f}")
        lines += [
            "",
            f"MITRE loss {self.mitre_loss:.2f}, pair loss {self.pair_loss:.2f}",
        ]
        return "\n".join(lines)


def cluster_scores(truth: Any, found: Any) -> ClusterReport:
    """Compare clusters: for every document, an id per mention (or groups of mentions).

    >>> report = cluster_scores([[0, 0, 0, 1, 1]], [[0, 0, 1, 1, 1]])
    >>> round(report.muc.f1, 3), round(report.b_cubed.f1, 3), report.pair_loss
    (0.667, 0.733, 40.0)
    """
    truth, found = list(truth), list(found)
    if len(truth) != len(found):
        raise ValueError(
            f"there are {len(truth)} documents with true and {len(found)} with predicted "
            "clusters: give both for each."
        )
    counts = {name: np.zeros(4) for name in ("muc", "b_cubed", "ceaf_e", "ceaf_m")}
    mitre, pairs, mentions, sizes = [], [], 0, [0, 0]
    for i, (true, other) in enumerate(zip(truth, found, strict=True)):
        y = first_mentions(true, None, f"document {i}, truth")
        h = first_mentions(other, len(y), f"document {i}, prediction")
        table, parts = _overlaps(y, h), cluster_counts(y, h)
        for name, part in parts.items():
            counts[name] += part
        mitre.append(100.0 * (1.0 - _rates(*parts["muc"]).f1))
        pairs.append(_pair_loss(table))
        mentions += len(y)
        sizes = [sizes[0] + table.shape[0], sizes[1] + table.shape[1]]
    rates = {name: _rates(*count) for name, count in counts.items()}
    return ClusterReport(
        **rates,
        conll=(rates["muc"].f1 + rates["b_cubed"].f1 + rates["ceaf_e"].f1) / 3,
        mitre_loss=float(np.mean(mitre)) if mitre else 0.0,
        pair_loss=float(np.mean(pairs)) if pairs else 0.0,
        documents=len(truth),
        mentions=mentions,
        clusters=sizes[0],
        found=sizes[1],
    )


def cluster_counts(y: np.ndarray, h: np.ndarray) -> dict[str, np.ndarray]:
    """What the scores of one document are made of: (right, found, right, true) of each."""
    table = _overlaps(y, h)
    return {
        "muc": _muc(table),
        "b_cubed": _b_cubed(table),
        "ceaf_e": _ceaf(table, True),
        "ceaf_m": _ceaf(table, False),
    }


def _overlaps(y, h) -> np.ndarray:
    """How many mentions every true and every predicted cluster share."""
    _, rows = np.unique(y, return_inverse=True)
    _, columns = np.unique(h, return_inverse=True)
    table = np.zeros((rows.max(initial=-1) + 1, columns.max(initial=-1) + 1))
    for place, count in Counter(
        zip(rows.tolist(), columns.tolist(), strict=True)
    ).items():
        table[place] = count
    return table


# each returns (right in the prediction, its size, right in the truth, its size)


def _muc(table) -> np.ndarray:
    """Links: a cluster of n needs n - 1, less one for every part beyond the first."""
    n, links = table.sum(), (table > 0).sum()
    both = n - links
    return np.array([both, n - table.shape[1], both, n - table.shape[0]])


def _b_cubed(table) -> np.ndarray:
    """Sums over mentions of the share of their cluster that the other one has too."""
    n = table.sum()
    precision = (table**2 / np.maximum(table.sum(axis=0), 1)).sum()
    recall = (table**2 / np.maximum(table.sum(axis=1, keepdims=True), 1)).sum()
    return np.array([precision, n, recall, n])


def _ceaf(table, relative: bool) -> np.ndarray:
    similarity = table
    own, other = table.sum(axis=1), table.sum(axis=0)
    if relative:
        similarity = 2 * table / np.maximum(own[:, None] + other[None, :], 1)
        sizes = [table.shape[1], table.shape[0]]
    else:
        sizes = [table.sum(), table.sum()]
    best = similarity[linear_sum_assignment(-similarity)].sum()
    return np.array([best, sizes[0], best, sizes[1]])


def _rates(hits, found, recalled, true) -> Rates:
    """1 where there is nothing to find, and nothing was; else 0 of nothing."""
    if found == 0 and true == 0:
        return Rates(1.0, 1.0, 1.0)
    precision = hits / found if found else 0.0
    recall = recalled / true if true else 0.0
    total = precision + recall
    f1 = 2 * precision * recall / total if total else 0.0
    return Rates(float(precision), float(recall), float(f1))


def _pair_loss(table) -> float:
    def pairs(counts):
        return (counts * (counts - 1) / 2).sum()

    whole = pairs(table.sum())
    wrong = pairs(table.sum(axis=0)) + pairs(table.sum(axis=1)) - 2 * pairs(table)
    return float(100.0 * wrong / whole) if whole else 0.0
