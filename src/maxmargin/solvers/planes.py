"""The plane store and the one step that every dual solver takes.

A plane is an output y of example i with numbers c and r (``formulation.py``): the cut
H_i(w) >= c - r w.psi_i(y). The planes of an example form a block; plane 0 is the truth
(c = 0, psi = 0). The dual variables alpha of a block sum to C_i:

    max_alpha  sum alpha c - 1/2 |w|^2 - [quadratic] sum_i A_i^2 / (2 C_i)
    w = sum_i sum_p alpha_ip r_ip psi_i(y_ip),     A_i = sum_(p>0) alpha_ip

With quadratic slacks, or with C = inf, the truth has infinite mass, so alpha >= 0 is all
that is left. Planes are stored as labellings, never as feature vectors: a plane costs a
few bytes per slot, and moving mass between two planes touches only the features on which
they differ.

The step (pairwise Frank-Wolfe, exact line search): from the worst plane a that carries
mass to the best plane s,

    gamma = clip((v_s - v_a) / |r_s psi_s - r_a psi_a|^2, 0, alpha_a)

where v_p is the derivative of the dual. It never lowers the dual.
(Lacoste-Julien & Jaggi 2015; Osokin et al. 2016; Shah, Kolmogorov & Lampert 2015 for the
passes over cached planes.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.contract import (
    difference,
    loss,
    margin,
    score,
    score_planes,
    shift,
)
from maxmargin.core.kernel import inlined, inner, kernel
from maxmargin.core.oracle import most_violated
from maxmargin.core.rescale import offset_and_scale
from maxmargin.core.vectors import add_listed, copy_into, squared_norm

MAX_INNER = 20  # steps per visit where theta can be updated in place
SOLVED = 0.02  # ... or until this share of the block's gap is left


class Planes(NamedTuple):
    """Flat store: plane p of block i has its labelling at start[i] * room + p * size.

    ``anchor`` and ``stretch`` are of a shard (``shard.py``), whose steps others take at
    the same time: alpha when its round began, to which it may have to return, and the
    factor by which every step counts against itself.
    """

    labels: np.ndarray  # int32[slots * room]
    count: np.ndarray  # int32[n], planes in use, the truth included
    alpha: np.ndarray  # float64[n, room]
    c: np.ndarray
    r: np.ndarray
    mass: np.ndarray  # float64[n], C_i
    anchor: np.ndarray = np.zeros((0, 0))  # or float64[n, room]
    stretch: float = 1.0


def make_planes(batch, form, mass, room=4) -> Planes:
    """A store with the true outputs only."""
    n = len(batch.start) - 1
    planes = Planes(
        labels=np.zeros(int(batch.start[-1]) * room, np.int32),
        count=np.ones(n, np.int32),
        alpha=np.zeros((n, room)),
        c=np.zeros((n, room)),
        r=np.zeros((n, room)),
        mass=mass,
    )
    copy_labels(batch.start, batch.y, 1, planes.labels, room)
    planes.alpha[:, 0] = np.inf if form.quadratic else mass
    return planes


def with_room(batch, planes: Planes, room: int) -> Planes:
    """The same planes in a store with more room per block."""
    old = planes.alpha.shape[1]
    labels = np.zeros(int(batch.start[-1]) * room, np.int32)
    copy_labels(batch.start, planes.labels, old, labels, room)

    def widen(table):
        return np.pad(table, ((0, 0), (0, room - old)))

    if len(planes.anchor):
        planes = planes._replace(anchor=widen(planes.anchor))
    return planes._replace(
        labels=labels,
        alpha=widen(planes.alpha),
        c=widen(planes.c),
        r=widen(planes.r),
    )


@kernel
def copy_labels(start, source, source_room, target, target_room):
    for i in range(len(start) - 1):
        size = start[i + 1] - start[i]
        used = size * min(source_room, target_room)
        a, b = start[i] * source_room, start[i] * target_room
        for k in range(used):
            target[b + k] = source[a + k]


@inlined
def find_plane(planes, first, size, i, y):
    """Position of labelling y in block i, or -1."""
    for p in range(planes.count[i]):
        same = True
        for t in range(size):
            if planes.labels[first + p * size + t] != y[t]:
                same = False
                break
        if same:
            return p
    return -1


@inlined
def insert_plane(planes, first, size, i, y, v):
    """A place for labelling y: its own, a new one, or that of an idle plane; else -1."""
    p = find_plane(planes, first, size, i, y)
    if p >= 0:
        return p
    if planes.count[i] < planes.alpha.shape[1]:
        p = planes.count[i]
        planes.count[i] += 1
    else:
        for q in range(1, planes.count[i]):
            idle = planes.alpha[i, q] == 0.0
            if len(planes.anchor) > 0:
                idle = idle and planes.anchor[i, q] == 0.0
            if idle and (p < 0 or v[q] < v[p]):
                p = q
        if p < 0:
            return -1
    copy_into(planes.labels, first + p * size, y, size)
    planes.alpha[i, p] = 0.0
    return p


@inlined
def used_mass(planes, i):
    total = 0.0
    for p in range(1, planes.count[i]):
        total += planes.alpha[i, p]
    return total


@inlined
def plane_values(batch, form, planes, i, theta, v):
    """v_p, the derivative of the dual with respect to alpha_ip, for all p."""
    size = batch.start[i + 1] - batch.start[i]
    first = batch.start[i] * planes.alpha.shape[1]
    drag = used_mass(planes, i) / planes.mass[i] if form.quadratic else 0.0
    v[0] = 0.0
    for p in range(1, planes.count[i]):
        y = planes.labels[first + p * size : first + (p + 1) * size]
        lead = margin(batch, i, theta, y)
        v[p] = planes.c[i, p] - planes.r[i, p] * lead - drag


@inlined
def pairwise_step(batch, form, planes, buffers, i, v, w):
    """One step of block i. Returns (step, s, a, gain of the dual)."""
    size = batch.start[i + 1] - batch.start[i]
    first = batch.start[i] * planes.alpha.shape[1]
    s, a = 0, -1
    for p in range(planes.count[i]):
        if v[p] > v[s]:
            s = p
        if planes.alpha[i, p] > 0.0 and (a < 0 or v[p] < v[a]):
            a = p
    # a < 0 cannot be: the mass of a block sums to C_i > 0
    if v[s] - v[a] <= 1e-14 * (abs(v[s]) + abs(v[a])):
        return 0.0, s, a, 0.0
    ys = planes.labels[first + s * size : first + (s + 1) * size]
    ya = planes.labels[first + a * size : first + (a + 1) * size]
    index, values = buffers.index, buffers.values
    m = difference(batch, i, ys, planes.r[i, s], ya, planes.r[i, a], index, values)
    curvature = squared_norm(index, values, m, buffers.keys, buffers.sums)
    curvature *= planes.stretch
    if form.quadratic and (s == 0 or a == 0):
        curvature += 1.0 / planes.mass[i]
    limit = planes.alpha[i, a]
    step = (v[s] - v[a]) / curvature if curvature > 0.0 else np.inf
    if step >= limit:
        step = limit
        planes.alpha[i, a] = 0.0
    else:
        planes.alpha[i, a] -= step
    if step == np.inf:
        return np.inf, s, a, 0.0  # hard margin, zero curvature: no w can separate
    planes.alpha[i, s] += step
    add_listed(w, step * planes.stretch, index, values, m)
    return step, s, a, step * (v[s] - v[a] - 0.5 * step * curvature)


@inlined
def block_gap(form, planes, i, hinge, v):
    """What block i adds to primal - dual at the current w, given H_i = hinge."""
    used = used_mass(planes, i)
    gap = 0.0
    for p in range(1, planes.count[i]):
        gap -= planes.alpha[i, p] * v[p]
    if form.quadratic:
        # v holds the drag of the quadratic dual term: take it out again
        c = planes.mass[i]
        return gap + 0.5 * c * hinge * hinge - 0.5 * used * used / c
    return gap + planes.mass[i] * hinge if planes.mass[i] < np.inf else hinge


@kernel
def exact_pass(batch, form, planes, buffers, order, w, gaps, hinges, total):
    """Visit blocks in order: call the oracle, add its plane, take steps.

    Writes gaps and hinges (as seen at the visit, so stale by the end of the pass).
    Returns (oracle calls, blocks without room, 1 if separation was proved impossible,
    ``total`` plus the gain of the dual: added up block by block, it does not depend on
    where a pass is cut into calls).
    """
    theta, y = buffers.theta, buffers.y
    room = planes.alpha.shape[1]
    v = np.empty(room)
    calls, crowded, impossible = 0, 0, 0
    for i in order:
        size = batch.start[i + 1] - batch.start[i]
        if size == 0 or planes.mass[i] == 0.0:
            gaps[i] = 0.0
            hinges[i] = 0.0
            continue
        first = batch.start[i] * room
        score(batch, i, w, theta)
        for turn in range(MAX_INNER):
            plane_values(batch, form, planes, i, theta, v)
            bound, found, lead, used = most_violated(batch, form, i, theta, y)
            bound = max(bound, 0.0)
            gap = block_gap(form, planes, i, bound, v)
            if turn == 0:
                calls += used
                gaps[i] = gap
                hinges[i] = bound
            elif gap <= SOLVED * gaps[i]:
                break
            p = insert_plane(planes, first, size, i, y, v)
            if p > 0:
                c, r = offset_and_scale(form, found)
                planes.c[i, p] = c
                planes.r[i, p] = r
                v[p] = c - r * lead
                if form.quadratic:
                    v[p] -= used_mass(planes, i) / planes.mass[i]
            elif p < 0:
                crowded += 1
            step, s, a, gain = pairwise_step(batch, form, planes, buffers, i, v, w)
            total += gain
            if step == np.inf:
                impossible = 1
            if step == 0.0 or step == np.inf:
                break
            if not shift_planes(batch, planes, i, step, s, a, theta):
                break
    return calls, crowded, impossible, total


@inlined
def shift_planes(batch, planes, i, step, s, a, theta):
    size = batch.start[i + 1] - batch.start[i]
    first = batch.start[i] * planes.alpha.shape[1]
    ys = planes.labels[first + s * size : first + (s + 1) * size]
    ya = planes.labels[first + a * size : first + (a + 1) * size]
    step *= planes.stretch
    return shift(batch, i, step, ys, planes.r[i, s], ya, planes.r[i, a], theta)


@inner
def ascend_block(batch, form, planes, buffers, i, v, w):
    """Steps among the stored planes of block i.

    Returns (the gap of the block over these planes at the start, gain of the dual).
    """
    count = planes.count[i]
    size = batch.start[i + 1] - batch.start[i]
    first = batch.start[i] * planes.alpha.shape[1]
    labellings = planes.labels[first : first + count * size]
    theta = buffers.theta
    score_planes(batch, i, w, labellings, count, theta)
    start_gap, total = 0.0, 0.0
    for k in range(MAX_INNER):
        plane_values(batch, form, planes, i, theta, v)
        best = 0.0
        drag = used_mass(planes, i) / planes.mass[i] if form.quadratic else 0.0
        for p in range(1, count):
            best = max(best, v[p] + drag)
        gap = block_gap(form, planes, i, best, v)
        if k == 0:
            start_gap = gap
        elif gap <= SOLVED * start_gap:
            break
        step, s, a, gain = pairwise_step(batch, form, planes, buffers, i, v, w)
        total += gain
        if step == 0.0 or step == np.inf:
            break
        if not shift_planes(batch, planes, i, step, s, a, theta):
            break
    return start_gap, total


@kernel
def cached_pass(batch, form, planes, buffers, order, w, gaps):
    """Visit blocks in order: steps among stored planes only, no oracle.

    Writes to gaps what the stored planes of a block could still give, as seen at the
    visit. Returns the gain of the dual.
    """
    v = np.empty(planes.alpha.shape[1])
    total = 0.0
    for i in order:
        if planes.count[i] > 1 and planes.mass[i] > 0.0:
            gap, gain = ascend_block(batch, form, planes, buffers, i, v, w)
            gaps[i] = gap
            total += gain
    return total


@kernel
def store_planes(batch, form, planes, outputs, chosen):
    """Insert the outputs of the chosen examples; returns blocks without room."""
    room = planes.alpha.shape[1]
    v = np.zeros(room)
    crowded = 0
    for i in chosen:
        size = batch.start[i + 1] - batch.start[i]
        y = outputs[batch.start[i] : batch.start[i + 1]]
        p = insert_plane(planes, batch.start[i] * room, size, i, y, v)
        if p > 0:
            c, r = offset_and_scale(form, loss(batch, i, y))
            planes.c[i, p] = c
            planes.r[i, p] = r
        elif p < 0:
            crowded += 1
    return crowded


@kernel
def rebuild(batch, form, planes, buffers, blocks, w):
    """w += sum alpha r psi, and c, r anew: exact after many steps or on new data.

    w is of double precision; psi is listed unscaled, so that nothing of it is rounded.
    """
    room = planes.alpha.shape[1]
    for i in blocks:
        size = batch.start[i + 1] - batch.start[i]
        first = batch.start[i] * room
        truth = planes.labels[first : first + size]
        for p in range(1, planes.count[i]):
            y = planes.labels[first + p * size : first + (p + 1) * size]
            c, r = offset_and_scale(form, loss(batch, i, y))
            planes.c[i, p] = c
            planes.r[i, p] = r
            if planes.alpha[i, p] > 0.0:
                index, values = buffers.index, buffers.values
                m = difference(batch, i, y, 1.0, truth, 0.0, index, values)
                add_listed(w, planes.alpha[i, p] * r, index, values, m)


def dual_value(planes: Planes, form, w_squared: float) -> float:
    """sum alpha c - 1/2 |w|^2 - [quadratic] sum_i A_i^2 / (2 C_i)."""
    finite = planes.alpha[:, 1:]
    total = float(np.einsum("ij,ij->", finite, planes.c[:, 1:])) - 0.5 * w_squared
    if form.quadratic:
        used = finite.sum(axis=1)
        live = planes.mass > 0
        total -= float(np.sum(used[live] ** 2 / (2.0 * planes.mass[live])))
    return total
