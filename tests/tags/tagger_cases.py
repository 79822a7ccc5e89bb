"""Small sequences, and what a tagger of them minimises, by the definition."""

from itertools import pairwise, product

import numpy as np
import pytest

from maxmargin import SequenceTagger


def sequences(n=12, d=3, labels="ABC", longest=4, noise=1.0, seed=0):
    """Tables of numbers whose labels show in the first columns, with noise."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(n):
        numbers = rng.integers(len(labels), size=1 + i % longest)
        size = (len(numbers), d)
        X.append(noise * rng.normal(size=size) + np.eye(len(labels), d)[numbers])
        y.append([labels[k] for k in numbers])
    return X, y


def tight(**params):
    return SequenceTagger(**{"tol": 1e-6, "max_iter": 20_000, **params})


def every(model, length):
    return product(range(len(model.classes_)), repeat=length)


def score(model, x, y):
    """The score of label numbers y, from the public attributes."""
    if len(y) == 0:
        return 0.0
    value = sum(model.coef_[k] @ row for k, row in zip(y, x, strict=True))
    value += sum(model.transitions_[a, b] for a, b in pairwise(y))
    return value + model.first_[y[0]] + model.last_[y[-1]]


def squared_norm(model):
    parts = (model.coef_, model.transitions_, model.first_, model.last_)
    return sum(np.sum(part**2) for part in parts)


def loss_between(model, truth, found):
    """The loss that the parameter ``loss`` describes, of two lists of labels."""
    wrong = [a for a, b in zip(truth, found, strict=True) if a != b]
    if model.loss == "zero-one":
        return float(len(wrong) > 0)
    if model.loss == "hamming":
        return float(len(wrong))
    return float(sum(model.loss.get(a, 1.0) for a in wrong))


def hinge(model, x, truth):
    """H_i by enumeration."""
    numbers = [model.classes_.tolist().index(label) for label in truth]
    best, own = 0.0, score(model, x, numbers)
    for y in every(model, len(truth)):
        loss = loss_between(model, truth, [model.classes_[k] for k in y])
        c = np.sqrt(loss) if model.penalty == "quadratic" else loss
        r = c if model.rescaling == "slack" else 1.0
        best = max(best, c - r * (own - score(model, x, y)))
    return best


def primal(model, X, y, weights=None):
    h = np.array([hinge(model, x, truth) for x, truth in zip(X, y, strict=True)])
    phi = 0.5 * h**2 if model.penalty == "quadratic" else h
    weights = np.ones(len(h)) if weights is None else np.asarray(weights)
    return 0.5 * squared_norm(model) + model.C_ * weights @ phi


@pytest.fixture(scope="module")
def model():
    X, y = sequences()
    return tight().fit(X, y)


VOCABULARY = ["the", "short", "dog", "barks", "verb", "dogs", "bark", "noun", "falls"]


def table(tokens):
    return np.array([[float(v in token) for v in VOCABULARY] for token in tokens])
