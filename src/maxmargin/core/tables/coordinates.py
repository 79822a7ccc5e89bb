"""Tokens or nodes as coordinates in the space of a kernel, in place of their features.

The features of a token, as another encoder gives them, are the vector x of a kernel
k(x, x'). Its coordinates z(x) in a basis of training tokens (``kernels/basis.py``) become
the features: scores w[label].z(x) are functions of that space, transitions stay as they
are, and all else that a family does sees nothing special. (Hidden Markov SVMs with kernels
on the observations: Altun, Tsochantaridis & Hofmann 2003.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from maxmargin.core.saved import Saved
from maxmargin.core.tables.arrays import TokenMatrix, from_dense
from maxmargin.kernels import as_kernel, basis_points, check, from_state
from maxmargin.kernels.basis import KERNEL_MEMORY, Basis, check_memory
from maxmargin.kernels.checks import looks_up

PURSUITS = "subspace-pursuit", "training-points"


class KernelEncoder:
    """Coordinates of what the encoder `inner` gives.

    `method` says which training tokens make the basis: all of them ("exact"), or
    `n_components` that ``kernels/basis_points.py`` chooses, or that training finds, with
    the labels in ``supervision``, which taggers set (``tags/features/pursued.py``).
    Coordinates are kept in single precision where `single` allows it.
    """

    supervision: Any = None

    kind = "kernel"

    def __init__(
        self,
        inner: Any,
        kernel: Any = None,
        method: str = "exact",
        n_components: int = 500,
        gamma: float | str = "scale",
        memory: float = KERNEL_MEMORY,
        seed: int = 0,
        single: bool = False,
        words: tuple[str, str] = ("tokens", "sequences"),
    ):
        self.inner, self.kernel, self.gamma = inner, kernel, gamma
        self.method, self.n_components = method, n_components
        self.memory, self.seed, self.words = memory, seed, words
        self.dtype = np.float32 if single else np.float64
        self.basis: Any = None

    def fit_encode(self, X: Any) -> TokenMatrix:
        """Choose the basis among the tokens of X and encode them."""
        known, self.supervision = self.supervision, None  # not a part of the model
        tokens = self.inner.fit_encode(X)
        rows = self._rows(tokens)
        n = rows.shape[0]
        self._check_size(n)
        kernel = as_kernel(self.kernel, self.gamma, X=rows)
        check(kernel, rows)
        if self.method != "exact":
            self.basis = self._smaller(kernel, rows, tokens.start, known)
            return self._matrix(tokens.start, self._transform(rows))
        gram = np.asarray(kernel(rows), np.float64)
        self.basis = Basis(kernel, rows, gram)
        z = [own_coordinates(self.basis, gram)]
        arrays = from_dense(z, len(self.basis), self.dtype)  # without zeros
        return TokenMatrix(*arrays, tokens.start, len(self.basis))

    def encode(self, X: Any) -> TokenMatrix:
        tokens = self.inner.encode(X)
        n, k = len(tokens.indptr) - 1, len(self.basis)
        remedy = f"Predict fewer {self.words[1]} at a time."
        check_memory(n, k, self.memory, self.words[0], remedy, self.dtype().itemsize)
        if n == 0:
            return self._matrix(tokens.start, np.empty((0, k)))
        return self._matrix(tokens.start, self._transform(self._rows(tokens)))

    def feature_names(self) -> None:
        """Coordinates have no names."""
        return None

    # parts of the work ------------------------------------------------------------------

    def _rows(self, tokens: TokenMatrix) -> Any:
        """The features as vectors, a row per token: dense where they were given so."""
        shape = len(tokens.indptr) - 1, tokens.n_features
        values = tokens.values.astype(np.float64)
        rows = sp.csr_matrix((values, tokens.indices, tokens.indptr), shape)
        if getattr(self.inner, "kind", "") == "dense":
            return rows.toarray()
        rows.sum_duplicates()
        return rows

    def _smaller(self, kernel: Any, rows: Any, start: np.ndarray, known: Any) -> Any:
        """A basis of some points."""
        size, method, basis = self.n_components, self.method, None
        if method in PURSUITS:
            basis = known.basis(method, kernel, rows, start, size, self.seed)
            method = "nystroem"  # where there is nothing to tell apart
        if basis is None:
            rng = np.random.default_rng(self.seed)
            basis = basis_points.choose(method, kernel, rows, size, rng)
        return basis

    def _transform(self, rows: Any) -> np.ndarray:
        """Coordinates; those of an approximation need no more digits than it has."""
        exact = self.method == "exact"
        return self.basis.transform(rows, np.float64 if exact else self.dtype)

    def _check_size(self, n: int) -> None:
        k = n if self.method == "exact" else self.n_components
        if k > n:
            raise ValueError(
                f"n_components={k} is more than the {n} training {self.words[0]} there "
                f'are to choose from: take at most {n}, or method="exact", which uses '
                "them all."
            )
        remedy = (
            'method="nystroem" fits with n_components up to {points}; or allow more.'
        )
        size = self.dtype().itemsize + 8 * (self.method == "incomplete-cholesky")
        check_memory(n, k, self.memory, self.words[0], remedy, size)

    def _matrix(self, start: np.ndarray, coordinates: np.ndarray) -> TokenMatrix:
        n, k = coordinates.shape
        indptr = np.arange(n + 1, dtype=np.int64) * k
        indices = np.tile(np.arange(k, dtype=np.int32), n)
        values = coordinates.astype(self.dtype, copy=False).ravel()
        return TokenMatrix(indptr, indices, values, start, k)


def own_coordinates(basis: Any, gram: np.ndarray) -> np.ndarray:
    """z of all points that a basis was made of: rows of L, half of whose entries are zero.

    Points that were left out have k(b, x) in their rows of `gram`.
    """
    factor, _ = lapack.dtrtri(basis.inverse, lower=1)
    if len(factor) == len(gram):
        return factor
    out = np.empty((len(gram), len(factor)))
    out[basis.kept] = factor
    left = np.setdiff1d(np.arange(len(gram)), basis.kept)
    out[left] = gram[np.ix_(left, basis.kept)] @ basis.inverse.T
    return out


def check_kernel_options(tagger: Any, what: str = "tokens") -> None:
    """Refuse impossible settings before any work."""
    if looks_up(as_kernel(tagger.kernel, tagger.gamma)):
        raise ValueError(
            f"A precomputed kernel says nothing of new {what}: give the {what} as vectors "
            "and a kernel of vectors, or kernels.function(f)."
        )


# in model files -----------------------------------------------------------------------


def kernel_state(encoder: Any, who: str) -> dict:
    """What a file says of the kernel of a :class:`KernelEncoder`."""
    basis = encoder.basis
    try:
        formula = basis.kernel.state()
        from_state(formula)
    except ValueError as error:
        raise ValueError(
            f"The {who} cannot be saved, because a model file holds no code: {error} Use "
            "pickle or joblib."
        ) from None
    given = encoder.kernel if isinstance(encoder.kernel, str) else None
    width = int(basis.points.shape[1])
    return {"formula": formula, "given": given, "n_inputs": width}


def basis_arrays(basis: Any, name: str) -> dict[str, np.ndarray]:
    """The arrays ``name.*`` of a file."""
    arrays = {f"{name}.inverse": basis.inverse}
    points = basis.points
    if sp.issparse(points):
        points.sort_indices()
        arrays[f"{name}.indptr"] = points.indptr.astype(np.int64)
        arrays[f"{name}.indices"] = points.indices.astype(np.int64)
        points = points.data
    return arrays | {f"{name}.points": points}


def restored_basis(part: Saved, k: int) -> tuple[Any, Any]:
    """(basis, the kernel as it was given) of a file: k points, an inverse factor."""
    kernel = from_state(part.value("formula", dict))
    given = part.value("given", str, type(None))
    d = part.whole("n_inputs", 1, 2**31 - 1)
    inverse = part.floats("inverse", k, k, dtype=np.float64)
    if "indptr" in part.arrays:
        points = _sparse_points(part, k, d)
    else:
        points = part.floats("points", k, d, dtype=np.float64)
    kernel(points[:1], points)  # a kernel of vectors of this width, or a sentence
    return Basis.restored(kernel, points, inverse), given or kernel


def _sparse_points(part: Saved, k: int, d: int) -> sp.csr_matrix:
    data = part.floats("points", None, dtype=np.float64)
    indices = part.integers("indices", len(data), high=d - 1)
    indptr = part.integers("indptr", k + 1, high=len(data))
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of the basis points do not fit together")
    return sp.csr_matrix((data, indices, indptr), (k, d))
