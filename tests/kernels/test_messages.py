"""Bad input gives sentences."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import kernels
from maxmargin.kernels import laplace, linear, polynomial, rbf

X = np.arange(6.0).reshape(3, 2)
NAN = np.array([[1.0, 2.0], [np.nan, 0.0]])

CASES = {
    "gamma must be positive, not 0": lambda: rbf(0),
    "gamma must be positive, not -1": lambda: laplace(-1),
    "gamma must be a finite number, not nan": lambda: rbf(float("nan")),
    "gamma must be a finite number, not None": lambda: rbf(None),
    'gamma must be a number, "scale" or "auto"': lambda: rbf("wide"),
    "degree must be a whole number from 1 to 100, not 0": lambda: polynomial(0),
    "degree must be a whole number from 1 to 100, not 1.5": lambda: polynomial(1.5),
    "coef0 must not be negative": lambda: polynomial(2, coef0=-1),
    "difference of kernels is no kernel": lambda: rbf() - linear(),
    "A difference": lambda: 1 - rbf(),
    "difference of kernels": lambda: -rbf(),
    "factor of a kernel must be positive, not -2": lambda: -2 * rbf(),
    "factor of a kernel must be a finite number, not array": lambda: np.ones(2) * rbf(),
    "factor of a kernel must be positive, not 0": lambda: 0 * rbf(),
    "A constant kernel must be positive, not -1": lambda: rbf() + -1,
    "quotient of kernels": lambda: rbf() / linear(),
    "divisor of a kernel must be positive": lambda: rbf() / 0,
    "power of a kernel must be a whole number": lambda: rbf() ** 0.5,
    "must be a kernel, not function: kernels.function": lambda: rbf() + (lambda: 1),
    "What exp is taken of must be a kernel, not float": lambda: kernels.exp(1.0),
    "What multiplies a kernel must be a kernel": lambda: rbf() * np.sin,
    "X has 2 columns, but Y has 3": lambda: rbf()(X, np.zeros((1, 3))),
    "X must be 2-d.*reshape": lambda: rbf()(X[0]),
    "Y must be 2-d": lambda: rbf()(X, np.zeros((1, 1, 2))),
    "X holds strings": lambda: rbf()(["a", "b"]),
    "Y holds strings": lambda: rbf()(X, np.array([["a", 1]], object)),
    "X is not a table of numbers: every sample": lambda: rbf()([[1, 2], [3]]),
    "X has the type complex128": lambda: rbf()(X * 1j),
    "NaN or infinite values, the first in row 1, column 0: nan": lambda: rbf()(NAN),
    "NaN .* row 1, column 0": lambda: laplace()(sp.csr_array(NAN)),
    "too large to be squared, the first in row 0, column 1": lambda: rbf()(X * 1e200),
    "B has|Y has 3": lambda: rbf().gradient(X, np.zeros((1, 3)), np.zeros((3, 1))),
    r"coefficients must have .*\(3, 1\), not \(1, 3\)": lambda: rbf().gradient(
        X, X[:1], np.zeros((1, 3))
    ),
    "has no gradient": lambda: kernels.spectrum(2).gradient(X, X, np.eye(3)),
    "exp.* overflows: its exponent reaches 4100,": lambda: kernels.exp(linear() * 100)(
        X
    ),
    "it overflows. Scale": lambda: ((linear() * 1e50) ** 20)(X),
    "must be square: it has 3 rows and 2": lambda: kernels.precomputed()(X),
    "a column per training sample": lambda: kernels.precomputed()(X, X[:]),
    "x.5. is asked for, but X has no such part": lambda: rbf().of(5)(X),
    "x.'a'. is asked for": lambda: rbf().of("a")(X),
    "x.'b'. is asked for": lambda: rbf().of("b")({"a": X}),
    "A part must be a slice": lambda: rbf().of(0.5),
    "at least one column": lambda: rbf().of([]),
    "parts of X have 3, 2 samples": lambda: (rbf().of(0) + 1)((X, X[:2])),
    "feature_map must be a function, not int": lambda: rbf().after(3),
    "made 1 samples of 3": lambda: rbf().after(lambda X: X[:1])(X),
    "scikit-learn has no pairwise kernel 'chi3'": lambda: kernels.pairwise("chi3"),
    "chi2 has no parameter 'degree'": lambda: kernels.pairwise("chi2", degree=2),
    "scikit-learn's chi2 kernel says": lambda: kernels.pairwise("chi2")(-X),
    'gamma of .* is still "scale"': lambda: rbf("scale")(X),
    "There is no kernel 'gauss': there are linear": lambda: kernels.as_kernel("gauss"),
    "sigmoid kernel is not positive": lambda: kernels.as_kernel("sigmoid"),
    "kernel must be a name .*, not int": lambda: kernels.as_kernel(3),
    "kernel is the class dict": lambda: kernels.as_kernel(dict),
    "X is one string": lambda: kernels.spectrum(2)("abc"),
    "Sample 1 of X is int": lambda: kernels.spectrum(2)(["a", 3]),
    "Sample 0 of Y is NoneType": lambda: kernels.spectrum(2)(["a"], [None]),
    "X has the type int": lambda: kernels.spectrum(2)(3),
    "must be hashable": lambda: kernels.spectrum(1)([[[1], [2]]]),
    "m must be a whole number from 0 to 2": lambda: kernels.mismatch(3, 3),
    "alphabet must be a string": lambda: kernels.mismatch(3, 1, ""),
    "one has 2 letters and another 3": lambda: kernels.weighted_degree(2)(
        ["ab", "abc"]
    ),
    "must give a number for two samples, but gave str": lambda: kernels.function(
        lambda x, y: "no"
    )(X),
    r"gave a table of the shape \(1, 1\)": lambda: kernels.function(
        lambda X, Y: np.zeros((1, 1)), blocks=True
    )(X),
    "so x·x' .* cannot be normalized|cannot be normalized": lambda: kernels.normalized(
        kernels.function(lambda x, y: -1.0)
    )(X),
}


@pytest.mark.parametrize("message", CASES)
def test_messages(message):
    with pytest.raises(ValueError, match=message):
        CASES[message]()


def test_checks_of_what_is_no_kernel():
    X = np.random.default_rng(0).normal(size=(300, 2))
    with pytest.raises(ValueError, match=r"smallest eigenvalue .* 200 samples .* -\d"):
        kernels.check(kernels.pairwise("sigmoid", gamma=1.0, coef0=-1.0), X)
    lopsided = kernels.function(lambda x, y: x[0] * 2 + y[0], name="lopsided")
    with pytest.raises(ValueError, match=r"lopsided\(x, x'\) is not symmetric"):
        kernels.check(lopsided, X[:5])
    with pytest.raises(ValueError, match="is nan for the samples 0 and 0"):
        kernels.check(kernels.function(lambda x, y: float("nan")), X[:3])
    with pytest.raises(ValueError, match="X has none"):
        kernels.check(rbf(), X[:0])
    with pytest.raises(ValueError, match="must be a kernel, not str"):
        kernels.check("rbf", X)
    K = np.eye(4)
    K[2, 3] = K[3, 2] = 2
    with pytest.raises(ValueError, match=r"smallest eigenvalue .* 4 samples .* is -1 "):
        kernels.check(kernels.precomputed(), K)


def test_a_diagonal_that_disagrees_is_found():
    class Wrong(type(rbf())):
        def _diagonal(self, X):
            return np.zeros(len(X))

    with pytest.raises(ValueError, match=r"says 0 for sample 0 of X, but k.* is 1"):
        kernels.check(Wrong(1.0), X)
