"""Which points a basis has: methods that choose k of n points, or make k new ones.

    nystroem              random points (Williams & Seeger 2001)
    nystroem-kmeans       centres of k-means (Zhang, Tsang & Kwok 2008)
    nystroem-leverage     random points, by their ridge leverage scores (Alaoui & Mahoney
                          2015; Musco & Musco 2017)
    incomplete-cholesky   greedily, the point that is farthest from the span of those
                          before (Fine & Scheinberg 2001)
    all                   every point: the basis is exact

Weights of samples count as copies do: a point of weight 2 is as likely to be chosen, or
as far from the span in its square, as two of weight 1; one of weight 0 never is chosen.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from scipy.sparse import issparse

from maxmargin.kernels.base import Kernel, must_be_kernel, whole
from maxmargin.kernels.basis import DEPENDENT, ROWS, Basis
from maxmargin.kernels.checks import looks_up
from maxmargin.kernels.inputs import count, take, vectors

METHODS = (
    "nystroem",
    "nystroem-kmeans",
    "nystroem-leverage",
    "incomplete-cholesky",
    "all",
)
KMEANS_ROWS = 20_000  # that k-means sees: its centres hardly change with more
RIDGES = 16  # that leverage scores are computed for at a time
POOL = 16, 512  # pivots that incomplete Cholesky looks for at a time


def choose(
    method: str,
    kernel: Kernel,
    X: Any,
    n_components: int | None,
    rng: Any,
    weights: Any = None,
) -> Basis:
    """A basis of `n_components` points for the samples X, by one of the METHODS.

    Points whose images depend on those of others are left out, so that it can have fewer.
    With the same seed, more components by "nystroem" and "incomplete-cholesky" are those
    of before and others. Memory beyond the basis itself, for n samples and k components:
    "incomplete-cholesky" 8 n k bytes; "nystroem-kmeans" a copy of 20,000 samples;
    "nystroem-leverage" blocks of 8,192 rows by k; "nystroem" and "all" none.
    """
    kernel = must_be_kernel(kernel, "kernel")
    if method not in METHODS:
        names = ", ".join(f'"{name}"' for name in METHODS)
        raise ValueError(f"There is no basis method {method!r}: there are {names}.")
    n = count(X)
    if n == 0:
        raise ValueError("X has no samples, and a basis needs at least one.")
    weights = _checked_weights(weights, n)
    useful = np.flatnonzero(weights > 0)
    if method == "all":
        return Basis(kernel, X if len(useful) == n else take(X, useful))
    if looks_up(kernel):
        raise ValueError(
            f'The basis method "{method}" asks for parts of the kernel\'s table, which a '
            'precomputed one does not give: take "all".'
        )
    k = whole(n_components, "n_components", high=2**53)
    if k > len(useful):
        which = "" if len(useful) == n else " with a positive weight"
        raise ValueError(
            f"n_components is {k}, but there are {len(useful)} points{which}: choose at "
            'most as many, or take the method "all".'
        )
    rng = np.random.default_rng(rng)
    if method == "nystroem-kmeans":
        return Basis(kernel, centres(X, k, rng, weights))
    if method == "incomplete-cholesky":
        points = pivots(kernel, X, k, weights)
    else:
        points = random_points(weights, k, rng)
        if method == "nystroem-leverage":
            scores = leverage(kernel, X, points, weights)
            points = random_points(scores, k, rng)
    return Basis(kernel, take(X, points))


def random_points(weights: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of k points, without replacement, each next one by its weight.

    The k smallest of independent exponential times with the weights as rates.
    """
    times = rng.exponential(size=len(weights))
    with np.errstate(divide="ignore", over="ignore"):
        times /= weights
    first = np.argpartition(times, k - 1)[:k]
    return first[np.argsort(times[first])]


def centres(X: Any, k: int, rng: np.random.Generator, weights: np.ndarray) -> Any:
    """k centres of a random 20,000 of the samples, which must be rows of numbers."""
    from sklearn.cluster import MiniBatchKMeans

    if isinstance(X, (tuple, Mapping)) or not _rows_of_numbers(X):
        raise ValueError(
            'The basis method "nystroem-kmeans" takes means of rows of numbers, and X has '
            'samples of another kind: take "nystroem" or "incomplete-cholesky".'
        )
    useful = np.flatnonzero(weights > 0)
    rows = np.sort(rng.permutation(useful)[: max(KMEANS_ROWS, k)])
    table = vectors(X if len(rows) == count(X) else take(X, rows))
    if len(rows) == k:
        return table
    means = MiniBatchKMeans(
        k,
        batch_size=max(1024, k),
        init_size=min(len(rows), 3 * max(1024, k)),
        n_init=1,
        reassignment_ratio=0,  # which makes copies of centres
        random_state=int(rng.integers(2**31)),
    )
    with (
        warnings.catch_warnings()
    ):  # of copies among the samples: Basis leaves them out
        warnings.simplefilter("ignore")
        means.fit(table, sample_weight=weights[rows].astype(table.dtype))
    found = means.cluster_centers_.astype(table.dtype, copy=False)
    if issparse(table):  # so that a kernel sees two tables of one kind
        return type(table)(found)
    return found


def leverage(
    kernel: Kernel, X: Any, points: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Ridge leverage scores of all samples, as m uniformly chosen `points` let us guess.

    The score of i is w_i phi_i' (S + lambda)^-1 phi_i for S = sum_j w_j phi_j phi_j', with
    S guessed from the points: (w_i / lambda)(k_ii - k_i' (G + lambda m / W)^-1 k_i), where
    W = sum w (Musco & Musco 2017, equation 7). What the points do not span counts in full.
    lambda is the smallest of a few for which the scores, each at most 1, sum up to no more
    than m / 2: with a smaller one all points would seem indispensable.
    """
    chosen = take(X, points)
    gram = np.asarray(kernel(chosen))
    kind, m = gram.dtype, len(points)
    values, directions = np.linalg.eigh(gram.astype(np.float64))
    diagonal = np.asarray(kernel.diagonal(X), np.float64)
    if diagonal.max() <= 0:
        return weights  # nothing to tell them apart by
    smallest = np.sqrt(np.finfo(kind).eps) * diagonal.mean()
    ridges = np.geomspace(smallest, m * diagonal.max(), RIDGES)
    shrunk = (1 / (np.maximum(values, 0.0)[:, None] + ridges)).astype(kind)
    rest = np.repeat(diagonal[:, None], RIDGES, axis=1)  # k_ii - .., a column per ridge
    for first in range(0, len(rest), ROWS):
        rows = slice(first, first + ROWS)
        part = np.asarray(kernel(take(X, rows), chosen)) @ directions.astype(kind)
        rest[rows] -= (part**2) @ shrunk
    scores = weights[:, None] * np.maximum(rest, 0.0) * (m / weights.sum() / ridges)
    scores = np.minimum(scores, 1.0)
    enough = np.append(np.flatnonzero(scores.sum(axis=0) <= m / 2), RIDGES - 1)[0]
    return np.where(weights > 0, np.maximum(scores[:, enough], 1e-12), 0.0)


def pivots(kernel: Kernel, X: Any, k: int, weights: np.ndarray) -> np.ndarray:
    """Numbers of at most k points: the pivots of Cholesky's factor of the Gram matrix.

    Each is the sample with the largest w_i |phi_i - P phi_i|^2, P the projection onto the
    span of those before; it ends early where nothing is left over. O(n k^2) time, 8 n k
    bytes. What is left over of a sample never grows. So the pivots are searched within a
    small pool of candidates as long as the best of it is no worse than the others were
    before, and columns for all samples are computed for these pivots together.
    """
    n = count(X)
    left = weights * np.asarray(kernel.diagonal(X), np.float64)
    roots = np.sqrt(weights)
    smallest = DEPENDENT * float(left.max())
    columns = np.zeros((k, n))  # of the factor; a row each, so that they lie together
    found: list[int] = []
    size = POOL[0]
    while len(found) < k and left.max() > smallest:
        j, size = len(found), min(size, n)
        pool = np.argpartition(-left, size - 1)[:size]
        pool = pool[np.lexsort((pool, -left[pool]))]
        others = np.partition(left, n - size - 1)[n - size - 1] if size < n else 0.0
        table = np.asarray(kernel(take(X, pool)), np.float64)
        table *= np.outer(roots[pool], roots[pool])
        table -= columns[:j, pool].T @ columns[:j, pool]
        limit = max(float(others), smallest)
        taken, factor = _greedy(table, left[pool], k - j, limit)
        new = pool[taken]
        block = np.asarray(kernel(take(X, new), X), np.float64)
        block *= np.outer(roots[new], roots)
        block -= columns[:j, new].T @ columns[:j]
        block = _forward(factor, block)
        block[:, found] = 0.0
        columns[j : j + len(new)] = block
        left -= np.einsum("ij,ij->j", block, block)
        found += new.tolist()
        left[found] = 0.0
        np.maximum(left, 0.0, out=left)
        size = 2 * size if 2 * len(new) > size else max(size // 2, 4 * len(new))
        size = min(max(size, POOL[0]), POOL[1])
    return np.array(found or [0])  # where all are zero, Basis says so


def _greedy(
    table: np.ndarray, left: np.ndarray, most: int, limit: float
) -> tuple[np.ndarray, np.ndarray]:
    """(pivots, factor) of a small matrix, while the pivots are not below the limit.

    The first is the first row, whatever the limit. The factor is of the pivots alone.
    """
    left = left.copy()
    columns = np.zeros((min(most, len(left)), len(left)))
    taken: list[int] = []
    while len(taken) < len(columns):
        p = int(np.argmax(left)) if taken else 0
        if left[p] <= 0 or (taken and left[p] < limit):
            break
        j = len(taken)
        column = table[p] - columns[:j, p] @ columns[:j]
        column /= np.sqrt(left[p])
        column[taken] = 0.0
        column[p] = np.sqrt(left[p])
        columns[j] = column
        left -= column**2
        taken.append(p)
        left[taken] = 0.0
    return np.array(taken), columns[: len(taken), taken].T


def _forward(factor: np.ndarray, block: np.ndarray) -> np.ndarray:
    """L^-1 block, for a lower triangle L."""
    return solve_triangular(factor, block, lower=True, check_finite=False)


def _rows_of_numbers(X: Any) -> bool:
    if hasattr(X, "shape"):
        return len(X.shape) == 2 and getattr(getattr(X, "dtype", 0), "kind", "f") != "O"
    return not any(isinstance(x, (str, bytes, Mapping, tuple)) for x in X)


def _checked_weights(weights: Any, n: int) -> np.ndarray:
    if weights is None:
        return np.ones(n)
    try:
        weights = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise ValueError("weights must be numbers, one per sample.") from None
    if weights.shape != (n,):
        raise ValueError(
            f"weights must have a number for each of the {n} samples, but have the shape "
            f"{weights.shape}."
        )
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ValueError(
            f"weights must be finite and at least 0: that of sample {i} is {weights[i]:g}."
        )
    if not weights.any():
        raise ValueError("All weights are zero: no sample can be chosen.")
    return weights
