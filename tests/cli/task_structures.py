"""A structure of one's own, for the command line."""

import numpy as np

from maxmargin import Problem


class Sign(Problem):
    n_features = 2

    def outputs(self, x):
        return [0, 1]

    def joint_feature(self, x, y):
        return np.array([x[0] * (2 * y - 1), 1.0 * y])

    def loss(self, y, other):
        return float(y != other)
