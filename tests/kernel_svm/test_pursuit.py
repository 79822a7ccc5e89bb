"""How a small basis is found: rotations, gradients, choices."""

import itertools

import numpy as np
import pytest
from kernel_cases import random_data
from sklearn.datasets import load_digits

from maxmargin import KernelSVM, kernels
from maxmargin.kernel_svm import descent, pursuit
from maxmargin.kernel_svm.devices import Cpu
from maxmargin.kernel_svm.pursuit import first_pulls, search_space, stages
from maxmargin.kernel_svm.training_points import best_of
from maxmargin.kernels.basis import Basis, expand, independent_rows


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


# the space that is searched ---------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_rotation_keeps_kernel_values(noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 450)) * 0.3 + 3
    X = (X + 0.3 * noise * rng.normal(size=X.shape)).astype(np.float32)
    X[:, 7] = 0  # a column that is always the same has no weight at all
    found = pursuit.find_isometry(X, rng)
    rows = found.encode(X)
    assert rows.shape[1] < 20
    assert (found.axes[7] == 0).all()
    assert np.allclose(found.axes.T @ found.axes, np.eye(rows.shape[1] - 1), atol=1e-5)
    points = rows[:20] + rng.normal(size=(20, rows.shape[1])).astype(np.float32)
    points[:, -1] = 0
    gaussian = kernels.rbf(0.005)
    wanted = gaussian(X.astype(np.float64), found.decode(points).astype(np.float64))
    np.testing.assert_allclose(gaussian(rows, points), wanted, atol=1e-5)
    if noise:
        assert rows[:, -1].min() > 0


def test_no_rotation_where_it_would_cost_more_than_it_saves():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 60))
    assert pursuit.find_isometry(few, rng) is None
    assert pursuit.find_isometry(rng.normal(size=(1000, 450)), rng) is None
    rare = (rng.random((1000, 450)) < 0.01) * 1.0  # no column is like another
    assert pursuit.find_isometry(rare, rng) is None
    assert pursuit.find_isometry(np.ones((100, 450)), rng) is None
    assert pursuit.find_isometry(np.ones((1, 450)), rng) is None


def test_rare_columns_are_not_lost():
    """Sparse tables, as of words: the classes differ in columns of little variance."""
    rng = np.random.default_rng(0)
    X = (rng.random((600, 120)) < 0.04).astype(np.float32)
    X[:, :4] = 2 * rng.normal(size=(600, 4))
    y = (X[:, 60:80].sum(axis=1) > 0.5).astype(int)
    model = KernelSVM(C=10, gamma=0.02, n_components=20, random_state=0)
    assert model.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.85


@pytest.mark.parametrize("width", [4, 400])
@pytest.mark.parametrize("kernel", [kernels.rbf(0.02), kernels.polynomial(2, 0.1, 1.0)])
def test_the_space_that_is_searched_has_the_same_kernel(width, kernel):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4)) @ rng.normal(size=(4, width)) + 1
    X *= (4 / width) ** 0.5
    rows, shape, decode, fixed = search_space(kernel, X, rng)
    points = rows[:7].copy()
    if fixed:
        points[:, -fixed:] = 0
    norms = (rows * rows).sum(1)
    block = shape.block(rows, norms, points)
    np.testing.assert_allclose(block, kernel(X, decode(points)), rtol=1e-3, atol=1e-4)
    assert decode(points).dtype == X.dtype
    assert fixed == (width == 400 and isinstance(kernel, type(kernels.rbf(1.0))))


@pytest.mark.parametrize("width", [3, 40])
def test_units_and_origins_change_nothing(width):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) @ rng.normal(size=(3, width))
    y = (X[:, 0] * X[:, 1] > 0) * 1
    settings = {"n_components": 8, "random_state": 0}
    wanted = KernelSVM(**settings).fit(X, y)
    for scale, origin in ((2.0**200, 0.0), (2.0**-200, 0.0), (1.0, 2.0**30)):
        moved = X * scale + origin
        found = KernelSVM(**settings).fit(moved, y)
        assert len(found.basis_) == len(wanted.basis_)
        primal = wanted.certificate_.primal
        assert found.certificate_.primal == pytest.approx(primal, rel=0.02)


def test_extreme_widths_and_values():
    X, y = random_data(n=30)
    assert KernelSVM(gamma=1e-300, n_components=8).fit(X, y).certificate_.exact
    with pytest.warns(UserWarning, match="weights that are all zero"):
        narrow = KernelSVM(gamma=1e300, n_components=8).fit(X, y)  # none like another
    assert narrow.certificate_.exact
    with pytest.raises(ValueError, match="squares that cannot hold: scale the feat"):
        KernelSVM("poly", n_components=8).fit(X * 1e20, y)


# descent ----------------------------------------------------------------------------------


class Double(Cpu):
    """The same in double precision, so that differences can be taken."""

    def put(self, values, dtype=np.float64):
        return np.ascontiguousarray(
            values, np.float64 if dtype == np.float32 else dtype
        )


def objective(kernel, examples, terms, B, beta):
    points = B if terms.others is None else np.vstack([B, terms.others[0]])
    all_beta = beta if terms.others is None else np.vstack([beta, terms.others[1]])
    scores = kernel(examples.X, points) @ all_beta
    truth = scores[np.arange(len(scores)), examples.y]
    hinge = (scores + examples.cost[examples.y]).max(axis=1) - truth
    norm = np.einsum("ik,ij,jk->", all_beta, kernel(points), all_beta)
    return norm / 2 + examples.mass @ hinge


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.parametrize(
    "kernel", [kernels.rbf(0.3), kernels.polynomial(3, 0.5, 1.0), kernels.rbf(0.2) + 1]
)
def test_gradients_are_those_of_the_objective(kernel, others):
    rng = np.random.default_rng(0)
    X, y = random_data()
    cost = rng.uniform(0.5, 2, size=(3, 3)) * (1 - np.eye(3))
    mass = rng.uniform(0.1, 1, size=len(y))
    examples = descent.Examples.on(Double(), X, y, cost, mass)
    examples = descent.Examples(**{**vars(examples), "cost": cost, "mass": mass})
    shape = descent.Smooth(kernel)
    if isinstance(kernel, type(kernels.rbf(1.0))):
        shape = descent.Gaussians(kernel.gamma)
    B, beta = rng.normal(size=(5, 4)), rng.normal(size=(5, 3))
    terms = descent.Terms(B, beta)
    if others:
        still = rng.normal(size=(3, 4)), rng.normal(size=(3, 3))
        terms = descent.Terms(B, beta, still, kernel(X, still[0]) @ still[1])
    rows, ones = np.arange(len(y)), np.ones(len(y))
    risk = descent._risk_gradient(shape, examples, terms, rows, ones, B, beta)
    norm = descent._norm_gradient(shape, terms, B, beta)
    by_beta, by_point = risk[0] + norm[0], risk[1] + norm[1]
    for values, gradient in ((beta, by_beta), (B, by_point)):
        for at in [(0, 0), (2, 1), (4, 2)]:
            kept, ends = values[at], []
            for step in (1e-6, -1e-6):
                values[at] = kept + step
                ends.append(objective(kernel, examples, terms, B, beta))
            values[at] = kept
            slope = (ends[0] - ends[1]) / 2e-6
            assert gradient[at] == pytest.approx(slope, rel=1e-4, abs=1e-5)


def test_samples_have_the_right_mean():
    X, y = random_data(n=50)
    examples = descent.Examples.on(Cpu(), X, y, 1 - np.eye(3), np.ones(50))
    for margin in (np.linspace(-1, 2, 50), np.full(50, -1.0), np.full(50, 2.0)):
        rows, weights = descent._draw(examples, margin, 400, np.random.default_rng(0))
        assert rows.shape == (400, len(weights))
        mean = np.bincount(rows.ravel(), np.tile(weights, 400), minlength=50) / 400
        np.testing.assert_allclose(mean, 1.0, atol=0.15)


def test_descent_lowers_the_objective():
    X, y = random_data(n=300)
    kernel, rng = kernels.rbf(0.3), np.random.default_rng(0)
    examples = descent.Examples.on(Cpu(), X, y, 1 - np.eye(3), np.full(300, 2.0))
    basis = Basis(kernel, X[:10])
    start = descent.Terms(X[:10].astype(np.float32), np.zeros((10, 3), np.float32))
    start.beta += 0.1 * rng.normal(size=start.beta.shape)
    shape = descent.Gaussians(0.3)
    end = descent.descend(shape, examples, start, 600, rng)
    before = objective(kernel, examples, start, start.points, start.beta)
    after = objective(kernel, examples, end, end.points, end.beta)
    assert after < 0.9 * before
    assert len(basis) == 10
    assert (start.points == X[:10].astype(np.float32)).all()


def test_the_gradient_of_the_norm_is_renewed(monkeypatch):
    X, y = random_data(n=100)
    examples = descent.Examples.on(Cpu(), X, y, 1 - np.eye(3), np.ones(100))
    terms = descent.Terms(X[:5].astype(np.float32), np.ones((5, 3), np.float32))
    calls, renew = [], descent._norm_gradient
    watch = lambda *given: calls.append(1) or renew(*given)  # noqa: E731
    monkeypatch.setattr(descent, "_norm_gradient", watch)
    rng = np.random.default_rng(0)
    descent.descend(descent.Gaussians(0.3), examples, terms, 100, rng)
    assert len(calls) == 100 // descent.NORM_EVERY


def test_the_last_columns_stay():
    X, y = random_data(n=100)
    X[:, -1] = 0.0
    examples = descent.Examples.on(Cpu(), X, y, 1 - np.eye(3), np.ones(100), 1)
    X = examples.X + np.float32([0, 0, 0, 1])
    examples = descent.Examples(**{**vars(examples), "X": X, "norms": (X**2).sum(1)})
    start = X[:5] * np.float32([1, 1, 1, 0])
    terms = descent.Terms(start, np.ones((5, 3), np.float32))
    shape, rng = descent.Gaussians(0.3), np.random.default_rng(0)
    end = descent.descend(shape, examples, terms, 50, rng)
    assert (end.points[:, -1] == 0).all()
    assert (end.points[:, :-1] != start[:, :-1]).all()


def test_pursuit_needs_fewer_points_than_a_random_basis(digits):
    X, y = digits
    settings = {"n_components": 20, "C": 5}
    pursuit = KernelSVM(**settings).fit(X, y).certificate_
    random = KernelSVM(method="nystroem", **settings).fit(X, y).certificate_
    trained = KernelSVM(method="training-points", **settings).fit(X, y).certificate_
    assert pursuit.primal < 0.8 * random.primal
    assert pursuit.primal < trained.primal < 1.05 * random.primal
    assert pursuit.relative_gap < random.relative_gap


# choices ----------------------------------------------------------------------------------


def residual(kernel, X, chosen, pulls):
    """|r - P r|^2 summed over the columns of r."""
    z = Basis(kernel, X[chosen]).transform(X)
    gram = kernel(X)
    return np.einsum("ik,ij,jk->", pulls, gram - z @ z.T, pulls)


def test_chosen_points_leave_less_than_random_ones():
    X, y = random_data(n=150)
    kernel = kernels.rbf(0.3)
    pulls = first_pulls(y, 1 - np.eye(3), np.ones(150))
    first = np.arange(5)
    basis = Basis(kernel, X[first])
    ours, theirs = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        for before in (None, basis):
            old = first[:0] if before is None else first
            new = best_of(kernel, X, pulls, before, 4, rng)
            assert len(set(new)) == 4
            ours.append(residual(kernel, X, np.append(old, new), pulls))
            for _ in range(5):
                other = np.append(old, rng.choice(np.arange(5, 150), 4, replace=False))
                theirs.append(residual(kernel, X, other, pulls))
    assert np.mean(ours) < 0.7 * np.mean(theirs)
    assert np.max(ours) < np.median(theirs)


def test_the_best_of_all_is_chosen():
    """With 59 candidates or fewer, the first is the best there is."""
    X, y = random_data(n=50)
    kernel = kernels.rbf(0.3)
    pulls = first_pulls(y, 1 - np.eye(3), np.ones(50))
    basis = Basis(kernel, X[:3])
    (new,) = best_of(kernel, X, pulls, basis, 1, np.random.default_rng(0))
    left = [residual(kernel, X, np.append([0, 1, 2], i), pulls) for i in range(3, 50)]
    assert new == 3 + int(np.argmin(left))


def test_points_in_the_span_are_not_chosen():
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 10, axis=0)
    kernel = kernels.rbf(0.3)
    pulls = np.random.default_rng(1).normal(size=(40, 2))
    new = best_of(kernel, X, pulls, None, 8, np.random.default_rng(0))
    assert len(new) <= 4
    assert len(np.unique(X[new], axis=0)) == len(new)
    basis = Basis(kernel, X[[0, 10, 20, 30]])
    rng = np.random.default_rng(0)
    assert len(best_of(kernel, X, pulls, basis, 8, rng)) == 0
    nothing = best_of(kernel, X, 0 * pulls, basis, 8, rng)
    assert len(set(nothing)) == 8


def test_stages_double():
    assert stages(500) == [10, 20, 50, 100, 200, 500]
    assert stages(30) == [10, 20, 30]
    assert stages(5) == [5]
    assert stages(10) == [10]
    assert stages(100, [30, 100, 7]) == [7, 10, 20, 30, 50, 100]
    for n in (1, 9, 11, 333, 5000):
        sizes = stages(n)
        assert sizes[-1] == n
        assert sizes == sorted(set(sizes))
        assert all(b <= 2.5 * a for a, b in itertools.pairwise(sizes))


def test_the_first_pull_is_towards_the_truth():
    cost = np.array([[0, 1, 5.0], [2, 0, 1], [1, 1, 0]])
    pulls = first_pulls(np.array([0, 1, 2]), cost, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(pulls, [[1, 0, -1], [-2, 2, 0], [-3, 0, 3]])


# the basis --------------------------------------------------------------------------------


def test_coordinates_are_projections():
    X, _ = random_data(n=60)
    kernel = kernels.rbf(0.3)
    basis = Basis(kernel, X[:20])
    z = basis.transform(X)
    exact = kernel(X)
    np.testing.assert_allclose(z[:20] @ z.T, exact[:20], atol=1e-8)
    left = basis.left_over(X, z)
    np.testing.assert_allclose(left[:20], 0, atol=1e-8)
    block = exact[:, :20]
    wanted = 1 - np.einsum("ij,ij->i", block @ np.linalg.inv(exact[:20, :20]), block)
    np.testing.assert_allclose(left, wanted, atol=1e-8)
    assert left[20:].min() > 0
    weights = np.random.default_rng(0).normal(size=(20, 3))
    beta = basis.coefficients(weights)
    np.testing.assert_allclose(
        expand(kernel, X, basis.points, beta), z @ weights, atol=1e-8
    )
    single = basis.transform(X, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, z, atol=1e-4)


def test_blocks_of_rows_are_put_together(monkeypatch):
    from maxmargin.kernels import basis as module

    X, _ = random_data(n=60)
    basis = Basis(kernels.rbf(0.3), X[:7])
    beta = np.random.default_rng(0).normal(size=(7, 2))
    z, scores = basis.transform(X), expand(basis.kernel, X, X[:7], beta)
    monkeypatch.setattr(module, "ROWS", 16)
    np.testing.assert_allclose(basis.transform(X), z, atol=1e-12)
    np.testing.assert_allclose(expand(basis.kernel, X, X[:7], beta), scores, atol=1e-12)


def test_dependent_points_are_left_out():
    X, _ = random_data(n=12)
    copies = np.vstack([X[:5], X[2:8], X[:1] + 1e-9])
    basis = Basis(kernels.rbf(0.3), copies)
    assert len(basis) == len(basis.kept) == len(basis.points) == 8
    np.testing.assert_array_equal(basis.points, copies[basis.kept])
    z = basis.transform(copies)
    np.testing.assert_allclose(z @ z.T, kernels.rbf(0.3)(copies), atol=1e-5)
    linear = Basis(kernels.linear(), X)
    assert len(linear) == 4
    factor, kept = independent_rows(np.diag([1.0, 0.0, 4.0]))
    np.testing.assert_array_equal(kept, [0, 2])
    np.testing.assert_allclose(factor, np.diag([1.0, 2.0]))
