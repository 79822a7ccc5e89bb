"""A user's problem with a joint kernel is the machine of the features behind it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from maxmargin import Problem, StructuralSVM, load, save
from maxmargin.testing import check_model_file

LABELS = ("a", "b", "c")


def features(x, y):
    psi = np.zeros((3, 3))
    psi[LABELS.index(y)] = [*x, 0.5]
    return psi.ravel()


class Linear(Problem):
    def joint_feature(self, x, y):
        return features(x, y)

    def loss(self, y, y_hat):
        return float(abs(LABELS.index(y) - LABELS.index(y_hat)))

    def outputs(self, x):
        return list(LABELS)


class ByKernel(Problem):
    def joint_kernel(self, x, y, x2, y2):
        return features(x, y) @ features(x2, y2)

    loss = Linear.loss
    outputs = Linear.outputs


class Gaussian(ByKernel):
    def joint_kernel(self, x, y, x2, y2):
        return np.exp(-0.7 * np.sum((x - x2) ** 2)) if y == y2 else 0.0


class Signs(Gaussian):
    """Two classes, an error costs one."""

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return ["a", "b"]


def data(n=15, labels=LABELS, seed=0):
    rng = np.random.default_rng(seed)
    X = [x.copy() for x in rng.normal(size=(n, 2))]
    return X, [labels[k] for k in rng.integers(0, len(labels), n)]


@pytest.mark.parametrize("solver", ["block-coordinate", "n-slack", "one-slack"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("penalty", ["linear", "quadratic"])
def test_dot_products_give_the_linear_machine(solver, rescaling, penalty):
    X, y = data()
    settings = {"solver": solver, "rescaling": rescaling, "penalty": penalty}
    settings |= {"tol": 1e-7, "C": 0.5, "max_iter": 10_000}
    linear = StructuralSVM(Linear(), **settings).fit(X, y)
    kernel = StructuralSVM(ByKernel(), **settings).fit(X, y)
    primal = linear.certificate_.primal
    assert kernel.certificate_.primal == pytest.approx(primal, rel=1e-6)
    # the weights as a combination of the features of the basis pairs
    points = np.array([features(x, label) for _, x, label in kernel._basis.points])
    w = points.T @ (kernel._basis.inverse.T @ kernel.coef_)
    assert np.allclose(w, linear.coef_, atol=2e-3 * np.abs(linear.coef_).max())
    new, _ = data(30, seed=1)
    agree = np.array(linear.predict(new)) == kernel.predict(new)
    assert agree.mean() >= 0.96  # up to ties within the tolerance


def test_two_classes_are_the_classical_machine():
    """f = w_a - w_b has |w|^2 = |f|^2 / 2: the usual machine with 2 C, without a bias."""
    X, y = data(20, ("a", "b"), seed=3)
    C = 0.8
    model = StructuralSVM(Signs(), C=C, tol=1e-9).fit(X, y)
    sign = np.where(np.array(y) == "a", 1.0, -1.0)
    table = np.array(X)
    K = np.exp(-0.7 * np.square(table[:, None] - table[None]).sum(axis=2))
    Q = K * np.outer(sign, sign)
    found = minimize(
        lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1.0),
        np.zeros(20),
        jac=True,
        bounds=[(0.0, 2 * C)] * 20,
        options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 10_000},
    )
    # 1/2 |w|^2 + C sum = (1/2 |f|^2 + 2 C sum) / 2
    assert model.certificate_.primal == pytest.approx(-found.fun / 2, rel=1e-6)
    scores = K @ (found.x * sign)
    sure = np.abs(scores) > 1e-3
    expected = np.where(scores > 0, "a", "b")
    assert (np.array(model.predict(X))[sure] == expected[sure]).all()


def test_more_classes_equal_the_dual():
    X, y = data(8, seed=5)
    C = 1.5
    model = StructuralSVM(Gaussian(), C=C, tol=1e-9).fit(X, y)
    problem = Gaussian()
    pairs = [(x, label) for x in X for label in LABELS]
    K = np.array([[problem.joint_kernel(*p, *q) for q in pairs] for p in pairs])
    truth = np.repeat([3 * i + LABELS.index(label) for i, label in enumerate(y)], 3)
    D = np.eye(24)[truth] - np.eye(24)  # row (i, y): psi(x_i, y_i) - psi(x_i, y)
    Q = D @ K @ D.T
    loss = np.array([problem.loss(y[p // 3], pairs[p][1]) for p in range(24)])
    found = minimize(
        lambda a: (0.5 * a @ Q @ a - a @ loss, Q @ a - loss),
        np.full(24, C / 3),
        jac=True,
        bounds=[(0.0, C)] * 24,
        constraints={
            "type": "eq",
            "fun": lambda a: a.reshape(8, 3).sum(axis=1) - C,
            "jac": lambda a: np.kron(np.eye(8), np.ones(3)),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert model.certificate_.primal == pytest.approx(-found.fun, rel=1e-6)


def test_saved_and_loaded(tmp_path):
    X, y = data()
    model = StructuralSVM(Gaussian()).fit(X, y)
    path = tmp_path / "model.safetensors"
    save(model, path)
    again = load(path, structure=Gaussian)
    new, _ = data(30, seed=2)
    assert again.predict(new) == model.predict(new)
    check_model_file(model, new[:5], n=60, structure=Gaussian)


def test_inputs_of_any_kind_are_saved(tmp_path):
    class Words(Problem):
        def joint_kernel(self, x, y, x2, y2):
            return float(len(set(x) & set(x2)) * (y == y2))

        def loss(self, y, y_hat):
            return float(y != y_hat)

        def outputs(self, x):
            return [("noun",), ("verb",)]

    X, y = (
        ["dog", "dogs", "barks", "sing"],
        [("noun",), ("noun",), ("verb",), ("verb",)],
    )
    model = StructuralSVM(Words(), C=10).fit(X, y)
    assert model.predict(X) == y
    save(model, tmp_path / "model")
    assert load(tmp_path / "model", structure=Words).predict(X) == y


def test_a_warm_start_knows_its_outputs_again():
    X, y = data()
    settings = {"tol": 1e-6, "warm_start": True}
    model = StructuralSVM(Gaussian(), C=1.0, **settings).fit(X, y)
    first = model.n_iter_
    model.fit([x.copy() for x in X], y)
    assert model.n_iter_ < first
    cold = StructuralSVM(Gaussian(), C=1.0, tol=1e-6).fit(X, y)
    assert model.certificate_.primal == pytest.approx(
        cold.certificate_.primal, rel=1e-5
    )


def replaced(**methods):
    return type("Changed", (Gaussian,), methods)()


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (replaced(joint_kernel=lambda s, x, y, a, b: x[0] - a[1]), "not symmetric"),
        (replaced(joint_kernel=lambda s, x, y, a, b: -float(x @ a)), "semidefinite"),
        (replaced(joint_kernel=lambda s, x, y, a, b: np.nan), "samples 0 and 0 is nan"),
        (replaced(joint_kernel=lambda s, x, y, a, b: "no"), "samples 0 and 0 is 'no'"),
        (replaced(joint_kernel=lambda s, x, y, a, b: 1 / 0), "ZeroDivisionError"),
        (replaced(joint_feature=lambda s, x, y: x), "both"),
        (replaced(outputs=Problem.outputs), "no outputs()"),
        (replaced(outputs=lambda s, x: ["b"]), "does not list the true output"),
        (replaced(kernel_memory=1e3), "would take .* GB"),
        (replaced(kernel_memory=-1), "positive number of bytes"),
    ],
)
def test_sentences(problem, words):
    X, y = data()
    y[0] = "a"
    with pytest.raises(ValueError, match=words):
        StructuralSVM(problem).fit(X, y)
