"""Cuts that come from a file: do they bound the risk?

A cut R(w) >= offset - w.g is made of outputs, one of every example, so that it can be made
once more and compared. Where the outputs do not last (a user's Python problem) or lie in
shards, it is tested at the points that there are: at none may it be above the risk.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.state import require, require_within
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers.checkpoints.stored_planes import check_outputs

CLOSE = 1e-6  # relative error of what was computed in the same way


def check_cuts(solver) -> None:
    """ValueError unless the cuts of a one-slack solver have the shapes of cuts."""
    count, at = len(solver.cuts), len(solver.signs.at)
    shapes = {"offsets": (count,), "alpha": (count,), "idle": (count,)}
    shapes |= {"gram": (count, count), "held": (count, at)}
    for name, shape in shapes.items():
        array = getattr(solver, name)
        require(array.shape == shape, name, "not of as many cuts")
        require(np.isfinite(array).all(), name, "infinite")
    require_within(solver.idle, 0, 1 << 30, "idle")
    require(count > 0 and len(solver.made_of) == count, "cuts", "not complete")
    check_shares(solver.alpha, "alpha")
    for pair in solver.cuts:
        check_cut(pair, solver.objective.n_weights)
    for pair in solver.made_of:
        _pair(pair, "made_of", np.int32)
    require(len(solver.cuts[0][0]) == 0 == solver.offsets[0], "cuts", "without R >= 0")


def check_cut(pair, n_weights: int) -> None:
    """ValueError unless these are places in w and numbers."""
    index, values = _pair(pair, "cuts", np.int32)
    require(index.shape == values.shape, "cuts", "cut")
    require(np.isfinite(values).all(), "cuts", "infinite")
    require_within(index, 0, n_weights - 1, "cuts")
    require((np.diff(index) > 0).all(), "cuts", "not in order")


def check_shares(shares: np.ndarray, name: str) -> None:
    require((shares >= 0).all() and abs(shares.sum() - 1.0) < 1e-6, name, "no mixture")


def _pair(pair, name: str, dtype) -> tuple[np.ndarray, np.ndarray]:
    good = type(pair) is tuple and len(pair) == 2
    good = good and all(isinstance(a, np.ndarray) and a.ndim == 1 for a in pair)
    good = good and pair[0].dtype == dtype and pair[1].dtype == np.float64
    require(good, name, "no pairs of arrays")
    return pair


def proved_by_cuts(solver) -> float:
    """The dual of the cuts; ValueError if one of them is none."""
    apart = []
    for t, (outputs, hinges) in enumerate(solver.made_of):
        if len(outputs):
            _make_again(solver, t, outputs, hinges)
        elif t > 0:
            apart.append(t)
    if apart:
        _test(solver, apart)
    size = solver.objective.n_weights
    gram = np.empty_like(solver.gram)
    held = np.zeros_like(solver.held)
    for t, (index, values) in enumerate(solver.cuts):
        g = np.zeros(size)
        g[index] = values
        gram[t] = [v @ g[i] for i, v in solver.cuts]
        held[t] = g[solver.signs.at]
    _equal(solver.gram, gram, "gram")
    _equal(solver.held, held, "held")
    return float(solver.alpha @ solver.offsets - 0.5 * solver._squared())


def _make_again(solver, t: int, outputs, hinges) -> None:
    batch, n = solver.objective.batch, solver.objective.n
    quadratic = bool(solver.objective.form.quadratic)
    good = len(outputs) == len(batch.y) and len(hinges) == (n if quadratic else 0)
    good = good and np.isfinite(hinges).all() and (hinges >= 0).all()
    require(good, "made_of", "cut")
    check_outputs(batch, outputs, np.ones(n, np.int32), 1, first=0)
    cut = solver._cut(outputs, hinges if quadratic else np.zeros(n))
    saved = np.zeros(solver.objective.n_weights)
    saved[solver.cuts[t][0]] = solver.cuts[t][1]
    _equal(saved, cut.gradient, "cuts")
    _equal(solver.offsets[t], cut.offset, "offsets")


def _test(solver, which: list[int]) -> None:
    """At weights zero, at the candidates, and between them."""
    objective = solver.objective
    some = [objective.weights(), *solver.candidates(), solver.w]
    some += [0.5 * w for w in some[1:]] + [w * w.dtype.type(1.5) for w in some[1:]]
    for w in some:
        risk = objective.primal(w)[0] - 0.5 * sum_of_squares(w)
        for t in which:
            index, values = solver.cuts[t]
            bound = solver.offsets[t] - float(values @ w[index])
            slack = 1e-4 * (abs(risk) + abs(solver.offsets[t])) + 1e-9
            require(bound <= risk + slack, "cuts", "above the risk")


def _equal(saved, found, name: str) -> None:
    scale = float(np.abs(found).max(initial=0.0))
    good = np.abs(saved - found).max(initial=0.0) <= CLOSE * scale + 1e-12
    require(good, name, "not what the outputs give")
