"""Forests of links and correlation clustering against enumeration of all of them."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.clusterings import correlation, forests
from maxmargin.clusterings.correlation import inside
from maxmargin.clusterings.pairs import (
    ALL,
    n_pairs,
    pair_index,
    pair_table,
    windowed_pairs,
)
from maxmargin.core.completion import complete_all
from maxmargin.testing import Asker, check_structure


def all_forests(n: int):
    """Every forest, as parents with first mentions as roots, once."""
    seen = set()
    for parents in product(*[range(n)] * n):
        links = {tuple(sorted((v, p))) for v, p in enumerate(parents) if v != p}
        roots = [_root(parents, v) for v in range(n)]
        if None in roots or len(links) < sum(v != p for v, p in enumerate(parents)):
            continue
        if any(root > v for v, root in enumerate(roots)):
            continue
        assert frozenset(links) not in seen  # each forest is written in one way
        seen.add(frozenset(links))
        yield np.array(parents, np.int32)


def _root(parents, v):
    for _ in range(len(parents) + 1):
        if parents[v] == v:
            return v
        v = parents[v]
    return None


def partitions(n: int):
    """Every clustering, by first mentions."""
    for labels in product(*[range(v + 1) for v in range(n)]):
        if all(labels[c] == c for c in labels):
            yield np.array(labels, np.int32)


def near_forests(n: int, window: int):
    """Those whose links are between mentions that are near each other."""
    places = np.arange(n)
    return [y for y in all_forests(n) if (abs(y - places) <= window).all()]


def random_batch(
    seed, sizes=(4, 1, 0, 3, 2), r=0.3, method="forest", groups=2, window=ALL
):
    rng = np.random.default_rng(seed)
    codes, patterns, gold = [], [], []
    for n in sizes:
        rows = 5
        counts = rng.integers(0, 4, size=rows)
        indices = [rng.choice(6, c, replace=False) for c in counts]
        patterns.append(
            (
                np.concatenate([[0], np.cumsum(counts)]),
                np.concatenate([np.zeros(0, int), *indices]).astype(np.int32),
                rng.normal(size=int(counts.sum())),
            )
        )
        shape = n_pairs(n, window), groups
        codes.append(rng.integers(rows, size=shape, dtype=np.int32))
        found = np.arange(n, dtype=np.int32)
        for v in range(1, n):
            if rng.random() < 0.6:
                found[v] = found[rng.integers(v)]
        gold.append(found)
    pairs = pair_table(codes, patterns, 6, window)
    start, gold = np.cumsum([0, *sizes]), np.concatenate(gold)
    if method == "forest":
        return forests.make_batch(start, gold, pairs, r)
    return correlation.make_batch(start, gold, pairs)


@pytest.mark.parametrize("window", [1, 2, 3, 4, 5, ALL])
def test_pairs_stand_in_the_order_of_combinations(window):
    for n in range(6):
        wanted = [p for p in combinations(range(n), 2) if p[1] - p[0] <= window]
        places = [pair_index(n, window, a, b) for a, b in wanted]
        assert places == list(range(n_pairs(n, window)))
        assert places == [pair_index(n, window, b, a) for a, b in wanted]
        assert list(zip(*windowed_pairs(n, window), strict=True)) == wanted


def test_there_are_as_many_forests_as_there_should_be():
    assert [sum(1 for _ in all_forests(n)) for n in range(1, 6)] == [1, 2, 7, 38, 291]


@pytest.mark.parametrize(("r", "window"), [(1.0, ALL), (0.01, 2), (0.0, 1)])
def test_the_structure_equals_enumeration(r, window):
    def outputs(b, i):
        return near_forests(int(b.start[i + 1] - b.start[i]), window)

    for seed in range(3):
        batch = random_batch(seed, r=r, window=window)
        check_structure(batch, 6, outputs, seed=seed)


@given(
    seed=st.integers(0, 10**6), n=st.integers(2, 5), window=st.sampled_from([1, 2, ALL])
)
def test_search_and_completion_are_the_best_forests(seed, n, window):
    batch = random_batch(seed, sizes=(n,), window=window)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=6) - (seed % 2)  # all links negative at times
    ask = Asker(batch, 0, w, True)
    outputs = near_forests(n, window)
    values = np.array([ask.value(y) for y in outputs])
    losses = np.array([ask.loss(y) for y in outputs])
    for scale in (0.0, 1.0):
        y = ask.argmax(scale)
        best = (values + scale * losses).max()
        assert ask.value(y) + scale * ask.loss(y) == pytest.approx(best, abs=1e-9)
        assert any((y == other).all() for other in outputs)  # written in the one way
    found = complete_all(batch, w)
    gold = batch.gold

    def agrees(y):
        return all(_root(y, v) == gold[v] for v in range(n))

    best = max(v for y, v in zip(outputs, values, strict=True) if agrees(y))
    assert agrees(found)
    assert ask.value(found) == pytest.approx(best, abs=1e-9)
    assert ask.loss(found) == 0.0


def test_a_completion_connects_however_bad_the_links_are():
    batch = random_batch(0, sizes=(4,))
    batch = batch._replace(gold=np.zeros(4, np.int32))
    batch = batch._replace(
        pairs=batch.pairs._replace(values=-np.ones_like(batch.pairs.values))
    )
    found = complete_all(batch, np.ones(6))
    assert [_root(found, v) for v in range(4)] == [0, 0, 0, 0]


def test_clusters_with_gaps_wider_than_the_window_are_two():
    batch = random_batch(0, sizes=(6,), window=2)
    gold = np.array([0, 0, 2, 2, 2, 0], np.int32)
    batch = forests.make_batch(batch.start, gold, batch.pairs, 1.0)
    assert batch.gold.tolist() == [0, 0, 2, 2, 2, 5]
    assert batch.y.tolist() == [0, 0, 2, 2, 3, 5]


def test_truths_begin_as_chains_in_the_order_of_the_document():
    batch = random_batch(0, sizes=(5,))
    gold = np.array([0, 1, 0, 1, 0], np.int32)
    batch = forests.make_batch(batch.start, gold, batch.pairs, 1.0)
    assert batch.y.tolist() == [0, 1, 0, 1, 2]


@given(seed=st.integers(0, 10**6), n=st.integers(0, 6))
def test_correlation_clustering_is_near_the_best(seed, n):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, n)) - 0.3
    table = np.triu(table, 1) + np.triu(table, 1).T
    y = np.zeros(n + 2, np.int32)  # may be longer
    correlation.join(table, y)
    joined = inside(table, y)
    correlation.move(table, y)
    best = max((inside(table, c) for c in partitions(n)), default=0.0)
    assert any((y[:n] == c).all() for c in partitions(n))
    assert joined <= inside(table, y) + 1e-9
    assert inside(table, y) <= best + 1e-9


def test_correlation_features_and_losses_equal_enumeration():
    batch = random_batch(1, method="correlation")
    rng = np.random.default_rng(0)
    for i, n in enumerate((4, 1, 0, 3, 2)):
        w = rng.normal(size=6)
        ask = Asker(batch, i, w, True)
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        outputs = list(partitions(n))
        for y in outputs:
            psi = ask.features(truth) - ask.features(y)
            assert ask.value(y) == pytest.approx(w @ ask.features(y))
            np.testing.assert_allclose(
                ask.difference(y, 1.0, truth, 1.0), psi, atol=1e-9
            )
            assert (ask.loss(y) == 0) == ((y == truth).all() or n < 2)
        y = ask.argmax(1.0)  # never worse than the truth
        assert ask.value(y) + ask.loss(y) >= ask.value(truth) - 1e-9
