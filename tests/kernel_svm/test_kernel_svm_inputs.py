"""KernelSVM: kinds of input, scikit-learn's tools, files."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse
from kernel_cases import BASES, random_data, random_strings
from kernel_svm_cases import SOME, TINY, three, two  # noqa: F401
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import KernelSVM, kernels, load, save
from maxmargin.testing import check_model_file

# ruff: noqa: F811  (what is imported so is a fixture)


# inputs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*BASES, "exact"])
def test_sparse_tables_are_tables(three, method):
    X, y = three
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    settings = {"method": method, "n_components": 8, "C": 1.0}
    dense = KernelSVM(**settings).fit(X, y)
    thin = KernelSVM(**settings).fit(sparse.csr_matrix(X), y)
    wanted = dense.decision_function(X)
    for table in (X, sparse.csr_matrix(X), sparse.dok_matrix(X), X.tolist()):
        np.testing.assert_allclose(thin.decision_function(table), wanted, atol=1e-6)
        np.testing.assert_allclose(dense.decision_function(table), wanted, atol=1e-9)


def test_single_precision(three):
    X, y = three
    for method in ("exact", "nystroem", "training-points"):
        settings = {"method": method, "n_components": 8, "gamma": 0.2}
        double = KernelSVM(**settings, tol=1e-3).fit(X, y)
        single = KernelSVM(**settings, tol=1e-3).fit(X.astype(np.float32), y)
        assert single.basis_.dtype == np.float32
        primals = single.certificate_.primal, double.certificate_.primal
        assert primals[0] == pytest.approx(primals[1], rel=3e-3)
        exacter = KernelSVM(**settings, tol=1e-6).fit(X.astype(np.float32), y)
        assert exacter.converged_
        same = single.predict(X) == single.predict(X.astype(np.float32))
        assert same.all()


def test_rows_as_lists_and_tuples(three):
    X, y = three
    wanted = KernelSVM(**SOME).fit(X, y).decision_function(X)
    for rows in (X.tolist(), [tuple(row) for row in X.tolist()], tuple(X.tolist())):
        model = KernelSVM(**SOME).fit(rows, y.tolist())
        assert model.n_features_in_ == 4
        np.testing.assert_array_equal(model.decision_function(rows), wanted)


def test_nothing_to_predict(three):
    model = KernelSVM(**SOME).fit(*three)
    assert model.predict([]).shape == (0,)
    assert model.decision_function([]).shape == (0, 3)
    K = three[0] @ three[0].T
    model = KernelSVM(kernel="precomputed", **SOME).fit(K, three[1])
    assert model.predict([]).shape == (0,)
    strings, y = random_strings()
    model = KernelSVM(kernels.spectrum(2), **SOME).fit(strings, y)
    assert model.predict([]).shape == (0,)


@pytest.mark.parametrize(
    "method", ["subspace-pursuit", "training-points", "nystroem", "exact"]
)
def test_kernels_of_strings(method):
    X, y = random_strings()
    best = KernelSVM(kernels.spectrum(2), method="exact", tol=1e-6).fit(X, y)
    for strings in (X, np.array(X), np.array(X, object)):
        model = KernelSVM(kernels.spectrum(2), method=method, n_components=10)
        model.fit(strings, y)
        assert model.score(X, y) > 0.9
        proof = model.certificate_
        assert proof.dual <= best.certificate_.primal * (1 + 1e-9)
        assert best.certificate_.dual <= proof.primal * (1 + 1e-9)


def test_tokens_are_letters_too():
    strings, kinds = random_strings()
    kernel = kernels.spectrum(2)
    tokens = [list(string) for string in strings]
    wanted = KernelSVM(kernel, **SOME).fit(strings, kinds).decision_function(strings)
    model = KernelSVM(kernel, **SOME).fit(tokens, kinds)
    np.testing.assert_allclose(model.decision_function(tokens), wanted)
    empty = [[], *tokens[1:]]
    assert len(KernelSVM(kernel, **SOME).fit(empty, kinds).predict(empty)) == len(kinds)


def test_functions_and_samples_of_their_own(two):
    def common(a, b):
        return len(set(a["letters"]) & set(b["letters"]))

    X = [{"letters": text} for text in ("ab", "abc", "xy", "xyz", "bc", "yz")]
    y = [0, 0, 1, 1, 0, 1]
    for method in ("exact", "training-points", "nystroem"):
        model = KernelSVM(common, method=method, n_components=4, C=10).fit(X, y)
        assert model.predict(X).tolist() == y
    X, y = two
    K = KernelSVM(lambda a, b: float(a @ b), **SOME).fit(X, y)
    wanted = KernelSVM("linear", **SOME).fit(X, y)
    np.testing.assert_allclose(
        K.decision_function(X), wanted.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("method", ["exact", "nystroem"])
def test_a_precomputed_matrix_is_its_kernel(three, method):
    X, y = three
    K = np.asarray(kernels.rbf(0.3)(X))
    settings = {"method": method, "n_components": 10, "C": 1.0}
    model = KernelSVM(kernel="precomputed", **settings).fit(K, y)
    thin = KernelSVM(kernel=kernels.precomputed(), **settings)
    thin.fit(sparse.csr_matrix(K), y)
    wanted = model.decision_function(K)
    np.testing.assert_allclose(thin.decision_function(K), wanted, atol=1e-9)
    if method == "exact":
        other = KernelSVM(gamma=0.3, method="exact", C=1.0).fit(X, y)
        np.testing.assert_allclose(other.decision_function(X), wanted, atol=1e-9)
        assert other.certificate_.primal == pytest.approx(model.certificate_.primal)
        assert other.certificate_.dual == pytest.approx(model.certificate_.dual)
    best = KernelSVM(gamma=0.3, method="exact", C=1.0, tol=TINY).fit(X, y)
    assert model.certificate_.dual <= best.certificate_.primal * (1 + 1e-9)


def test_tables_of_pandas(three):
    pandas = pytest.importorskip("pandas")
    X, y = three
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model = KernelSVM(**SOME).fit(frame, pandas.Series(y))
    assert model.feature_names_in_.tolist() == list("abcd")
    wanted = KernelSVM(**SOME).fit(X, y).predict(X)
    np.testing.assert_array_equal(model.predict(frame), wanted)
    strings, kinds = random_strings()
    model = KernelSVM(kernels.spectrum(2), **SOME).fit(pandas.Series(strings), kinds)
    assert model.score(strings, kinds) > 0.9


# scikit-learn -----------------------------------------------------------------------------


def test_searches_and_pipelines(three):
    X, y = three
    pipeline = make_pipeline(StandardScaler(), KernelSVM(**SOME))
    grid = {"kernelsvm__C": [1e-4, 10.0], "kernelsvm__kernel": ["rbf", "linear"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.4
    kernel = [kernels.rbf(0.1), kernels.rbf(0.1) + 1]
    GridSearchCV(KernelSVM(**SOME), {"kernel": kernel}, cv=3).fit(X, y)


@pytest.mark.parametrize("kernel", ["precomputed", kernels.precomputed()])
def test_searches_split_columns_of_a_matrix(three, kernel):
    X, y = three
    model = KernelSVM(kernel=kernel, method="exact")
    search = GridSearchCV(model, {"C": [0.1, 10.0]}, cv=3).fit(X @ X.T, y)
    assert search.predict(X @ X.T).shape == y.shape


def test_pickles(three):
    X, y = three
    model = KernelSVM(**SOME).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )
    assert again.certificate_ == model.certificate_


# files ------------------------------------------------------------------------------------


def saved_cases():
    X, y = random_data()
    strings, kinds = random_strings()
    spectrum = kernels.normalized(kernels.spectrum(2)) + 0.5
    K = X @ X.T
    tree = {"0": "even", "2": "even", "1": "odd", "even": None, "odd": None}
    return {
        "vectors": (KernelSVM(**SOME), X, y),
        "pursuit": (KernelSVM(n_components=5, C=2), X, y),
        "single": (KernelSVM(**SOME), X.astype(np.float32), y),
        "sparse": (KernelSVM(**SOME), sparse.csr_matrix(X), y),
        "strings": (KernelSVM(spectrum, **SOME), strings, kinds),
        "numpy-strings": (KernelSVM(spectrum, **SOME), np.array(strings), kinds),
        "precomputed": (KernelSVM("precomputed", **SOME), K, y),
        "taxonomy": (KernelSVM(**SOME, taxonomy=tree), X, y.astype(str)),
        "open-width": (KernelSVM(kernels.rbf() + 1, **SOME), X, y),
        "sampling": (KernelSVM(method="sampling", n_components=8), X, y),
    }


@pytest.mark.parametrize("name", saved_cases())
def test_models_come_back_from_files(name, tmp_path):
    model, X, y = saved_cases()[name]
    model.set_params(memory=1e9).fit(X, y)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    found, wanted = again.decision_function(X), model.decision_function(X)
    np.testing.assert_allclose(found, wanted, atol=0 if name != "sparse" else 1e-9)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert repr(again.certificate_) == repr(model.certificate_)  # nan is not nan
    assert again.history_ == model.history_
    assert again.kernel_ == model.kernel_
    assert again.kernel == model.kernel
    params = again.get_params(deep=False)
    assert params.pop("memory") == 4e9  # what a machine has is not the model's
    assert params.items() <= model.get_params(deep=False).items()
    again.fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


@pytest.mark.parametrize("name", ["vectors", "strings", "precomputed"])
def test_hostile_files(name):
    model, X, y = saved_cases()[name]
    outcomes = check_model_file(model.fit(X, y), X, n=150)
    assert outcomes["refused"] > 20


@pytest.mark.parametrize("name", ["vectors", "strings", "precomputed"])
def test_points_and_coefficients_in_a_file_fit_together(name):
    model, X, y = saved_cases()[name]
    arrays, state = model.fit(X, y)._get_state()
    params = model.get_params(deep=False)
    again = KernelSVM._from_state(dict(params), arrays, state)
    assert len(again.basis_) == len(model.dual_coef_)
    for part in (arrays, state):
        for key in {"points", "columns"} & set(part):
            kept, part[key] = part[key], part[key][:-1]
            with pytest.raises(ValueError, match="not fit"):
                KernelSVM._from_state(dict(params), arrays, state)
            part[key] = kept


def test_functions_are_not_saved(three, tmp_path):
    X, y = three
    model = KernelSVM(lambda a, b: float(a @ b), **SOME).fit(X, y)
    with pytest.raises(ValueError, match=r"cannot be saved: its kernel .* function"):
        save(model, tmp_path / "model.safetensors")
    batch = {"a": ["x", "y", "x"]}
    model = KernelSVM(kernels.spectrum(1).of("a"), method="exact").fit(batch, [0, 1, 0])
    with pytest.raises(ValueError, match="neither numbers nor strings"):
        save(model, tmp_path / "model.safetensors")
    parts = [{"a": "x"}, {"a": "y"}, {"a": "x"}]
    model = KernelSVM(lambda a, b: float(a == b), method="exact").fit(parts, [0, 1, 0])
    with pytest.raises(ValueError, match="cannot be saved"):
        save(model, tmp_path / "model.safetensors")


def test_the_number_of_kernel_values(three):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelSVM(**SOME).fit(*three)
    assert model.n_support_points == len(model.basis_) == 10
