"""Problems of the models in ``models/``, which keep their attributes and no code."""

import numpy as np

from maxmargin import LatentProblem, Problem


class Sign(Problem):
    """A plain support vector machine."""

    def __init__(self, scale=1.0):
        self.scale = scale
        self.names = {("a", 1): [1, None]}

    def outputs(self, x):
        return [1, -1]

    def joint_feature(self, x, y):
        return 0.5 * y * self.scale * np.asarray(x)

    def loss(self, y, y_hat):
        return float(y != y_hat)


class Part(LatentProblem):
    """A sign that one of the coordinates tells, nobody says which."""

    n_features = 2

    def outputs(self, x):
        return [(y, h) for y in (1, -1) for h in range(len(x))]

    def joint_feature(self, x, y, h):
        psi = np.zeros(len(x))
        psi[h] = y * x[h]
        return psi

    def loss(self, y, y_hat):
        return float(y != y_hat)
