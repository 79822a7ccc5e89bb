"""Planes that come from a file: are they planes of this problem at all?

The labels of a plane are indices to compiled code, which checks none, and what is no output
bounds nothing. So every labelling is asked about first (``contract.possible``); those of a
user's structure that does not answer are tried uncompiled, where Python checks indices.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import contract
from maxmargin.core.contract import emit, loss, possible
from maxmargin.core.kernel import implemented, interpreted, kernel, run
from maxmargin.core.objective import Objective
from maxmargin.core.state import require, require_within
from maxmargin.solvers.planes import Planes

SUMS = 1e-6  # relative error of the masses of a block


def check_planes(objective: Objective, planes: Planes, carry: bool = True) -> None:
    """ValueError unless these are planes of the objective.

    ``carry``: their masses make a dual point; those of a cache of outputs need not.
    """
    batch = objective.batch
    start, room = batch.start, check_store(objective, planes)
    require(np.array_equal(planes.mass, objective.mass), "planes.mass", "of another C")
    for alpha in (planes.alpha, planes.anchor):
        _check_masses(alpha, planes, objective.form.quadratic, carry)
    first = np.repeat(start[:-1] * (room - 1), np.diff(start))
    truths = planes.labels[first + np.arange(int(start[-1]))]
    require(np.array_equal(truths, batch.y), "planes.labels", "about other truths")
    check_outputs(batch, planes.labels, planes.count, room)


def check_store(objective: Objective, planes: Planes) -> int:
    """ValueError unless the arrays fit together; returns the room of a block."""
    n, room = objective.n, planes.alpha.shape[-1]
    wanted = {name: (n, room) for name in ("alpha", "c", "r")}
    slots = int(objective.batch.start[-1])
    wanted |= {"labels": (slots * room,), "count": (n,), "mass": (n,)}
    for name, shape in wanted.items():
        require(getattr(planes, name).shape == shape, f"planes.{name}", "cut")
    require(planes.anchor.shape in ((0, 0), (n, room)), "planes.anchor", "cut")
    require(1 <= planes.stretch < np.inf, "planes.stretch", "out of range")
    require(room >= 1, "planes.alpha", "empty")
    require_within(planes.count, 1, room, "planes.count")
    for name in ("c", "r"):
        table = getattr(planes, name)
        require(np.isfinite(table).all(), f"planes.{name}", "infinite")
        require(not table[:, 0].any(), f"planes.{name}", "not zero for the truth")
    return room


def _check_masses(alpha, planes, quadratic, carry) -> None:
    """They are not negative, those of a block add up to C_i, and nobody else has any."""
    if not alpha.size:
        return
    name = "planes.alpha"
    require(np.isfinite(alpha[:, 1:]).all(), name, "infinite")
    require((alpha >= 0).all(), name, "negative")
    dead = np.arange(alpha.shape[1]) >= planes.count[:, None]
    require(not alpha[dead].any(), name, "not empty where there are no planes")
    if carry and not quadratic:
        finite = np.isfinite(planes.mass)
        total, mass = alpha[finite].sum(axis=1), planes.mass[finite]
        require((np.abs(total - mass) <= SUMS * mass).all(), name, "not of this C")


def check_outputs(batch, labels, count, room: int, first: int = 1) -> None:
    """ValueError unless labellings ``first`` to ``count`` of every block are outputs.

    Plane 0 is the truth.
    """
    if isinstance(batch, tuple) and not implemented(contract.possible, type(batch)):
        bad = _tried(batch, labels, count, room, first)
    else:
        bad = int(run(first_impossible, batch, labels, count, room, first))
    require(bad < 0, "planes.labels", f"no output of example {bad}")


@kernel
def first_impossible(batch, labels, count, room, first):
    """The first example that has a labelling which is no output, or -1."""
    for i in range(len(batch.start) - 1):
        size = batch.start[i + 1] - batch.start[i]
        for p in range(first, count[i]):
            at = batch.start[i] * room + p * size
            if size > 0 and not possible(batch, i, labels[at : at + size]):
                return i
    return -1


def _tried(batch, labels, count, room: int, first: int) -> int:
    """The same by features and losses, uncompiled: where they cannot be had."""
    entries = 3 * interpreted(contract.capacity)(batch) + 16
    index, values = np.zeros(entries, np.int64), np.zeros(entries)
    for i, size in enumerate(np.diff(batch.start).tolist()):
        for p in range(first, int(count[i])):
            at = int(batch.start[i]) * room + p * size
            y = labels[at : at + size]
            try:
                loss(batch, i, y)
                emit(batch, i, y, 1.0, index, values, 0)
            except Exception:  # of indices, or whatever else a labelling can break
                return i
    return -1


def check_latent_planes(objective: Objective, planes: Planes) -> None:
    """The same where truths change: masses are scaled before they are used."""
    room = check_store(objective, planes)
    require((planes.mass >= 0).all(), "planes.mass", "negative")
    _check_masses(planes.alpha, planes, objective.form.quadratic, carry=False)
    check_outputs(objective.batch, planes.labels, planes.count, room, first=0)


def check_truths(batch, truths: np.ndarray) -> None:
    """ValueError unless these complete the true outputs of a compiled batch."""
    check_outputs(batch, truths, np.ones(len(batch.start) - 1, np.int32), 1, first=0)
    known = getattr(batch, "known", None)
    if isinstance(known, np.ndarray):
        agree = np.array_equal(truths[known], batch.y[known])
    else:
        agree = run(total_loss, batch, truths) == 0.0
    require(agree, "truths", "not what is known")


@kernel
def total_loss(batch, labels):
    total = 0.0
    for i in range(len(batch.start) - 1):
        if batch.start[i] < batch.start[i + 1]:
            total += loss(batch, i, labels[batch.start[i] : batch.start[i + 1]])
    return total
