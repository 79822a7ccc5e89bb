"""Losses between classes of random trees and DAGs, against their definitions."""

import itertools

import numpy as np
import pytest

from maxmargin.classes.taxonomy import Taxonomy
from maxmargin.classes.taxonomy.losses import tree_distances, tree_heights


def random_dag(seed, n=9):
    """Nodes in any order, so that no order of theirs is one of heights."""
    rng = np.random.default_rng(seed)
    names = [f"n{k}" for k in rng.permutation(n)]
    parents = {
        name: [names[p] for p in rng.permutation(k)[: rng.integers(0, 3)]]
        for k, name in enumerate(names)
    }
    shuffled = [names[k] for k in rng.permutation(n)]
    return {name: parents[name] for name in shuffled}


def by_definition(parents):
    """{(a, b): (smallest height, smallest distance) over common ancestors}."""
    nodes = list(parents)
    below = {v: [c for c in nodes if v in parents[c]] for v in nodes}

    def height(v):
        return max((1 + height(c) for c in below[v]), default=0)

    def ways(v):
        found = {v: 0}
        for p in parents[v]:
            for u, d in ways(p).items():
                found[u] = min(found.get(u, d + 1), d + 1)
        return found

    roots = [v for v in nodes if not parents[v]]
    top = max(map(height, nodes)) + 1
    out = {}
    for a, b in itertools.product(nodes, repeat=2):
        up, other = ways(a), ways(b)
        both = [(height(v), up[v] + other[v]) for v in up if v in other]
        if len(roots) > 1:  # the root without a name
            over = [min(d + 1 for v, d in w.items() if v in roots) for w in (up, other)]
            both.append((top, sum(over)))
        heights, lengths = zip(*both, strict=True)
        out[a, b] = (0, 0) if a == b else (min(heights), min(lengths))
    return out


@pytest.mark.parametrize("seed", range(25))
def test_losses_are_the_smallest_over_common_ancestors(seed):
    parents = random_dag(seed)
    taxonomy, classes = Taxonomy(parents), sorted(parents)
    want = by_definition(parents)
    tables = tree_heights(taxonomy, classes), tree_distances(taxonomy, classes)
    for (i, a), (j, b) in itertools.product(enumerate(classes), repeat=2):
        assert tuple(table[i, j] for table in tables) == want[a, b], (a, b, parents)
