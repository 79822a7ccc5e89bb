"""Small sentences whose labels a small network learns, and small networks."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed: make test-torch")
import torch

from maxmargin import NeuralTagger

SMALL = {
    "word_size": 8,
    "char_size": 4,
    "column_size": 4,
    "feature_size": 8,
    "hidden_size": 12,
    "n_layers": 1,
    "dropout": 0.1,
    "learning_rate": 0.02,
    "batch_size": 4,
    "max_iter": 8,
}
NAMES = ["Ada", "Bob", "Cleo", "Dan", "Eve", "Finn"]
PLACES = ["Oslo", "Rome", "Lima", "Bern"]


def tagger(**params):
    return NeuralTagger(**{**SMALL, **params})


def sentences(n=60, seed=0):
    """(words, labels in BIO): somebody lives in some place."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        who = [str(rng.choice(NAMES)) for _ in range(rng.integers(1, 3))]
        where = str(rng.choice(PLACES))
        X.append([*who, str(rng.choice(["lives", "works"])), "in", where, "."])
        y.append(["B-PER", *["I-PER"] * (len(who) - 1), "O", "O", "B-LOC", "O"])
    return X, y


def rows(X):
    """The same words with a second column, whether they are capitalised."""
    return [[[w, "C" if w[0].isupper() else "l"] for w in x] for x in X]


def tables(n=60, seed=0):
    """Tables of numbers, and labels that repeat: their numbers say every second one."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = np.repeat(rng.integers(3, size=3), 2)
        numbers = rng.normal(scale=0.3, size=(6, 4)).astype(np.float32)
        numbers[::2, :3] += np.eye(3, dtype=np.float32)[labels[::2]]
        X.append(numbers)
        y.append(labels.tolist())
    return X, y


def weights(model):
    """All numbers that a network has learned."""
    tensors = model.network_.state_dict().values()
    return torch.cat([t.detach().double().reshape(-1) for t in tensors]).numpy()
