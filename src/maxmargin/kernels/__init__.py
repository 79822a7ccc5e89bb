"""Kernels and their algebra: ``kernels.rbf(0.5) + 2 * kernels.linear() ** 2``.

A kernel k gives Gram blocks ``k(X, Y)``, ``k.diagonal(X)``, and ``k.gradient`` where it is
differentiable; it is printed as its formula, and stored as plain values.
"""

from maxmargin.families import lazily

_WHERE = {
    name: f"maxmargin.kernels.{module}"
    for module, names in {
        "base": ("Kernel",),
        "checks": ("check",),
        "compose": ("exp", "normalized"),
        "distances": ("laplace", "rbf"),
        "given": ("function", "pairwise", "precomputed"),
        "inputs": ("count", "take"),
        "names": ("as_kernel",),
        "states": ("from_state",),
        "strings": ("mismatch", "spectrum", "weighted_degree"),
        "vectors": ("linear", "polynomial"),
    }.items()
    for name in names
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily(__name__, _WHERE)
