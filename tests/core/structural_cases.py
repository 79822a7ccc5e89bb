"""Classes as a user's problem, and the compiled machine of the same."""

import numpy as np

from maxmargin import Problem

COST = np.array([[0.0, 1.0, 2.0], [1.5, 0.0, 0.5], [3.0, 1.0, 0.0]])


class Classes(Problem):
    """Multiclass classification as a structured problem."""

    def __init__(self, cost=COST, make=np.asarray):
        self.cost = cost
        self.smallest_loss = cost[cost > 0].min()
        self.make = make
        self.calls = 0

    def joint_feature(self, x, y):
        table = np.zeros((len(self.cost), len(x)))
        table[y] = x
        return self.make(table.ravel())

    def loss(self, y, y_hat):
        return self.cost[y][y_hat]

    def argmax(self, x, w):
        return int((w.reshape(-1, len(x)) @ x).argmax())

    def loss_augmented_argmax(self, x, y, w):
        self.calls += 1
        return int((w.reshape(-1, len(x)) @ x + self.cost[y]).argmax())


def blobs(n=15, d=3, distance=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return list(rng.normal(size=(n, d)) + distance * np.eye(3, d)[y]), y.tolist()


class Cuts(Problem):
    """Outputs that are objects: the best place to cut a text, as a dict."""

    def joint_feature(self, x, y):
        left, right = x[: y["at"]], x[y["at"] :]
        return np.array([left.count("a"), left.count("b"), right.count("b")], float)

    def loss(self, y, y_hat):
        return abs(y["at"] - y_hat["at"]) / 2

    def outputs(self, x):
        return [{"at": at} for at in range(len(x) + 1)]

    def argmax(self, x, w):
        return max(self.outputs(x), key=lambda z: w @ self.joint_feature(x, z))

    def loss_augmented_argmax(self, x, y, w):
        return max(
            self.outputs(x),
            key=lambda z: w @ self.joint_feature(x, z) + self.loss(y, z),
        )


def wrong(**methods):
    """Classes() with some methods replaced."""
    return type("Wrong", (Classes,), methods)()
