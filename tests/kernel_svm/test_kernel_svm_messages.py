"""What KernelSVM says of impossible input, before it trains."""

from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sparse
from kernel_cases import BASES, random_data, random_strings

from maxmargin import KernelSVM, kernels

SOME = {"method": "nystroem", "n_components": 10}
X, Y = random_data()
STRINGS, KINDS = random_strings()


def says(sentence, *data, **parameters):
    data = data or (X, Y)
    model = KernelSVM(**{**SOME, **parameters})
    with pytest.raises(ValueError, match=sentence) as error:
        model.fit(*data)
    assert not hasattr(model, "dual_coef_")
    text = str(error.value)
    assert text.endswith(".")
    assert "truth value" not in text
    assert "array element" not in text


# parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, -1, True, 2.5, "3", np.nan])
def test_sizes(n):
    says(
        f"n_components={n!r} is not possible: it must be a positive whole",
        n_components=n,
    )
    says(f"max_terms={n!r} is not possible: it must be a positive whole", max_terms=n)


def test_sizes_beyond_the_samples():
    sentence = r"n_components=41 is more than the 40 training samples: choose at most"
    for method in BASES:
        says(sentence, method=method, n_components=41)
    says(sentence, X @ X.T, Y, kernel="precomputed", n_components=41)
    with pytest.raises(ValueError, match=sentence):
        KernelSVM(**SOME).path(X, Y, n_components=[5, 41])


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, None, True, "wide"])
def test_widths(gamma):
    says("gamma must be", gamma=gamma)


@pytest.mark.parametrize("C", [np.inf, 0, -1, np.nan, True, "1", 10**400, 1e300])
def test_C(C):
    says("^C=inf is not possible with kernels|^C=.* is not possible|^C times", C=C)


@pytest.mark.parametrize("memory", [0, -1, None, "4 GB", np.nan, True])
def test_memory_that_is_no_number(memory):
    says("memory=.* is not possible: it must be a number of bytes", memory=memory)


def test_too_little_memory():
    says(
        r"exact machine of 40 samples takes at least 2.3e-05 GB, for 40 rows of the "
        r"kernel's table, but memory=10000 allows 1e-05 GB: choose another method",
        method="exact",
        memory=1e4,
    )
    says(
        "of 40 samples in a basis of 10 would take .* GB, but memory=10000 allows 1e-05 "
        "GB. With n_components up to 7 it fits",
        memory=1e4,
    )
    KernelSVM(n_components=7, memory=1e4).fit(X, Y)


@pytest.mark.parametrize("name", ["foo", None, ["exact"], 3])
def test_names(name):
    says("method=.* is not known; choose one of auto,", method=name)
    says("preimage=.* is not possible: .* follow the gradient", preimage=name)
    says("kernel", kernel=name)


def test_a_way_to_find_points_that_is_gone():
    says('"fixed-point", which found worse ones, is gone', preimage="fixed-point")


@pytest.mark.parametrize("method", ["subspace-pursuit", "nystroem", "exact"])
def test_devices(method):
    for device in ("gpu", None, 0, ""):
        says("device=.* is not possible: it must be", method=method, device=device)
    if find_spec("torch") is None:
        says('"?cuda.* needs PyTorch, which is not installed', device="cuda")
        return
    import torch

    if not torch.cuda.is_available():
        says("PyTorch sees no GPU on this machine", device="cuda")


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (
            {0: 1.0, 7: 2.0},
            r"a weight for 7, which is no class of y: those are 0, 1, 2",
        ),
        ({0: 1, 1: 1, 2: 1, "9": 3}, "a weight for '9', which is no class of y"),
        ({0: -1.0}, "class_weight of 0 is -1.0: weights must be finite"),
        ({1: np.nan}, "class_weight of 1 is nan"),
        ({1: "a"}, "class_weight of 1 is 'a'"),
        ({0: 0, 1: 0, 2: 0}, "all sample weights are zero"),
        ("even", "class_weight='even' is not possible: it must be a dict"),
        (np.ones(3), "class_weight=.* is not possible: it must be a dict"),
        ([1, 2], "class_weight=.* is not possible: it must be a dict"),
    ],
)
def test_class_weights(weights, sentence):
    says(sentence, class_weight=weights)


def test_paths():
    model = KernelSVM(**SOME)
    for arguments in ({}, {"Cs": [1.0], "n_components": [2]}):
        with pytest.raises(ValueError, match="either Cs or n_components"):
            model.path(X, Y, **arguments)
    with pytest.raises(ValueError, match="C=-1 is not possible"):
        model.path(X, Y, Cs=[1.0, -1])
    with pytest.raises(ValueError, match=r"n_components=2.5 is not possible"):
        model.path(X, Y, n_components=[2.5])


# kernels ----------------------------------------------------------------------------------


def test_functions_that_are_no_kernels():
    says(
        "not symmetric: .* the other way round", kernel=lambda a, b: float(a[0] * b[1])
    )
    says("not positive semidefinite", kernel=lambda a, b: -float(a @ b))
    says("is nan for the samples 0 and 0", kernel=lambda a, b: float("nan"))
    says("must give a number", kernel=lambda a, b: "much")
    says("sigmoid kernel is not positive semidefinite", kernel="sigmoid")
    says("kernel is the class", kernel=kernels.rbf().__class__)
    says("There is no kernel 'gauss'", kernel="gauss")


def test_kernels_that_see_nothing():
    for method in (*BASES, "exact"):
        says(
            "All points of the basis have a zero length",
            np.zeros((40, 4)),
            Y,
            kernel="linear",
            method=method,
        )


def test_precomputed_matrices():
    K = X @ X.T
    given = {"kernel": "precomputed", "method": "exact"}
    says("must be square: it has 40 rows and 30 columns", K[:, :30], Y, **given)
    says("not symmetric", K + np.triu(np.ones((40, 40))), Y, **given)
    says("not positive semidefinite", -K, Y, **given)
    says(
        "row 0: the value of column 1 is nan", K + np.diag([np.nan] * 39, 1), Y, **given
    )
    for method in set(BASES) - {"nystroem"}:
        sentence = f"method='{method}' needs the inputs, .* choose \"exact\" or"
        says(sentence, K, Y, kernel="precomputed", method=method)
    says("compute it from K yourself", K, Y, kernel=kernels.precomputed() + 1)
    for matrix in (K, sparse.csr_matrix(K)):
        model = KernelSVM(**given).fit(matrix, Y)
        with pytest.raises(
            ValueError, match="30 columns, but must have a column for each"
        ):
            model.predict(matrix[:, :30])


def test_sampling_needs_inputs_and_plain_classes():
    tree = {"0": None, "1": None, "2": None}
    sentence = 'method="sampling" needs inputs and plain classes'
    says(sentence, X, Y.astype(str), method="sampling", taxonomy=tree)
    says(sentence, X @ X.T, Y, method="sampling", kernel="precomputed")


def test_taxonomies_without_a_class():
    says(
        "'2' is not in the taxonomy", X, Y.astype(str), taxonomy={"0": None, "1": None}
    )


# X and y ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_values_that_are_not_finite(bad, form):
    table = X.copy()
    table[3, 2] = bad
    sentence = f"row 3: the value of column 2 is {bad}"
    says(sentence, form(table), Y)
    model = KernelSVM(**SOME).fit(X, Y)
    with pytest.raises(ValueError, match=sentence):
        model.predict(form(table))


def test_classes():
    says("one class only", X, np.zeros(40))
    says("one class only", STRINGS, np.zeros(40), kernel=kernels.spectrum(2))
    unknown = [None, *Y.tolist()[1:]]
    says("y holds None: .* Leave them out, or take MulticlassSVM", X, unknown)
    unknown = [None, *KINDS.tolist()[1:]]
    says("y holds None", STRINGS, unknown, kernel=kernels.spectrum(2))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KernelSVM(**SOME).fit(X, Y[:-1])
    says("40 samples, but y has 39", STRINGS, KINDS[:-1], kernel=kernels.spectrum(2))


def test_strings():
    says("X holds strings, but this is a kernel of vectors", STRINGS, KINDS)
    says("X is one string", "acgt", [0, 1, 0, 1], kernel=kernels.spectrum(2))
    says("Sample 39 of X is int", [*STRINGS[:-1], 3], KINDS, kernel=kernels.spectrum(2))
    model = KernelSVM(kernels.spectrum(2), **SOME).fit(STRINGS, KINDS)
    with pytest.raises(ValueError, match="trained on samples of another kind"):
        model.predict(X)
    with pytest.raises(ValueError, match="X is one string"):
        model.predict("acgt")


def test_other_features():
    model = KernelSVM(**SOME).fit(X, Y)
    for table in (X[:, :3], sparse.csr_matrix(X[:, :3])):
        with pytest.raises(
            ValueError, match="X has 3 features, but KernelSVM is expect"
        ):
            model.predict(table)
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(X[0])
    for other in (["a", "b"], {"a": [1.0]}, [["a", "b"]]):
        with pytest.raises(ValueError, match="trained on one of 4 columns"):
            model.predict(other)
    says("row 1 of X does not have 2 values", [[1.0, 2.0], [1.0]], [0, 1])


@pytest.mark.parametrize("method", [*BASES, "exact"])
def test_copies_count_once(method):
    model = KernelSVM(method=method, n_components=10, C=10).fit(np.ones((40, 4)), Y)
    assert len(model.basis_) == 1
    assert set(model.predict(X)) == {np.bincount(Y).argmax()}
    places = np.arange(40) % 3
    points = np.array([[0.0, 1.0], [5.0, 0.0], [0.0, -7.0]])
    model = KernelSVM(method=method, n_components=10, C=10)
    model.fit(points[places], places)
    assert len(model.basis_) <= 10
    assert model.converged_
    if method != "subspace-pursuit":
        assert len(model.basis_) == 3
    assert model.predict(points).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "method", ["nystroem", "nystroem-kmeans", "incomplete-cholesky"]
)
def test_samples_of_no_weight_do_not_make_the_default_basis_too_large(method):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    weights = np.where(np.arange(30) < 5, 0.0, 1.0)
    model = KernelSVM(method=method).fit(X, y, sample_weight=weights)
    assert len(model.basis_) <= 25


def test_a_tiny_C_is_no_foreign_error():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    assert KernelSVM(C=1e-300).fit(X, y).certificate_.primal >= 0
