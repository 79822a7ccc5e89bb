"""Random sentences, all their trees, and batches of them."""

from itertools import pairwise, product

import numpy as np

from maxmargin.dependencies.batches import ProjectiveBatch, TreeBatch
from maxmargin.dependencies.features import FIRST, ROOT, Sentences

ARC_ROWS, LABEL_ROWS = 16, 8  # few: features collide, which must not matter


def is_tree(heads) -> bool:
    """heads[t] is that of word t + 1; one root, no cycle."""
    if sum(h == 0 for h in heads) != 1 or any(h == t + 1 for t, h in enumerate(heads)):
        return False
    for t in range(len(heads)):
        at, steps = t + 1, 0
        while at and steps <= len(heads):
            at, steps = heads[at - 1], steps + 1
        if at:
            return False
    return True


def is_projective(heads) -> bool:
    arcs = [tuple(sorted((h, t + 1))) for t, h in enumerate(heads)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def all_trees(n: int, projective: bool = False) -> list[tuple[int, ...]]:
    if n == 0:
        return [()]
    every = product(*[range(n + 1)] * n)
    return [h for h in every if is_tree(h) and (not projective or is_projective(h))]


def labelled(heads, n_labels: int):
    """All labellings of a tree."""
    for labels in product(*[range(n_labels)] * len(heads)):
        yield np.array(heads, np.int32) * n_labels + np.array(labels, np.int32)


def outputs(batch, i):
    n = int(batch.start[i + 1] - batch.start[i])
    projective = (
        "Projective" in type(batch).__name__ or "Sibling" in type(batch).__name__
    )
    for heads in all_trees(n, projective):
        for y in labelled(heads, batch.n_labels):
            yield y.astype(np.int32)


def random_sentences(rng, sizes, n_words=6, n_tags=3) -> Sentences:
    first = np.cumsum([0, *(n + 1 for n in sizes)])
    total = int(first[-1])
    words = rng.integers(FIRST, FIRST + n_words, total).astype(np.int32)
    tags = rng.integers(FIRST, FIRST + n_tags, total).astype(np.int32)
    words[first[:-1]] = tags[first[:-1]] = ROOT
    kinds, n_kinds = np.zeros(total, np.int32), []
    for a, b in pairwise(first):
        _, found = np.unique(tags[a:b], return_inverse=True)
        kinds[a:b] = found
        n_kinds.append(found.max() + 1)
    return Sentences(first, words, words // 2, tags, kinds, np.array(n_kinds, np.int32))


def random_batch(seed, sizes=(3, 1, 2, 0), n_labels=2, kind=ProjectiveBatch):
    rng = np.random.default_rng(seed)
    start = np.cumsum([0, *sizes])
    y = []
    for n in sizes:
        trees = all_trees(n, kind is not TreeBatch)
        heads = np.array(trees[rng.integers(len(trees))], np.int32)
        y.append(heads * n_labels + rng.integers(n_labels, size=n))
    y = np.concatenate([np.zeros(0, int), *y]).astype(np.int32)
    width = n_labels if n_labels > 1 else 0
    sentences = random_sentences(rng, sizes)
    return kind(start, y, sentences, n_labels, ARC_ROWS, LABEL_ROWS, width)


def n_weights(batch) -> int:
    return 16 * batch.arc_rows + batch.label_rows * batch.width
