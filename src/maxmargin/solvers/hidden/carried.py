"""What one convex problem of the concave-convex procedure leaves to the next.

The problems differ only in what stands for the truth, Psi(x_i, y_i, h_i), which enters the
dual linearly. A cut of ``one_slack.py`` from outputs (y, h) is, with margin rescaling and
linear slacks,

    R(w) >= sum C_i loss_i - w.(v - sum C_i Psi(x_i, y, h)), v = sum C_i Psi(truth_i)

so that with new truths it stays a cut when its gradient moves by the change of v: the next
problem begins with all cuts of the last one. The proximal bundle also begins where that
ended, since its weights are the best ones known. (Yu & Joachims 2009, section 4.)

Solvers of planes begin with the masses of the last problem, whose sum of features is no
longer what it was; steps among stored planes alone raise that dual point again, before the
first search (``BlockCoordinate.reconsider``).

With rescaled slacks, quadratic ones or losses that depend on the completion
(``core/partial.py``) every cut would move in its own way: these begin anew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.kernel import run
from maxmargin.core.state import require, restored
from maxmargin.solvers.checkpoints.cut_proofs import check_cut, check_shares
from maxmargin.solvers.checkpoints.stored_planes import check_outputs
from maxmargin.solvers.cutting_planes.one_slack import Cut, OneSlack, add_cut

ROUGHLY = 0.1  # share of the largest offset: the gap for which old cuts are solved


def carry(solver) -> dict[str, Any] | None:
    """The cuts that carry mass at the end of a problem; None if they cannot be used."""
    objective = solver.objective
    if not isinstance(solver, OneSlack) or objective.form.slack:
        return None
    if objective.form.quadratic:
        return None
    live = [t for t in range(1, len(solver.cuts)) if solver.alpha[t] > 0]
    return {
        "cuts": [solver.cuts[t] for t in live],
        "outputs": [solver.made_of[t][0] for t in live],
        "offsets": solver.offsets[live],
        "alpha": solver.alpha[[0, *live]],
        "mass": objective.mass,
        "truths": _truths(objective),
    }


def follow(solver, carried: dict[str, Any] | None, w) -> None:
    """Begin with what was carried from the last problem, near its weights w, if any."""
    solver.prepare()
    objective = solver.objective
    if carried is not None and np.array_equal(objective.mass, carried["mass"]):
        shift = _moved(solver, carried["truths"])
        names = ("cuts", "offsets", "outputs")
        for (index, values), offset, outputs in zip(
            *(carried[name] for name in names), strict=True
        ):
            gradient = shift.copy()
            gradient[index] += values
            solver._add(Cut(gradient, float(offset), 0.0, outputs))
        solver.alpha = np.array(carried["alpha"])
        solver.gap = ROUGHLY * float(np.abs(solver.offsets).max())
        solver._solve()
    solver.reconsider(w)


def _truths(objective):
    """What says how far truths have moved since: themselves, or their features."""
    batch = objective.batch
    if isinstance(batch, tuple):
        return batch.y
    total = np.zeros(objective.n_weights)
    for mass, known in zip(objective.mass, batch.known, strict=True):
        np.add.at(total, known[0].index, mass * known[0].values)
    return total


def _moved(solver, before) -> np.ndarray:
    """The change of v, the sum of C_i Psi(truth_i)."""
    objective = solver.objective
    if not isinstance(objective.batch, tuple):
        return _truths(objective) - before
    change = np.zeros(objective.n_weights)
    losses = np.zeros(objective.n)
    arguments = (solver.buffers, before, objective.mass, losses, change)
    run(add_cut, objective.batch, objective.form, *arguments)
    return change


def check_carried(objective, carried: Any) -> None:
    """ValueError unless a file has the shapes of what was carried (``cut_proofs.py``)."""
    names = {"cuts", "outputs", "offsets", "alpha", "mass", "truths"}
    require(
        type(carried) is dict and carried.keys() == names, "carried", "not complete"
    )
    count = len(carried["cuts"])
    same = type(carried["outputs"]) is list and len(carried["outputs"]) == count
    require(same, "carried", "not of as many cuts")
    for name, size in (("offsets", count), ("alpha", count + 1)):
        array = restored(np.zeros(size), carried[name], name)
        require(np.isfinite(array).all(), name, "infinite")
    check_shares(carried["alpha"], "alpha")
    restored(objective.mass, carried["mass"], "mass")
    for pair, outputs in zip(carried["cuts"], carried["outputs"], strict=True):
        check_cut(pair, objective.n_weights)
        restored(objective.batch.y, outputs, "outputs", grows=True)
    truths, batch = carried["truths"], objective.batch
    if isinstance(batch, tuple):
        restored(batch.y, truths, "truths")
        check_outputs(batch, truths, np.ones(objective.n, np.int32), 1, first=0)
    else:
        restored(np.zeros(objective.n_weights), truths, "truths")
