"""Tokens as coordinates in the space of a kernel, in place of their features.

The features of a token, as another encoder gives them, are the vector x of a kernel
k(x, x'). Its coordinates z(x) in a basis of training tokens (``kernels/basis.py``) become
the features: scores w[label].z(x) are functions of that space, transitions stay as they
are, and all else that a tagger does sees nothing special. (Hidden Markov SVMs with kernels
on the observations: Altun, Tsochantaridis & Hofmann 2003.)
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.arrays import from_dense
from maxmargin.kernels import choosing
from maxmargin.kernels.memory import KERNEL_MEMORY, check_memory, checked_memory
from maxmargin.tags.features.pursued import METHODS as PURSUITS
from maxmargin.tags.features.pursued import Supervision, pursued_basis
from maxmargin.tags.features.sequences import TokenMatrix

METHODS = ("exact", *PURSUITS, *(name for name in choosing.METHODS if name != "all"))


class KernelEncoder:
    """Coordinates of what the encoder `inner` gives.

    `method` says which training tokens make the basis: all of them ("exact"), or
    `n_components` that ``kernels/choosing.py`` chooses, or that training finds, with the
    labels in ``supervision``, which the tagger sets (``pursued.py``). Coordinates are kept
    in single precision where `single` allows it.
    """

    supervision: Supervision | None = None

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
        from maxmargin.kernels import as_kernel, check
        from maxmargin.kernels.basis import Basis

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
            basis = pursued_basis(method, kernel, rows, start, known, size, self.seed)
            method = "nystroem"  # where there is nothing to tell apart
        if basis is None:
            rng = np.random.default_rng(self.seed)
            basis = choosing.choose(method, kernel, rows, size, rng)
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
    from scipy.linalg import lapack

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
    from maxmargin.kernels import as_kernel
    from maxmargin.kernels.checks import looks_up

    if tagger.method not in METHODS:
        raise ValueError(
            f"method={tagger.method!r} is not known; choose one of {', '.join(METHODS)}."
        )
    k = tagger.n_components
    if not isinstance(k, numbers.Integral) or isinstance(k, bool) or k < 1:
        raise ValueError(
            f"n_components={k!r} is not possible: it must be a positive whole number."
        )
    checked_memory(tagger.kernel_memory)
    if looks_up(as_kernel(tagger.kernel, tagger.gamma)):
        raise ValueError(
            f"A precomputed kernel says nothing of new {what}: give the {what} as vectors "
            "and a kernel of vectors, or kernels.function(f)."
        )
