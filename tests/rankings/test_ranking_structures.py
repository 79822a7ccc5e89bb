"""Top-k lists and swapped pairs against enumeration of all rankings."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core.arrays import csr_arrays
from maxmargin.core.asker import Asker
from maxmargin.core.completion import complete_all, complete_randomly
from maxmargin.core.formulation import make_form
from maxmargin.rankings import pairs, top_k
from maxmargin.testing import FORMULATIONS, check_structure


def random_queries(seed, sizes=(4, 1, 5, 3, 2), n_features=3, grades=3):
    """CSR rows, where queries begin, grades; the last query has one grade only."""
    rng = np.random.default_rng(seed)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    X = rng.normal(size=(first[-1], n_features)) * (
        rng.random((first[-1], n_features)) < 0.8
    )
    y = rng.integers(0, grades, first[-1])
    y[first[-2] :] = seed % 2
    return csr_arrays(X, np.float64), first, y


def lists(batch, i):
    """Every list of k documents, or of all if there are fewer."""
    n = int(batch.start[i + 1] - batch.start[i])
    for chosen in combinations(range(n), min(n, batch.k)):
        y = np.zeros(n, np.int32)
        y[list(chosen)] = 1
        yield y


def swaps(batch, i):
    """Every output of a pair batch: sets of pairs, or what rankings swap."""
    grade = batch.grade[batch.first[i] : batch.first[i + 1]]
    n = len(grade)
    wanted = [(a, b) for a in range(n) for b in range(n) if grade[a] > grade[b]]
    if batch.kind == pairs.PAIRWISE:
        swapped = (
            [pair for pair, on in zip(wanted, chosen, strict=True) if on]
            for chosen in product((0, 1), repeat=len(wanted))
        )
    else:
        swapped = (
            [(a, b) for a, b in wanted if order.index(b) < order.index(a)]
            for order in permutations(range(n))
        )
    for chosen in swapped:
        y = np.zeros(n + 1, np.int32)
        for a, b in chosen:
            y[a] += 1
            y[b] -= 1
        y[n] = len(chosen)
        yield y


def top_k_batch(seed, k=2):
    rows, first, y = random_queries(seed)
    return top_k.make_batch(rows, first, 3, y > 0, k)


def pair_batch(seed, kind):
    rows, first, y = random_queries(seed)
    grades = y if kind == "pairwise" else y > 0
    return pairs.make_batch(rows, first, 3, grades, pairs.KINDS[kind])


@pytest.mark.parametrize("k", [1, 2, 4, 9])
def test_lists_equal_enumeration(k):
    for seed in range(3):
        check_structure(top_k_batch(seed, k), 3, lists, seed=seed)


@pytest.mark.parametrize("kind", sorted(pairs.KINDS))
def test_pairs_equal_enumeration(kind):
    for seed in range(3):
        check_structure(pair_batch(seed, kind), 3, swaps, seed=seed)


@given(seed=st.integers(0, 10**6), k=st.integers(1, 6))
def test_lists_are_searched_exactly_in_every_formulation(seed, k):
    batch = top_k_batch(seed, k)
    w = np.random.default_rng(seed).normal(size=3)
    batch = batch._replace(y=complete_randomly(batch, 3, np.random.default_rng(seed)))
    for i in range(len(batch.start) - 1):
        ask = Asker(batch, i, w, True)
        outputs = list(lists(batch, i))
        losses = np.array([ask.loss(y) for y in outputs])
        margins = np.array([ask.margin(y) for y in outputs])
        for rescaling, penalty in FORMULATIONS:
            form = make_form(rescaling, penalty, 1e-6)
            c = np.sqrt(losses) if form.quadratic else losses
            best = (c - (c if form.slack else 1.0) * margins).max()
            bound, *_ = ask.most_violated(form)
            assert bound == pytest.approx(best, abs=1e-9)


@given(seed=st.integers(0, 10**6), k=st.integers(1, 6))
def test_completion_is_the_best_list_without_loss(seed, k):
    batch = top_k_batch(seed, k)
    w = np.random.default_rng(seed).normal(size=3)
    truths = complete_all(batch, w)
    for i in range(len(batch.start) - 1):
        ask = Asker(batch, i, w, True)
        found = truths[batch.start[i] : batch.start[i + 1]]
        wanted = max(ask.value(y) for y in lists(batch, i) if ask.loss(y) == 0)
        assert ask.loss(found) == 0
        assert ask.value(found) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("kind", sorted(pairs.KINDS))
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.0, 0.3, 1.0, 5.0]))
def test_pairs_are_searched_exactly(kind, seed, scale):
    batch = pair_batch(seed, kind)
    w = np.random.default_rng(seed).normal(size=3) * 2.0 ** (seed % 5 - 2)
    for i in range(len(batch.start) - 1):
        ask = Asker(batch, i, w, True)
        y = ask.argmax(scale)
        assert any((y == other).all() for other in swaps(batch, i))
        best = max(ask.value(z) + scale * ask.loss(z) for z in swaps(batch, i))
        assert ask.value(y) + scale * ask.loss(y) == pytest.approx(best, abs=1e-9)


def test_losses_are_those_of_the_metrics():
    from maxmargin.rankings.metrics import mean_average_precision, ndcg_at_k

    for seed in range(5):
        for kind, metric in (
            ("average-precision", mean_average_precision),
            ("ndcg", lambda y, s, q: ndcg_at_k(y, s, q, 99)),
        ):
            batch = pair_batch(seed, kind)
            for i in range(3):
                w = np.random.default_rng(seed).normal(size=3)
                ask = Asker(batch, i, w, True)
                grade = batch.grade[batch.first[i] : batch.first[i + 1]]
                if grade.any():
                    n = len(grade)
                    wanted = 1 - metric(grade, ask.theta[0, :n], np.zeros(n, int))
                    assert ask.loss(ask.argmax(0.0)) == pytest.approx(wanted)


def test_many_grades_are_counted_without_listing_pairs():
    rng = np.random.default_rng(0)
    n = 200
    rows = csr_arrays(rng.normal(size=(n, 2)), np.float64)
    grades = rng.normal(size=n).round(1)  # many grades, and ties
    batch = pairs.make_batch(rows, np.array([0, n]), 2, grades, pairs.PAIRWISE)
    ask = Asker(batch, 0, np.array([1.0, -0.5]), True)
    y, theta = ask.argmax(0.7), ask.theta[0]
    swapped = (grades[:, None] > grades) & (theta[:, None] - theta < 0.7)
    np.testing.assert_array_equal(y[:n], swapped.sum(axis=1) - swapped.sum(axis=0))
    assert y[n] == swapped.sum()
