"""A basis for taggers that is found by training: tokens as examples of their labels.

The chain is left out of the search: a kernel machine without transitions finds the basis
(``kernel_svm/pursuit.py``), and the chain is then trained on coordinates in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from maxmargin.kernel_svm.bases import LOOSE
from maxmargin.kernel_svm.pursuit import pursue, stages
from maxmargin.kernel_svm.training_points import grow_points
from maxmargin.kernels.basis import Basis
from maxmargin.solvers.clock import Clock
from maxmargin.solvers.result import Limits

HARD = 1e3  # C of the search, where that of the tagger is infinite


class Supervision(NamedTuple):
    """What the search knows of the tokens beside their features."""

    labels: Callable  # from where sequences start to a number per token, -1: not known
    cost: np.ndarray  # (labels, labels)
    C: float
    weights: np.ndarray  # of sequences
    max_time: float | None = None

    def basis(self, method: str, kernel, rows: Any, start, size: int, seed: int):
        return pursued_basis(method, kernel, rows, start, self, size, seed)


def pursued_basis(
    method: str, kernel, rows: Any, start, known: Supervision, size: int, seed: int
) -> Basis | None:
    """A basis of at most `size` points; None if fewer than two labels are known.

    Points that lie anywhere need a smooth kernel and dense rows; else they are tokens.
    Ctrl-C and `max_time` end the search with the basis so far.
    """
    y = np.asarray(known.labels(start), np.int64)
    C = HARD if math.isinf(known.C) else known.C
    mass = np.repeat(C * known.weights, np.diff(start))
    use = np.flatnonzero((y >= 0) & (mass > 0))
    if len(np.unique(y[use])) < 2:
        return None
    clock, rng = Clock(known.max_time), np.random.default_rng(seed)
    sizes = stages(min(size, len(use)))
    arguments = rows[use], y[use], known.cost, mass[use], sizes, rng, Limits(LOOSE)
    if method == "training-points" or issparse(rows) or not kernel.differentiable:
        found = grow_points(kernel, *arguments, clock)
    else:
        found = pursue(kernel, *arguments, clock=clock)
    basis = None
    for stage in clock.watched(found):
        basis = stage.basis
    return basis
