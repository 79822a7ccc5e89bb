"""Columns without values: files number features as they like, but weights are dense."""

from __future__ import annotations

import numpy as np

# Bytes that training may take for weights of columns that are nearly all empty.
DENSE_MEMORY = 4e9
VECTORS = 6 * 8  # bytes per weight: w, its average, its best, gradients, coef_
# Data that use more than this share of their columns are as large as they look.
USED = 0.1


def check_columns(indices: np.ndarray, n_columns: int, n_weights: int) -> None:
    """Refuse weights that take gigabytes only because of columns without any value."""
    if VECTORS * n_weights > DENSE_MEMORY:
        check_used(len(np.unique(indices)), n_columns, n_weights)


def check_used(used: int, n_columns: int, n_weights: int) -> None:
    """The same where so many columns hold values."""
    needed = VECTORS * n_weights
    if needed <= DENSE_MEMORY or used > USED * n_columns:
        return
    raise ValueError(
        f"X has {n_columns:,} columns, but only {used:,} of them hold any value: training "
        f"would take {needed / 1e9:.3g} GB for weights that stay zero. Number the features "
        "anew without gaps, as X[:, np.unique(X.indices)] does for a sparse matrix."
    )


def check_batch(batch, n_weights: int) -> None:
    """The same of a batch, where it has sparse rows of features."""
    if hasattr(batch, "indices") and hasattr(batch, "n_features"):
        check_columns(batch.indices, batch.n_features, n_weights)
