"""Probabilities of labelled arcs under exp(score) / Z."""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import kernel
from maxmargin.dependencies.batches import TreeBatch
from maxmargin.dependencies.inside_outside import projective_sums
from maxmargin.dependencies.k_best import labelled_scores
from maxmargin.dependencies.matrix_tree import tree_sums


def chances_of(batch, i: int, w: np.ndarray) -> np.ndarray:
    """(n + 1, n + 1, labels) of example i, by head, word and label."""
    scores = labelled_scores(batch, i, np.ascontiguousarray(w))
    if len(scores) == 1:
        return np.zeros_like(scores)
    top = scores.max(axis=2, keepdims=True)
    top[top == -np.inf] = 0.0
    powers = np.exp(scores - top)
    total = powers.sum(axis=2)
    with np.errstate(divide="ignore"):
        arcs = np.log(total) + top[:, :, 0]
    chances = np.empty_like(arcs)
    (all_chances if isinstance(batch, TreeBatch) else projective_chances)(arcs, chances)
    share = np.divide(chances, total, out=np.zeros_like(total), where=total > 0)
    return powers * share[:, :, None]


@kernel
def projective_chances(arcs, chances):
    projective_sums(arcs, chances)


@kernel
def all_chances(arcs, chances):
    tree_sums(arcs, chances)
