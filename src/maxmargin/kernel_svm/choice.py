"""What method="auto" stands for."""

from __future__ import annotations

from maxmargin.kernel_svm.bases import DEFAULT_SIZE
from maxmargin.kernels.inputs import is_sparse

EXACT_SAMPLES = 20_000  # up to which the exact machine takes about as long as a basis
WIDE = 1000  # columns of a sparse table that are not to be made dense


def choose_method(problem, size: int | None) -> str:
    """All training points where they are few and no size was asked for, else a basis."""
    given = problem.kernel.kind == "precomputed"
    if size is None and len(problem) <= EXACT_SAMPLES:
        return "exact"
    if given:
        return "nystroem"
    X = problem.X
    wide = is_sparse(X) and X.shape[1] > WIDE
    smooth = problem.kernel.differentiable and hasattr(X, "shape")
    return "training-points" if wide or not smooth else "subspace-pursuit"


def settled(model, problem, size: int | None):
    """The model with its method and size, as training reads them."""
    method = model.method
    if method == "auto":
        method = choose_method(problem, size)
    count = DEFAULT_SIZE if model.n_components is None else model.n_components
    given = model.get_params(deep=False)
    return type(model)(**{**given, "method": method, "n_components": count})
