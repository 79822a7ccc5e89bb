"""Top-k lists and swapped pairs against enumeration of all rankings."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core.completion import complete_all, complete_randomly
from maxmargin.core.formulation import make_form
from maxmargin.core.problems.asker import Asker
from maxmargin.core.tables.arrays import csr_arrays
from maxmargin.rankings import pairs, top_k
from maxmargin.rankings.metrics import mean_average_precision, ndcg_at_k
from maxmargin.rankings.queries import gains
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
    """Every list of as many documents as count."""
    n = int(batch.start[i + 1] - batch.start[i])
    for chosen in combinations(range(n), batch.k[i]):
        y = np.zeros(n, np.int32)
        y[list(chosen)] = 1
        yield y


def swaps(batch, i):
    """Every output of a pair batch: sets of pairs, or what a ranking per level swaps."""
    grade = batch.grade[batch.first[i] : batch.first[i + 1]]
    levels = range(batch.level[i + 1] - batch.level[i])
    for chosen in product(*(swaps_at(batch, grade, t) for t in levels)):
        yield np.concatenate(chosen)


def swaps_at(batch, grade, t):
    n = len(grade)
    if batch.kind == pairs.PAIRWISE:
        wanted = [(a, b) for a in range(n) for b in range(n) if grade[a] > grade[b]]
        swapped = (
            [pair for pair, on in zip(wanted, chosen, strict=True) if on]
            for chosen in product((0, 1), repeat=len(wanted))
        )
    else:
        swapped = (swapped_by(order, grade > t) for order in permutations(range(n)))
    found = {tuple(swaps_of(chosen, n).tolist()) for chosen in swapped}
    return [np.array(y, np.int32) for y in sorted(found)]


def swapped_by(order, relevant):
    place = np.argsort(order)
    return [
        (a, b)
        for a in np.flatnonzero(relevant)
        for b in np.flatnonzero(~relevant)
        if place[b] < place[a]
    ]


def swaps_of(chosen, n):
    y = np.zeros(n + 1, np.int32)
    for a, b in chosen:
        y[a] += 1
        y[b] -= 1
    y[n] = len(chosen)
    return y


def top_k_batch(seed, k=2):
    rows, first, y = random_queries(seed)
    return top_k.make_batch(rows, first, 3, y > 0, k)


def pair_batch(seed, kind):
    rows, first, y = random_queries(seed)
    if kind == "ndcg":
        y = gains(y)
    grades = y > 0 if kind == "average-precision" else y
    return pairs.make_batch(rows, first, 3, grades, pairs.KINDS[kind])


@pytest.mark.parametrize("k", [1, 2, 4, 9])
def test_lists_equal_enumeration(k):
    for seed in range(3):
        check_structure(top_k_batch(seed, k), 3, lists, seed=seed)


@pytest.mark.parametrize("kind", sorted(pairs.KINDS))
def test_pairs_equal_enumeration(kind):
    for seed in range(3):
        check_structure(pair_batch(seed, kind), 3, swaps, seed=seed)


@pytest.mark.parametrize("kind", ["list", "average-precision", "ndcg", "pairwise"])
def test_what_is_no_output_is_refused(kind):
    """Outputs with two slots changed. (Of pairs with many grades, not all is known.)"""
    rng = np.random.default_rng(0)
    batch = top_k_batch(0) if kind == "list" else pair_batch(0, kind)
    outputs = lists if kind == "list" else swaps
    refused = 0
    for i in range(len(batch.start) - 1):
        ask = Asker(batch, i, np.zeros(3), True)
        known = {tuple(y.tolist()) for y in outputs(batch, i)}
        several = sorted(known)
        for _ in range(100):
            y = np.array(several[rng.integers(len(several))], np.int32)
            for slot in rng.integers(len(y), size=2):
                y[slot] += rng.choice(
                    [-(2**30), -7, -1, 1, 7], p=[0.1, 0.1, 0.3, 0.4, 0.1]
                )
            found = ask.possible(y)
            right = tuple(y.tolist()) in known
            assert found or not right
            assert right or not found or kind == "pairwise"
            refused += not found
    assert refused > 200


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


@pytest.mark.parametrize("kind", ["average-precision", "ndcg"])
@given(seed=st.integers(0, 10**6))
def test_losses_are_those_of_the_metrics(kind, seed):
    """Of every ranking, not of the best one only; also where all gain something."""
    rng = np.random.default_rng(seed)
    grades = rng.integers(0, 4, 5) + seed % 2
    first, rows = np.array([0, 5]), csr_arrays(rng.normal(size=(5, 3)), np.float64)
    given_ = gains(grades) if kind == "ndcg" else grades > 1
    batch = pairs.make_batch(rows, first, 3, given_, pairs.KINDS[kind])
    ask = Asker(batch, 0, np.zeros(3), True)
    order = rng.permutation(5)
    scores = np.empty(5)
    scores[order] = -np.arange(5.0)
    if kind == "ndcg":
        metric = ndcg_at_k(grades, scores, np.zeros(5, int), 99)
    else:
        metric = mean_average_precision(grades, scores, np.zeros(5, int), 2)
    levels = range(batch.level[1])
    y = [swaps_of(swapped_by(order, batch.grade > t), 5) for t in levels]
    nothing = (grades == grades[0]).all()  # then no order is better than another
    wanted = 0.0 if nothing else 1 - metric
    assert ask.loss(np.concatenate(y)) == pytest.approx(wanted, abs=1e-12)


def test_the_hinge_bounds_the_loss_of_the_ranking_by_the_weights():
    for seed in range(20):
        rows, first, y = random_queries(seed)
        batch = pairs.make_batch(rows, first, 3, gains(y), pairs.NDCG)
        w = np.random.default_rng(seed).normal(size=3)
        for i in range(len(first) - 1):
            ask = Asker(batch, i, w, True)
            worst, best = ask.argmax(1.0), ask.argmax(0.0)
            hinge = ask.loss(worst) - ask.margin(worst)
            n = int(first[i + 1] - first[i])
            grades = y[first[i] : first[i + 1]]
            loss = 1 - ndcg_at_k(grades, ask.theta[0, :n], np.zeros(n, int), n)
            assert ask.loss(best) == pytest.approx(loss if np.ptp(grades) else 0.0)
            assert hinge >= ask.loss(best) - 1e-12


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
