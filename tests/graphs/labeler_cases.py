"""Graphs whose nodes have types."""

import numpy as np


def typed_data(seed=0, n=10):
    """Words and a document, whose label is that of most of its words."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        size = int(rng.integers(1, 5))
        topic = rng.integers(2)
        nodes = {
            "word": rng.normal(size=(size, 2)) + 3 * topic,
            "document": np.zeros((1, 0)),
        }
        links = [(k, 0) for k in range(size)]
        X.append({"nodes": nodes, "edges": {("word", "document"): links}})
        y.append({"word": [topic] * size, "document": [int(topic) + 5]})
    return X, y
