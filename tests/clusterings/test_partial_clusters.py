"""Clusters that are not known: None in y."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partial_cases import check_descent
from test_forests import all_forests, random_batch

from maxmargin import LinkClusterer
from maxmargin.clusterings.forests import known_part, roots
from maxmargin.core.completion import complete_all, with_truths
from maxmargin.core.partial import partly_known
from maxmargin.testing import Asker


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 5))
def test_completion_against_enumeration(seed, n):
    rng = np.random.default_rng(seed)
    batch = random_batch(seed, sizes=(n,))
    known = rng.random(n) < rng.random()
    partial, w = partly_known(batch, known), rng.normal(size=6)
    found = complete_all(partial, w)
    ask, start = Asker(batch, 0, w, True), batch.start
    together = batch.gold[:, None] == batch.gold

    def agrees(y):
        tops = roots(start, y)
        return (((tops[:, None] == tops) == together)[np.ix_(known, known)]).all()

    def linked(y):
        """Whether known clusters hold together without unknown mentions."""
        links = [v for v in np.flatnonzero(known) if y[v] != v and known[y[v]]]
        return len(links) == known.sum() - len(np.unique(batch.gold[known]))

    good = [y for y in all_forests(n) if agrees(y)]
    assert agrees(found)
    assert any((found == y).all() for y in good)  # written in the one way
    value = ask.value(found)
    assert value <= max(map(ask.value, good)) + 1e-9
    assert value >= max(ask.value(y) for y in good if linked(y)) - 1e-9
    # what is completed counts like what is known
    after = with_truths(partial, found)
    assert (after.gold == roots(start, found)).all()
    assert Asker(after, 0, w, True).loss(found) == 0.0
    assert (complete_all(after, w) == found).all()


def test_the_known_part_has_the_pairs_of_known_mentions():
    batch = random_batch(3)
    known = np.array([1, 0, 1, 1, 0, 1, 1, 0, 0, 1], bool)[: len(batch.gold)]
    some = known_part(batch, known)
    w = np.linspace(-1, 1, 6)
    for i in range(len(batch.start) - 1):
        kept = known[slice(*batch.start[i : i + 2])]
        a, b = np.triu_indices(len(kept), 1)
        whole, part = (Asker(x, i, w, True).theta.ravel() for x in (batch, some))
        n = (kept[a] & kept[b]).sum()
        np.testing.assert_allclose(part[:n], whole[: len(a)][kept[a] & kept[b]])
    assert (some.gold <= np.arange(len(some.gold))).all()


def documents(seed, n=30):
    """Tables of pairs whose first feature says, noisily, who belongs together."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for size in rng.integers(2, 8, n).tolist():
        ids = rng.integers(0, 3, size)
        a, b = np.triu_indices(size, 1)
        sign = np.where(ids[a] == ids[b], 1.0, -1.0)
        X.append(np.c_[sign + rng.normal(size=len(a)) * 0.3, rng.normal(size=len(a))])
        y.append(ids.tolist())
    return X, y


def hide(y, seed, share=0.4):
    rng = np.random.default_rng(seed)
    return [
        None if i == 1 else [None if rng.random() < share else c for c in clusters]
        for i, clusters in enumerate(y)
    ]


@pytest.mark.parametrize("options", [{}, {"r": 0.1}, {"init": "random"}])
def test_the_objective_never_rises(options):
    X, y = documents(0)
    for share in (0.3, 0.7):
        model = LinkClusterer(C=1.0, tol=1e-3, unlabelled_weight=1.0, **options)
        model.fit(X, hide(y, 0, share))
        check_descent(model)
        if model.init == "given":
            assert model.score(X, y) > 0.9


def test_documents_without_clusters_and_other_ways():
    X, y = documents(0)
    known = [clusters if i < 5 else None for i, clusters in enumerate(y)]
    model = LinkClusterer(n_restarts=3).fit(X, known)
    assert len(model.restarts_) == 3
    assert min(model.restarts_) == model.certificate_.objective
    assert model.score(X, y) > 0.9
    groups = [[[0, 1]], *hide(y, 0)[1:]]
    X[0] = X[0][:1]
    for options in ({"objective": "perceptron"}, {"init": model}):
        assert LinkClusterer(**options).fit(X, groups).score(X[1:], y[1:]) > 0.9


def test_all_known_is_the_ordinary_fit():
    X, y = documents(0, 6)
    one = LinkClusterer().fit(X, y)
    two = LinkClusterer(unlabelled_weight=3.0).fit(X, y)
    assert np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([None, None], {}, "no known label"),
        ([[None, None], None], {}, "no known label"),
        ([[0, None, 1], None], {}, r"y\[0\] has 3 cluster ids"),
        ([[0, 1.5], None], {}, r"y\[0\]: the cluster of mention 1 is 1.5"),
        ([[[0], None], None], {}, r"y\[0\]: the cluster of mention 0 is \[0\]"),
        ([[0, 0], None], {"method": "correlation"}, "choose method='forest'"),
        ([[0, 0], None], {"unlabelled_weight": -1}, "unlabelled_weight=-1"),
    ],
)
def test_bad_input(y, options, message):
    X = [[[1.0]], [[1.0]]]
    with pytest.raises(ValueError, match=message):
        LinkClusterer(**options).fit(X, y)
