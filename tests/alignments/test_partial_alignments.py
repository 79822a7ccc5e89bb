"""Alignments of which something is not known: None in y."""

from __future__ import annotations

import numpy as np
import pytest
from alignment_cases import enumerate_alignments, random_batch
from hypothesis import given, settings
from hypothesis import strategies as st
from partial_cases import check_completion, check_descent, check_likelihood

from maxmargin import SequenceAligner
from maxmargin.core import contract
from maxmargin.core.completion import complete_all, with_truths
from maxmargin.core.partial import ordinary, partly_known


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    free=st.sampled_from([(0, 0), (1, 0), (0, 1), (1, 1)]),
)
def test_completion_and_likelihood_are_those_of_enumeration(seed, free):
    batch, model = random_batch(seed, free=free)
    rng = np.random.default_rng(seed)
    partial = partly_known(batch, rng.random(len(batch.y)) < 0.5)
    w = rng.normal(size=model.n_weights)
    check_completion(partial, w, enumerate_alignments)
    check_likelihood(partial, w, enumerate_alignments)
    partial = with_truths(partial, complete_all(partial, w))
    plain = ordinary(partial)
    for i in range(len(plain.start) - 1):
        truth = plain.y[plain.start[i] : plain.start[i + 1]]
        assert contract.loss(plain, i, truth) == 0.0
        for y in enumerate_alignments(plain, i):  # all pairs of the truth count now
            right = int(((y == truth) & (truth >= 0)).sum())
            wanted = 1 - right / max((truth >= 0).sum(), 1)
            if (truth >= 0).any():
                np.testing.assert_allclose(contract.loss(plain, i, y), wanted)


def cases(seed=0, n=12):
    """Copies of a text with letters left out, and how they are aligned."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        text = rng.choice(list("ACGT"), 10)
        kept = np.flatnonzero(rng.random(10) < 0.8)
        X.append(("".join(text), "".join(text[kept])))
        y.append([(int(i), j) for j, i in enumerate(kept)])
    return X, y


def hide(y, seed, share=0.5):
    rng = np.random.default_rng(seed)
    return [[(i, j if rng.random() > share else None) for i, j in z] for z in y]


@pytest.mark.parametrize("whole", [True, False])
def test_the_objective_never_rises(whole):
    X, y = cases()
    gaps = hide(y, 0)
    gaps[1] = None
    if whole:
        gaps[0] = y[0]
    model = SequenceAligner(tol=1e-2, unlabelled_weight=1.0).fit(X, gaps)
    check_descent(model)
    assert model.score(X, y) > 0.8


def test_marginal_likelihood():
    X, y = cases()
    model = SequenceAligner(objective="log", C=1000).fit(X, hide(y, 0))
    assert not model.certificate_.exact
    assert model.score(X, y) > 0.8


def test_all_known_is_the_ordinary_fit():
    X, y = cases(n=4)
    one = SequenceAligner().fit(X, y)
    two = SequenceAligner(unlabelled_weight=3.0).fit(X, [tuple(z) for z in y])
    assert np.array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([None, None], "no known label"),
        ([[(7, None)], None], r"sample 0 of y holds \(7, None\)"),
        ([[("a", None)], None], r"sample 0 of y holds \('a', None\)"),
        ([[(0, 0), (0, None)], None], r"sample 0 of y holds \(0, None\)"),
        ([{"pairs": [(0, 0)], "core": [True]}, None], "sample 0 of y has a core mask"),
        ([None], "2 samples"),
    ],
)
def test_bad_input(y, message):
    with pytest.raises(ValueError, match=message):
        SequenceAligner().fit([("ab", "ab"), ("ba", "ab")], y)
