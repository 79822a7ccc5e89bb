"""Sums over derivations whose scores are far apart, against plain log-sums."""

import numpy as np
from far_cases import SEEDS, chain_sums, check_sums, far_scores
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import HypergraphBuilder


@given(SEEDS, st.integers(2, 40), st.sampled_from([0.0, 0.4]))
def test_marginals_of_long_chains_far_apart(seed, length, walls):
    rng = np.random.default_rng(seed)
    builder = HypergraphBuilder("end")
    for t, k in np.ndindex(length, 3):
        for j in range(3) if t else [None]:
            tails = [] if j is None else [(t - 1, j)]
            builder.edge((t, k), *tails, part=(t, j, k))
    for k in range(3):
        builder.edge("end", (length - 1, k))
    graph = builder.build()
    first = far_scores(rng, 3)
    steps = far_scores(rng, (length - 1, 3, 3), walls)
    nodes = np.concatenate([[first], np.zeros((length - 1, 3))])
    total, p, pairs = chain_sums(nodes, steps)
    theta = [first[k] if t == 0 else steps[t - 1, j, k] for t, j, k in graph.parts]
    if total == -np.inf:
        assert graph.log_partition(theta) == total
        return
    wanted = [p[0, k] if t == 0 else pairs[t - 1, j, k] for t, j, k in graph.parts]
    check_sums((graph.log_partition(theta), graph.marginals(theta)), (total, wanted))
