"""SequenceTagger: every prediction against the enumeration of all label sequences."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tagger_cases import (
    every,
    model,  # noqa: F401
    score,
    sequences,
    squared_norm,
    tight,
)

from maxmargin import SequenceTagger

# ruff: noqa: F811  (what is imported so is a fixture)


# prediction against enumeration -----------------------------------------------------


@pytest.fixture(scope="module")
def free():
    """A model whose weights a test may overwrite, and one with forbidden moves."""
    X, y = sequences(n=6)
    bare = SequenceTagger(tol=1e-6, max_iter=20_000).fit(X, y)
    y = [["A"] * len(row) for row in y[:-3]] + [["A", "B"], ["C"], ["B", "C"]]
    X = [*X[:-3], X[1], X[0], X[1]]
    walls = [("B", "A"), ("C", "B"), (None, "B"), ("A", None), ("C", "C")]
    y = [["C"] if row == ["A"] else row for row in y]
    y = [[*row[:-1], "B"] if len(row) > 1 and row[-1] == "A" else row for row in y]
    y = [["A", *row[1:]] if row[0] == "B" else row for row in y]
    walled = SequenceTagger(tol=1e-6, max_iter=20_000, forbidden=walls).fit(X, y)
    return {False: bare, True: walled}


def randomise(model, rng):
    # the attributes are views of the table that prediction uses
    for part in (model.coef_, model.transitions_, model.first_, model.last_):
        part[...] = rng.normal(size=part.shape)


def allowed(model, y):
    names = [None, *model.classes_[list(y)].tolist(), None]
    steps = set(pairwise(names))
    return not steps & set(model.forbidden or ())


def ranking(model, x):
    """All allowed outputs, best first, as (score, numbers)."""
    outputs = [y for y in every(model, len(x)) if allowed(model, y)]
    return sorted(((score(model, x, y), y) for y in outputs), reverse=True)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    length=st.integers(1, 4),
    walls=st.booleans(),
    k=st.integers(1, 40),
)
def test_predictions_are_those_of_enumeration(free, seed, length, walls, k):
    rng = np.random.default_rng(seed)
    model = free[walls]
    randomise(model, rng)
    x = rng.normal(size=(length, 3))
    ranked = ranking(model, x)
    scores = np.array([value for value, _ in ranked])
    names = model.classes_

    assert model.predict([x]) == [names[list(ranked[0][1])].tolist()]

    best = model.predict_k_best([x], k)[0]
    assert len(best) == min(k, len(ranked))
    np.testing.assert_allclose([s for _, s in best], scores[: len(best)], atol=1e-9)
    assert len({tuple(y) for y, _ in best}) == len(best)
    for y, value in best:
        numbers = [names.tolist().index(label) for label in y]
        assert allowed(model, numbers)
        assert value == pytest.approx(score(model, x, numbers), abs=1e-9)

    marginals = np.zeros((length, 3))
    maxima = np.full((length, 3), -np.inf)
    chances = np.exp(scores - scores.max())
    for (value, y), chance in zip(ranked, chances / chances.sum(), strict=True):
        for t, number in enumerate(y):
            marginals[t, number] += chance
            maxima[t, number] = max(maxima[t, number], value)
    found = model.predict_marginals([x])[0]
    np.testing.assert_allclose(found, marginals, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    decisions = model.decision_function([x])[0]
    np.testing.assert_allclose(decisions, maxima, atol=1e-9)
    np.testing.assert_allclose(decisions.max(axis=1), best[0][1], atol=1e-9)
    assert names[decisions.argmax(axis=1)].tolist() == best[0][0]


# forbidden transitions --------------------------------------------------------------


def test_forbidden_transitions_shape_training():
    X, y = sequences(n=10, labels="AB", longest=3, noise=2.0)
    y = [sorted(labels) for labels in y]  # B never comes before A
    model = tight(C=1, forbidden=[("B", "A")]).fit(X, y)
    free = tight(C=1).fit(X, y)
    other = [100 * x[::-1] for x in X]  # features that outweigh the transitions
    assert any(row != sorted(row) for row in free.predict(other))
    assert all(row == sorted(row) for row in model.predict(other))
    for answers in model.predict_k_best(other, 8):
        assert all(row == sorted(row) for row, _ in answers)
    # forbidden outputs are no rivals, so the optimum is smaller and the hinges differ
    assert model.certificate_.primal < free.certificate_.primal
    value = 0.5 * squared_norm(model)
    for x, truth in zip(X, y, strict=True):
        numbers = [int(label == "B") for label in truth]
        value += max(
            sum(a != b for a, b in zip(other, numbers, strict=True))
            + score(model, x, other)
            - score(model, x, numbers)
            for other in every(model, len(truth))
            if list(other) == sorted(other)
        )
    assert model.certificate_.primal == pytest.approx(value)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("A", "B"), r"y\[1\] goes from 'A' to 'B' at token 1.*forbidden"),
        ((None, "A"), r"y\[1\] starts with 'A'.*forbidden"),
        (("B", None), r"y\[0\] ends with 'B'.*forbidden"),
    ],
)
def test_data_that_breaks_the_rules_are_named(pair, message):
    X = [np.ones((2, 1)), np.ones((2, 1))]
    y = [["B", "B"], ["A", "B"]]
    with pytest.raises(ValueError, match=message):
        SequenceTagger(forbidden=[pair]).fit(X, y)


def test_rules_about_labels_that_do_not_occur_are_ignored():
    X, y = sequences()
    model = SequenceTagger(forbidden=[("A", "never"), (None, "seen")]).fit(X, y)
    assert model.predict(X) == SequenceTagger().fit(X, y).predict(X)


@pytest.fixture(scope="module")
def singles():
    """Every transition is forbidden: only sequences of one token are possible."""
    X, y = sequences(longest=1)
    walls = [(a, b) for a in "ABC" for b in "ABC"]
    return SequenceTagger(forbidden=walls).fit(X, y)


def test_a_length_without_any_allowed_output(singles):
    x = np.ones((2, 3))
    for ask in (
        singles.predict,
        singles.predict_marginals,
        singles.decision_function,
        lambda X: singles.predict_k_best(X, 3),
    ):
        with pytest.raises(ValueError, match=r"sequence 1 has 2 tokens.*allow more"):
            ask([x[:1], x])
        assert len(ask([x[:1], []])) == 2
