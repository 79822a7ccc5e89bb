"""Small fits of every kind of solver, for tests that stop them and go on.

A case is a function of parameters that returns a fitted model. All of them take several
passes, and none takes long.
"""

import warnings

import numpy as np

from maxmargin import (
    LatentProblem,
    LatentStructuralSVM,
    MulticlassSVM,
    Problem,
    SequenceTagger,
    StructuralSVM,
)

RNG = np.random.default_rng(3)
N = 120
Y = RNG.integers(0, 3, N)
X = RNG.normal(size=(N, 6)) + np.eye(3, 6)[Y]
SENTENCES = [
    [[f"w{RNG.integers(20)}", f"p{RNG.integers(4)}"] for _ in range(RNG.integers(1, 7))]
    for _ in range(40)
]
TAGS = [
    ["abc"[(int(token[0][1:]) + (RNG.random() < 0.2)) % 3] for token in sentence]
    for sentence in SENTENCES
]
GAPS = [[tag if RNG.random() < 0.7 else None for tag in tags] for tags in TAGS]
ROWS = [RNG.normal(size=(5, 4)) for _ in range(20)]
SIGNS = [
    tuple(np.where(x[:, 0] + 0.3 * RNG.normal(size=5) > 0, 1, -1).tolist())
    for x in ROWS
]


class Rows(Problem):
    """A sign for every row of x."""

    def joint_feature(self, x, y):
        return x.T @ np.array(y)

    def loss(self, y, z):
        return float(np.sum(np.not_equal(y, z)))

    def argmax(self, x, w):
        return tuple(np.where(x @ w >= 0, 1, -1).tolist())

    def loss_augmented_argmax(self, x, y, w):
        score, y = x @ w, np.array(y)
        up, down = score + (y != 1), -score + (y != -1)
        return tuple(np.where(up >= down, 1, -1).tolist())


class Sealed:
    """An output that no file without pickle can hold."""

    def __init__(self, y):
        self.y = y


class SealedRows(Rows):
    def joint_feature(self, x, y):
        return super().joint_feature(x, y.y)

    def loss(self, y, z):
        return super().loss(y.y, z.y)

    def argmax(self, x, w):
        return Sealed(super().argmax(x, w))

    def loss_augmented_argmax(self, x, y, w):
        return Sealed(super().loss_augmented_argmax(x, y.y, w))


class Bump(LatentProblem):
    """y says whether the series x has a bump, h where it is."""

    def joint_feature(self, x, y, h):
        return y * np.append(x[h : h + 3], 1.0)

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [(0, 0)] + [(1, h) for h in range(len(x) - 2)]


class Sought(Bump):
    """The same by searches; hidden parts are strings."""

    n_features = 4
    outputs = Problem.outputs

    def joint_feature(self, x, y, h):
        return super().joint_feature(x, y, int(h))

    def pairs(self, x):
        return [(y, str(h)) for y, h in Bump().outputs(x)]

    def argmax(self, x, w):
        return max(self.pairs(x), key=lambda o: w @ self.joint_feature(x, *o))

    def loss_augmented_argmax(self, x, y, w):
        def value(o):
            return w @ self.joint_feature(x, *o) + self.loss(y, *o)

        return max(self.pairs(x), key=value)

    def complete(self, x, y, w):
        own = [o for o in self.pairs(x) if o[0] == y]
        return max(own, key=lambda o: w @ self.joint_feature(x, *o))[1]


SERIES, BUMPS = RNG.normal(0, 0.4, (40, 9)), np.arange(40) % 2
for series in SERIES[1::2]:
    at = RNG.integers(7)
    series[at : at + 3] += [1, 2, 1]


def classes(**own):
    return lambda **more: MulticlassSVM(**(own | more)).fit(X, Y)


def tags(labels=TAGS, **own):
    return lambda **more: SequenceTagger(**(own | more)).fit(SENTENCES, labels)


def rows(problem=Rows, **own):
    y = [Sealed(one) for one in SIGNS] if problem is SealedRows else SIGNS
    return lambda **more: StructuralSVM(problem(), **(own | more)).fit(ROWS, y)


def bumps(problem=Bump, **own):
    return lambda **more: LatentStructuralSVM(
        problem(), **({"C": 10.0, "tol": 1e-3} | own | more)
    ).fit(list(SERIES), BUMPS.tolist())


CASES = {
    "exact blocks": classes(tol=1e-4, C=0.1),
    "second-order steps": classes(tol=1e-6, C=100.0),
    "planes of classes": classes(tol=1e-3, rescaling="slack"),
    "one-slack": classes(tol=1e-3, solver="one-slack"),
    "n-slack": classes(tol=1e-4, solver="n-slack"),
    "proximal-bundle": classes(tol=1e-3, solver="proximal-bundle"),
    "log": classes(tol=1e-5, objective="log", C=10.0, max_iter=60),
    "exponentiated": classes(tol=1e-3, objective="log", solver="exponentiated"),
    "lbfgs": classes(tol=1e-6, objective="log", solver="lbfgs"),
    "perceptron": classes(objective="perceptron"),
    "passive-aggressive": classes(objective="passive-aggressive"),
    "subgradient": classes(solver="subgradient", max_iter=20),
    "tags": tags(tol=1e-3),
    "tags in double precision": tags(tol=2e-5),
    "tags, log": tags(tol=1e-3, objective="log"),
    "tags, l1": tags(tol=1e-3, objective="log", l1=0.1),
    "tags, l1, lbfgs": tags(tol=1e-3, objective="log", l1=0.1, solver="lbfgs"),
    "tags, marginal": tags(tol=1e-3, objective="marginal"),
    "tags, boosting": tags(objective="boosting", max_iter=30),
    "tags, one slack per output": tags(objective="hinge-per-output", C=10.0),
    "unknown tags": tags(GAPS, tol=1e-3),
    "unknown tags, log": tags(GAPS, tol=1e-3, objective="log"),
    "unknown tags, perceptron": tags(GAPS, objective="perceptron"),
    "functions": rows(tol=1e-4),
    "functions, slack": rows(tol=1e-3, rescaling="slack"),
    "functions, n-slack": rows(tol=1e-4, solver="n-slack"),
    "functions, one-slack": rows(tol=1e-3, solver="one-slack"),
    "functions, sealed outputs": rows(SealedRows, tol=1e-4),
    "hidden, listed": bumps(n_restarts=2),
    "hidden, sought": bumps(Sought),
    "hidden, self-paced": bumps(self_paced=True),
}


def fitted(case, **parameters):
    """The model of a case; some stop at max_iter by design."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[case](**parameters)


def outcome(model):
    """All that must be equal to the last bit: weights, certificate, history."""
    weights = {
        name: value.tobytes()
        for name, value in sorted(vars(model).items())
        if isinstance(value, np.ndarray) and value.dtype.kind == "f"
    }
    rows = [
        {name: value for name, value in row.items() if "seconds" not in name}
        for row in model.history_
    ]
    return weights, model.certificate_, rows, getattr(model, "restarts_", None)
