"""How good predictions in a taxonomy are: right, right by level, and how far off."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from maxmargin.classes.taxonomy import Node, Taxonomy
from maxmargin.classes.taxonomy.losses import tree_distances, tree_heights
from maxmargin.metrics.report import Report


@dataclass(frozen=True)
class Level:
    """One level of the taxonomy: how many samples reach it, and how well.

    ``score`` is the share whose predicted class has the same ancestors on this level; for
    sets of nodes it is the F1 of the nodes on this level.
    """

    depth: int
    n: int
    score: float


class _ByLevel(Report):
    """Numbers, and a table of the levels."""

    levels: tuple[Level, ...]

    def _measures(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "levels"}

    def _parts(self):
        return "level", {z.depth: {"n": z.n, "score": z.score} for z in self.levels}


@dataclass(frozen=True)
class TaxonomyReport(_ByLevel):
    """Scores of single classes; prints as a table."""

    n: int
    accuracy: float
    macro_f1: float  # mean over the classes that occur, as truth or prediction
    tree_height: float  # mean height of the first common ancestor
    tree_distance: float  # mean number of edges between truth and prediction
    levels: tuple[Level, ...]

    def __str__(self) -> str:
        rows = [
            f"samples        {self.n:>9,}",
            f"accuracy       {100 * self.accuracy:>9.2f} %",
            f"macro F1       {100 * self.macro_f1:>9.2f} %",
            f"tree loss      {self.tree_height:>9.4f}   (height of the common ancestor)",
            f"tree distance  {self.tree_distance:>9.4f}   (edges)",
        ]
        return "\n".join(rows + _level_lines(self.levels, "right"))


@dataclass(frozen=True)
class NodeSetReport(_ByLevel):
    """Scores of sets of nodes; prints as a table."""

    n: int
    accuracy: float  # share of sets that are exactly right
    hamming: float  # mean number of nodes that are in one set but not in the other
    precision: float
    recall: float
    micro_f1: float
    macro_f1: float  # mean over the nodes that occur
    levels: tuple[Level, ...]

    def __str__(self) -> str:
        rows = [
            f"samples        {self.n:>9,}",
            f"exactly right  {100 * self.accuracy:>9.2f} %",
            f"wrong nodes    {self.hamming:>9.4f}   (per sample)",
            f"precision      {100 * self.precision:>9.2f} %",
            f"recall         {100 * self.recall:>9.2f} %",
            f"micro F1       {100 * self.micro_f1:>9.2f} %",
            f"macro F1       {100 * self.macro_f1:>9.2f} %",
        ]
        return "\n".join(rows + _level_lines(self.levels, "F1"))


def _level_lines(levels: tuple[Level, ...], what: str) -> list[str]:
    if len(levels) < 2:
        return []
    head = ["", f"level  samples    {what:>5}"]
    return head + [f"{z.depth:>5}{z.n:>9,}{100 * z.score:>9.2f} %" for z in levels]


def class_scores(
    taxonomy: Taxonomy, truth: Sequence[Node], predicted: Sequence[Node]
) -> TaxonomyReport:
    """Compare predicted classes with the truth.

    >>> t = Taxonomy.from_paths(["a.x", "a.y", "b.z"])
    >>> report = class_scores(t, ["a.x", "a.y", "b.z"], ["a.x", "a.x", "a.x"])
    >>> report.tree_height, [level.score for level in report.levels]
    (1.0, [0.6666666666666666, 0.3333333333333333])
    """
    truth, predicted = _labels(truth), _labels(predicted)
    _check_sizes(truth, predicted)
    names = sorted({*truth, *predicted}, key=taxonomy.position_of)
    number = {name: k for k, name in enumerate(names)}
    a = np.array([number[z] for z in truth])
    b = np.array([number[z] for z in predicted])
    return TaxonomyReport(
        n=len(a),
        accuracy=float((a == b).mean()),
        macro_f1=float(f1_score(a, b, average="macro")),
        tree_height=float(tree_heights(taxonomy, names)[a, b].mean()),
        tree_distance=float(tree_distances(taxonomy, names)[a, b].mean()),
        levels=_class_levels(taxonomy, names, a, b),
    )


def _class_levels(taxonomy, names, a, b) -> tuple[Level, ...]:
    lines = [taxonomy.lineage(taxonomy.position_of(name)) for name in names]
    depth = taxonomy.depth
    levels = []
    for d in range(1, int(depth.max(initial=0)) + 1):
        # classes agree on a level if they have the same ancestors there
        there = [tuple(v for v in line if depth[v] == d) for line in lines]
        codes = {z: k for k, z in enumerate(dict.fromkeys(there))}
        code = np.array([codes[z] for z in there])
        reaches = np.array([bool(z) for z in there])[a]
        if reaches.any():
            score = float((code[a] == code[b])[reaches].mean())
            levels.append(Level(d, int(reaches.sum()), score))
    return tuple(levels)


def node_set_scores(
    taxonomy: Taxonomy,
    truth: Sequence[Collection[Node]],
    predicted: Sequence[Collection[Node]],
) -> NodeSetReport:
    """Compare sets of nodes, after adding the ancestors of their nodes to them."""
    _check_sizes(truth, predicted)
    a, b = _marks(taxonomy, truth), _marks(taxonomy, predicted)
    hits, real, found = (a & b).sum(axis=0), a.sum(axis=0), b.sum(axis=0)
    seen = real + found
    levels = []
    for d in range(int(taxonomy.depth.max(initial=0)) + 1):
        here = taxonomy.depth == d
        if seen[here].sum():
            f1 = 2.0 * hits[here].sum() / seen[here].sum()
            levels.append(Level(d, int(a[:, here].any(axis=1).sum()), float(f1)))
    return NodeSetReport(
        n=len(a),
        accuracy=float((a == b).all(axis=1).mean()),
        hamming=float((a != b).sum(axis=1).mean()),
        precision=_share(hits.sum(), found.sum()),
        recall=_share(hits.sum(), real.sum()),
        micro_f1=_share(2 * hits.sum(), seen.sum()),
        macro_f1=float(np.mean(2.0 * hits[seen > 0] / seen[seen > 0]))
        if seen.any()
        else 1.0,
        levels=tuple(levels),
    )


def _marks(taxonomy: Taxonomy, sets) -> np.ndarray:
    marks = np.zeros((len(sets), len(taxonomy)), bool)
    for i, nodes in enumerate(sets):
        for node in nodes:
            marks[i, list(taxonomy.lineage(taxonomy.position_of(node)))] = True
    return marks


def _labels(labels) -> list:
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)


def _check_sizes(truth, predicted) -> None:
    if len(truth) != len(predicted):
        raise ValueError(
            f"there are {len(truth)} true labels but {len(predicted)} predictions."
        )
    if len(truth) == 0:
        raise ValueError("there are no samples: nothing to compare.")


def _share(part, whole) -> float:
    """part / whole; nothing of nothing is all of it."""
    return float(part / whole) if whole else 1.0
