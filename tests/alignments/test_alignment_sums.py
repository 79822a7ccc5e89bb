"""Sums over alignments whose scores are far apart, against lists and plain log-sums."""

import numpy as np
import pytest
from alignment_cases import (
    enumerate_alignments,
    marginals,
    random_alignment,
    random_batch,
)
from far_cases import SEEDS, check_listed, check_sums, far_scores
from hypothesis import given
from hypothesis import strategies as st
from partial_cases import consistent
from scipy.special import logsumexp

from maxmargin.alignments.dp import Gaps
from maxmargin.core import contract
from maxmargin.core.kernel import kernel, run
from maxmargin.core.partial import partly_known

FREE = st.sampled_from([(0, 0), (1, 0), (0, 1), (1, 1)])


@given(SEEDS, FREE, st.sampled_from([0.0, 0.3]), st.sampled_from([0.2, 0.8]))
def test_sums_equal_enumeration(seed, free, walls, share):
    rng = np.random.default_rng(seed)
    batch, model = random_batch(seed, free=free)
    partial = partly_known(batch, rng.random(len(batch.y)) < share)
    for i in range(len(batch.start) - 1):
        outputs = list(enumerate_alignments(batch, i))
        check_listed(batch, i, model.n_weights, outputs, rng, walls)
        agree = consistent(partial, i, outputs)
        check_listed(partial, i, model.n_weights, outputs, rng, 0.0, agree)


def plain_sums(match, gaps, wanted):
    """(log Z, probabilities of pairs), by the pair before and the pair after each.

    ``wanted`` are the positions of s that must be matched.
    """
    n, m = match.shape
    runs = np.concatenate([[0.0], np.cumsum(gaps.extend_s)])
    needs = np.concatenate([[0], np.cumsum(wanted)])
    jumps = np.concatenate([[0.0], np.cumsum(gaps.extend_t)])

    def between(i0, j0, i, j, end):
        """The runs between two pairs, or an end and a pair; arrays i0, j0."""
        s, t = i - i0 - 1, j - j0 - 1
        at = np.minimum(i0 + 1, n - 1), np.minimum(j0 + 1, m - 1)
        of_s = gaps.open_s[at[0]] + gaps.at_t[j0 + 1] + runs[i] - runs[i0 + 1]
        of_t = gaps.open_t[at[1]] + gaps.at_s[i] + jumps[j] - jumps[j0 + 1]
        total = np.where((s > 0) & (end * gaps.free_s == 0), of_s, 0.0)
        total = total + np.where((t > 0) & (end * gaps.free_t == 0), of_t, 0.0)
        good = (s >= 0) & (t >= 0) & (needs[i] == needs[i0 + 1])
        return np.where(good, total, -np.inf)

    grid = np.indices((n, m)).reshape(2, -1)
    i, j = grid[:, :, None]
    step = between(*grid[:, None, :], i, j, 0)  # [to, from]
    start = between(np.array([-1]), np.array([-1]), *grid, 1)
    stop = between(*grid, n, m, 1)
    ahead, behind, x = np.full(n * m, -np.inf), stop.copy(), match.ravel()
    for k in range(n * m):
        ahead[k] = x[k] + np.logaddexp(logsumexp(ahead + step[k]), start[k])
    for k in range(n * m - 1, -1, -1):
        behind[k] = np.logaddexp(logsumexp(behind + x + step[:, k]), stop[k])
    nothing = between(np.array([-1]), np.array([-1]), n, m, 1)[0]
    total = np.logaddexp(logsumexp(ahead + stop), nothing)
    return total, np.exp(ahead + behind - total).reshape(n, m)


def far_gaps(rng, n, m, free):
    sizes = n, m + 1, n, m, n + 1, m
    return Gaps(*(far_scores(rng, size) for size in sizes), *free)


@given(SEEDS, st.integers(1, 14), st.integers(1, 14), FREE)
def test_sums_of_longer_pairs(seed, n, m, free):
    rng = np.random.default_rng(seed)
    match, gaps = far_scores(rng, (n, m)), far_gaps(rng, n, m, free)
    wanted = plain_sums(match, gaps, np.zeros(n, int))
    check_sums(marginals(match, gaps), wanted)


@kernel
def known_sums_of(batch, theta, mu):
    work = np.zeros(contract.sums_room(batch))
    return contract.known_sums(batch, 0, theta, mu, work)


def known_case(theta, known, y, n, m, free):
    """(what known_sums() finds, log Z and pairs) of one pair of sequences."""
    batch, _ = random_batch(0, ((n, m),), free=free)
    batch.y[:] = y
    flat, mu = np.zeros(contract.shape(batch)), np.zeros(contract.shape(batch))
    flat[0, : len(theta)] = theta
    found = run(known_sums_of, partly_known(batch, known), flat, mu)
    match = theta[: n * m].reshape(n, m).copy()
    for k in np.flatnonzero(known):
        match[k, np.arange(m) != y[k]] = -np.inf
    cuts = n * m + np.cumsum([n, m + 1, n, m, n + 1])
    gaps = Gaps(*np.split(theta[n * m :], cuts - n * m), *free)
    total, pairs = plain_sums(match, gaps, known & (y >= 0))
    return (found, mu[0, : n * m].reshape(n, m)), (total, pairs)


@given(SEEDS, st.integers(1, 12), st.integers(1, 12), FREE)
def test_known_sums_of_longer_pairs(seed, n, m, free):
    rng = np.random.default_rng(seed)
    y, known = random_alignment(rng, n, m), rng.random(n) < rng.choice([0.1, 0.5])
    theta = far_scores(rng, n * m + 3 * (n + m) + 2)
    check_sums(*known_case(theta, known, y, n, m, free))


@pytest.mark.parametrize("free", [(1, 0), (1, 1)])
def test_what_is_known_counts_however_many_alignments_contradict_it(free):
    n = 45  # e^60 alignments of equal scores, and one of them agrees
    y, known = np.full(n, -1), np.zeros(n, bool)
    y[0], known[0] = n - 1, True
    theta = np.zeros(n * n + 6 * n + 2)
    found, wanted = known_case(theta, known, y, n, n, free)
    assert wanted[0] == 0.0
    check_sums(found, wanted)


def test_known_sums_of_large_scores_keep_their_digits():
    n, rng = 40, np.random.default_rng(0)
    theta = 1000.0 * rng.normal(size=n * n + 6 * n + 2)
    known = rng.random(n) < 0.6
    check_sums(*known_case(theta, known, np.arange(n), n, n, (1, 1)))
