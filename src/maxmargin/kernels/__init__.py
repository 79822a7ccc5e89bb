"""Kernels and their algebra: ``kernels.rbf(0.5) + 2 * kernels.linear() ** 2``.

A kernel k gives Gram blocks ``k(X, Y)``, ``k.diagonal(X)``, and ``k.gradient`` where it is
differentiable; it is printed as its formula, and stored as plain values.
"""

from typing import TYPE_CHECKING

from maxmargin.families import lazily

_WHERE = {
    name: f"maxmargin.kernels.{module}"
    for module, names in {
        "base": ("Kernel",),
        "checks": ("as_kernel", "check"),
        "compose": ("exp", "normalized"),
        "distances": ("laplace", "rbf"),
        "given": ("function", "pairwise", "precomputed"),
        "inputs": ("count", "take"),
        "states": ("from_state",),
        "strings": ("mismatch", "spectrum", "weighted_degree"),
        "vectors": ("linear", "polynomial"),
    }.items()
    for name in names
}

__all__ = list(_WHERE)

if TYPE_CHECKING:  # what type checkers and editors see of it
    from maxmargin.kernels.base import Kernel as Kernel
    from maxmargin.kernels.checks import as_kernel as as_kernel, check as check
    from maxmargin.kernels.compose import exp as exp, normalized as normalized
    from maxmargin.kernels.distances import laplace as laplace, rbf as rbf
    from maxmargin.kernels.given import (
        function as function,
        pairwise as pairwise,
        precomputed as precomputed,
    )
    from maxmargin.kernels.inputs import count as count, take as take
    from maxmargin.kernels.states import from_state as from_state
    from maxmargin.kernels.strings import (
        mismatch as mismatch,
        spectrum as spectrum,
        weighted_degree as weighted_degree,
    )
    from maxmargin.kernels.vectors import linear as linear, polynomial as polynomial
else:
    __getattr__, __dir__ = lazily(__name__, _WHERE)
