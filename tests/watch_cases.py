"""Small fits to watch and to interrupt: classes, a problem in Python, hidden parts."""

import numpy as np

from maxmargin import LatentProblem, Problem


def blobs(n=30, d=5, k=3, distance=1.5, seed=0):
    """n points around k corners, which overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) + distance * np.eye(k, d)[y], y


class Classes(Problem):
    """Three classes, searched one by one; no compiler takes part."""

    n_features = 15

    def joint_feature(self, x, y):
        out = np.zeros(self.n_features)
        out[5 * y : 5 * y + 5] = x
        return out

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, x, w):
        return int((w.reshape(3, 5) @ x).argmax())

    def loss_augmented_argmax(self, x, y, w):
        return int((w.reshape(3, 5) @ x + (np.arange(3) != y)).argmax())


def listed_blobs():
    X, y = blobs()
    return list(X), y.tolist()


class Bump(LatentProblem):
    """y says whether the series x has a bump; where it is, is hidden."""

    n_features = 4

    def joint_feature(self, x, y, h):
        return y * np.append(x[h : h + 3], 1.0)

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [(0, 0)] + [(1, h) for h in range(len(x) - 2)]


def bumps(n=30, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(0, 0.3, (n, 9)), np.arange(n) % 2
    for x, at in zip(X[1::2], rng.integers(7, size=n)[1::2], strict=True):
        x[at : at + 3] += [1, 2, 1]
    return list(X), y.tolist()
