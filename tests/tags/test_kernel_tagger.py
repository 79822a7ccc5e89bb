"""Taggers with a kernel of the tokens' features."""

from __future__ import annotations

import pickle
import warnings
from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import SequenceTagger, kernels, load, save
from maxmargin.core.tables.coordinates import KernelEncoder
from maxmargin.kernels.basis import bytes_needed, check_memory, largest_basis
from maxmargin.tags.features import TokenEncoder
from maxmargin.tags.features.pursued import Supervision, pursued_basis
from maxmargin.tags.parameters import METHODS
from maxmargin.testing import check_model_file

EXACT = {"tol": 1e-7, "max_iter": 10_000}


def tables(n=15, seed=0):
    """Labels that are no linear function of the features: the quadrant's parity."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(0, 6), 3)) for _ in range(n)]
    return X, [[("odd", "even")[int(a * b > 0)] for a, b, _ in x] for x in X]


def products(x):
    """Explicit features of (1 + x.x')^2."""
    pairs = [np.sqrt(2) * x[:, a] * x[:, b] for a, b in combinations(range(3), 2)]
    rest = [np.ones((len(x), 1)), np.sqrt(2) * x, x**2]
    return np.hstack([*rest, np.array(pairs).T.reshape(len(x), 3)])


def test_the_linear_kernel_is_the_linear_tagger():
    X, y = tables()
    linear = SequenceTagger(**EXACT).fit(X, y)
    kernel = SequenceTagger(kernel="linear", **EXACT).fit(X, y)
    assert kernel.certificate_.primal == pytest.approx(
        linear.certificate_.primal, rel=1e-6
    )
    assert np.allclose(kernel.transitions_, linear.transitions_, atol=1e-3)


def test_a_polynomial_kernel_is_the_machine_of_products():
    X, y = tables()
    linear = SequenceTagger(**EXACT).fit([products(x) for x in X], y)
    kernel = SequenceTagger(kernel=kernels.polynomial(2), **EXACT).fit(X, y)
    assert kernel.certificate_.primal == pytest.approx(
        linear.certificate_.primal, rel=1e-6
    )
    assert kernel.coef_.shape == (2, 10)  # all products, and no more
    for a, b in zip(
        kernel.decision_function(X),
        linear.decision_function([products(x) for x in X]),
        strict=True,
    ):
        assert np.allclose(a, b, atol=1e-2)


def test_a_kernel_learns_what_is_not_linear():
    X, y = tables(60)
    new, truth = tables(40, seed=1)
    linear = SequenceTagger(C=10).fit(X, y)
    kernel = SequenceTagger(kernel="rbf", C=10).fit(X, y)
    few = SequenceTagger(kernel="rbf", C=10, method="nystroem", n_components=60)
    few.fit(X, y)
    assert linear.score(new, truth) < 0.75
    assert kernel.score(new, truth) > 0.9
    assert few.score(new, truth) > 0.85
    assert few.coef_.shape == (2, 60)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tokens", [False, True])
def test_every_method_makes_a_basis(method, tokens):
    X, y = tables(10)
    if tokens:
        X = [[[f"w{int(3 * a)}", f"v{int(b)}"] for a, b, _ in x] for x in X]
    model = SequenceTagger(kernel="rbf", method=method, n_components=8).fit(X, y)
    assert model.score(X, y) > 0.5
    if method != "exact":
        assert model.coef_.shape[1] <= 8


def test_all_points_chosen_are_the_exact_machine():
    X, y = tables()
    n = sum(map(len, X))
    exact = SequenceTagger(kernel="rbf", **EXACT).fit(X, y)
    all_points = SequenceTagger(
        kernel="rbf", method="nystroem", n_components=n, **EXACT
    )
    assert all_points.fit(X, y).certificate_.primal == pytest.approx(
        exact.certificate_.primal, rel=1e-6
    )


@pytest.mark.parametrize("tokens", ["lists", "sparse", "columns"])
def test_tokens_with_features(tokens, tmp_path):
    """One-hot features: what two together mean, neither says alone."""
    words = [("a", "x"), ("a", "z"), ("b", "x"), ("b", "z")]
    X = [[words[k], words[(k + 1) % 4]] for k in range(4)]
    y = [[str((a == "a") == (b == "x")) for a, b in x] for x in X]
    settings = {"order": 0, "C": 100.0, "kernel": kernels.polynomial(2)}
    if tokens == "columns":
        settings["features"] = "U0:%x[0,0]\nU1:%x[0,1]"
    if tokens == "sparse":
        import scipy.sparse as sp

        number = {"a": 0, "b": 1, "x": 2, "z": 3}
        hot = np.eye(4)
        X = [
            sp.csr_matrix(sum(hot[[number[t[j]] for t in x]] for j in (0, 1)))
            for x in X
        ]
    model = SequenceTagger(**settings).fit(X, y)
    assert model.score(X, y) == 1.0
    with pytest.warns(UserWarning, match="weights that are all zero"):
        linear = SequenceTagger(**settings | {"kernel": None}).fit(X, y)
    assert linear.score(X, y) < 1.0
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(X) == model.predict(X)
    assert again.kernel == model.kernel
    assert again.feature_names_ is None


@pytest.mark.parametrize("method", ["exact", "nystroem"])
def test_saved_and_loaded(method, tmp_path):
    X, y = tables()
    model = SequenceTagger(kernel="rbf", method=method, n_components=9).fit(X, y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params() == model.get_params()
    assert again.predict(X) == model.predict(X)
    for ask in ("predict_marginals", "decision_function"):
        for a, b in zip(getattr(model, ask)(X), getattr(again, ask)(X), strict=True):
            # products of a basis that lies elsewhere are added up in another order
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
    for a, b in zip(
        again.predict_k_best(X, 2), model.predict_k_best(X, 2), strict=True
    ):
        assert [y for y, _ in a] == [y for y, _ in b]
    assert again.fit(X, y).certificate_ == model.certificate_


@pytest.mark.parametrize("tokens", [False, True])
def test_files_are_not_believed(tokens):
    X, y = tables(6)
    if tokens:
        X = [[[f"w{int(3 * a)}", f"v{int(b)}"] for a, b, _ in x] for x in X]
    kernel = 0.5 * kernels.rbf(0.3) + kernels.polynomial(2)
    model = SequenceTagger(kernel=kernel, method="nystroem", n_components=5).fit(X, y)
    check_model_file(model, X, n=80)


def test_a_function_is_not_saved(tmp_path):
    X, y = tables(6)
    model = SequenceTagger(kernel=lambda a, b: float(a @ b)).fit(X, y)
    with pytest.raises(ValueError, match=r"holds no code.*Use pickle"):
        save(model, tmp_path / "model")


def test_other_objectives_and_partial_labels():
    X, y = tables()
    log = SequenceTagger(kernel="rbf", objective="log", tol=1e-4).fit(X, y)
    assert log.converged_
    assert np.allclose(log.predict_marginals(X)[1].sum(axis=1), 1.0)
    rows = [[None, *row[1:]] if row else row for row in y]
    partial = SequenceTagger(kernel="rbf", tol=1e-3).fit(X, rows)
    assert partial.complete(X, rows)[1][1:] == y[1][1:]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "cubic"}, "no kernel 'cubic'"),
        ({"kernel": 3}, "kernel must be a name"),
        ({"kernel": "precomputed"}, "says nothing of new tokens"),
        ({"method": "best"}, "method='best' is not known"),
        ({"n_components": 0}, "n_components=0 is not possible"),
        ({"n_components": 2.0}, "n_components=2.0 is not possible"),
        ({"kernel_memory": "much"}, "positive number of bytes"),
        (
            {"kernel_memory": 1e4},
            "would take .* GB, but kernel_memory=10000 allows",
        ),
        (
            {"method": "nystroem"},
            "n_components=500 is more than the .. training tokens",
        ),
        ({"kernel": lambda a, b: -float(a @ b)}, "not positive semidefinite"),
        ({"kernel": lambda a, b: float(a[0] - b[1])}, "not symmetric"),
    ],
)
def test_sentences(settings, words):
    X, y = tables()
    with pytest.raises(ValueError, match=words):
        SequenceTagger(**{"kernel": "rbf"} | settings).fit(X, y)


def test_prediction_takes_no_more_memory_than_allowed():
    X, _ = tables(6)
    encoder = KernelEncoder(TokenEncoder(), "rbf", memory=1e5)
    encoder.fit_encode(X)
    with pytest.raises(ValueError, match="Predict fewer sequences at a time"):
        encoder.encode(X * 500)


def test_the_largest_basis_fits_and_one_more_does_not():
    for samples in (100, 20_000, 10**6):
        k = largest_basis(samples, 1e7)
        assert bytes_needed(samples, k) <= 1e7 or k == 0
        if k < samples:
            assert bytes_needed(samples, k + 1) > 1e7
    with pytest.raises(ValueError, match="at most 37"):
        check_memory(20_000, 500, 1.4e7, "tokens", "Take at most {points}.")


# bases found by training ------------------------------------------------------------------


def supervised(n=60):
    """Tokens of two kinds in sequences of three, a third of them without a label."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 2))
    y = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    y[::3] = -1
    return rows, y, np.arange(0, n + 1, 3)


@pytest.mark.parametrize("method", ["subspace-pursuit", "training-points"])
@pytest.mark.parametrize("kernel", [kernels.rbf(0.5), kernels.rbf(0.5).of([0, 1])])
def test_tokens_without_a_label_are_left_out_of_the_search(method, kernel):
    rows, y, start = supervised()
    rows[y < 0] += 100.0  # where no basis point may be
    known = Supervision(lambda s: y, 1.0 - np.eye(2), 5.0, np.ones(20))
    basis = pursued_basis(method, kernel, rows, start, known, 12, 0)
    assert 2 <= len(basis) <= 12
    assert np.abs(basis.points).max() < 20
    nobody = known._replace(labels=lambda s: np.minimum(y, 0))
    assert pursued_basis(method, kernel, rows, start, nobody, 12, 0) is None


def test_weights_of_sequences_count_in_the_search():
    rows, y, start = supervised()
    weights = (np.arange(20) % 2).astype(float)
    rows[np.repeat(weights, 3) == 0] += 100.0
    known = Supervision(lambda s: y, 1.0 - np.eye(2), np.inf, weights)
    basis = pursued_basis(
        "subspace-pursuit", kernels.rbf(0.5), rows, start, known, 12, 0
    )
    assert np.abs(basis.points).max() < 20


def test_a_basis_found_by_training_needs_fewer_points():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(5, 2)) for _ in range(60)]
    y = [[str(int(a * a + b * b < 1)) for a, b in x] for x in X]
    y[0][0] = None
    scores = {}
    for method in ("nystroem", "subspace-pursuit"):
        model = SequenceTagger(kernel="rbf", C=10, method=method, n_components=4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X[:40], y[:40])
        scores[method] = model.score(X[40:], y[40:])
        assert pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)
    assert scores["subspace-pursuit"] > max(scores["nystroem"], 0.8)
