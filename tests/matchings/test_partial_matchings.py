"""Links that are not known: None in y."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partial_cases import check_completion, check_descent
from test_matching import enumerate_matchings, random_batch

from maxmargin import WordAligner
from maxmargin.core import contract
from maxmargin.core.completion import complete_all, with_truths
from maxmargin.core.partial import ordinary
from maxmargin.matchings.links import partly_linked, to_links

WORDS = [
    "le the",
    "maison house",
    "chat cat",
    "dort sleeps",
    "mange eats",
    "petit small",
]


def pairs(seed, n=30):
    """Sentences word by word in another order, and their links."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for size in rng.integers(2, 6, n):
        chosen = [WORDS[k].split() for k in rng.choice(len(WORDS), size, False)]
        order = rng.permutation(size)
        X.append(([word for word, _ in chosen], [chosen[k][1] for k in order]))
        y.append(sorted((int(k), place) for place, k in enumerate(order)))
    return X, y


def hide(y, seed, share=0.4):
    rng = np.random.default_rng(seed)
    return [
        None if i == 1 else [(a, b if rng.random() > share else None) for a, b in links]
        for i, links in enumerate(y)
    ]


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6), most=st.sampled_from([(1, 1), (2, 1), (1, 2), (2, 2)])
)
def test_completion_is_that_of_enumeration(seed, most):
    batch = random_batch(seed, [(2, 3), (3, 2), (1, 3)], most)
    rng = np.random.default_rng(seed)
    unknown = [
        ~((rng.random((n, 1)) < 0.5) & (rng.random(m) < 0.7))
        for n, m in ((2, 3), (3, 2), (1, 3))
    ]
    partial = partly_linked(batch, np.concatenate([u.ravel() for u in unknown]))
    w = rng.normal(size=3)

    def agrees(batch, i, outputs):
        most = batch.source_most
        truth = set(to_links(batch.y[slice(*batch.start[i : i + 2])], most))
        return [
            all(unknown[i][link] for link in truth ^ set(to_links(y, most)))
            for y in outputs
        ]

    check_completion(partial, w, enumerate_matchings, agrees)
    # what is completed counts in the loss like what is known
    partial = with_truths(partial, complete_all(partial, w))
    plain = ordinary(partial)
    for i in range(3):
        first, last = plain.start[i : i + 2]
        truth, most = plain.y[first:last], plain.source_most
        assert contract.loss(plain, i, truth) == 0.0
        links = set(to_links(truth, most))
        for y in enumerate_matchings(plain, i):
            if any(unknown[i][link] for link in links ^ set(to_links(y, most))):
                assert contract.loss(plain, i, y) > 0.0


def test_the_objective_never_rises():
    X, y = pairs(0)
    for share in (0.3, 0.7):
        model = WordAligner(fertility=1, C=1.0, tol=1e-3, unlabelled_weight=1.0)
        model.fit(X, hide(y, 0, share))
        check_descent(model)
        assert model.score(X, y) > 0.9


def test_links_of_target_words():
    X, y = pairs(0)
    rng = np.random.default_rng(0)
    hidden = [[(a if rng.random() > 0.4 else None, b) for a, b in links] for links in y]
    assert any(a is None for links in hidden for a, _ in links)
    model = WordAligner(fertility=1, tol=1e-3).fit(X, hidden)
    check_descent(model)
    assert model.score(X, y) > 0.9


def test_all_known_is_the_ordinary_fit():
    X, y = pairs(0, 6)
    one = WordAligner().fit(X, y)
    two = WordAligner(unlabelled_weight=3.0).fit(X, [[*links] for links in y])
    assert np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([None, None], "no known label"),
        ([[(0, None), (1, None)], None], "no known label"),
        ([[(2, None)], None], r"y\[0\] holds \(2, None\).*2 words"),
        ([[("a", None)], None], r"y\[0\] holds \('a', None\)"),
        ([[(0, 1), (0, None)], None], r"y\[0\] holds \(0, 1\) and \(0, None\)"),
        ([[(None, 2)], None], r"y\[0\] holds \(None, 2\).*target.*2 words"),
        ([[(None, None)], None], r"y\[0\] holds \(None, None\)"),
        ([[(0, 1), (None, 1)], None], r"y\[0\] holds \(0, 1\) and \(None, 1\)"),
        ([[(None, 0), (None, 1)], None], "no known label"),
        ([None], "2 sentence pairs"),
    ],
)
def test_bad_input(y, message):
    X = [("le chat", "the cat"), ("le chat", "the cat")]
    with pytest.raises(ValueError, match=message):
        WordAligner().fit(X, y)
