"""Newton steps over all stored planes at once, for the few planes of a Python problem.

Steps within one block after the other zigzag where blocks pull at the same few weights
with a large C. Here the masses of all planes that carry some, and of the best plane of
every block, move together to the maximum of the dual on that set, or until one of them
is used up. It never lowers the dual. In each block the masses are counted against one
reference plane, so that with D = rows r_p psi_p - r_ref psi_ref and h = v_p - v_ref,

    max_d  h.d - 1/2 |D'd|^2 - [quadratic] sum_i (d_i.)^2 / (2 C_i)
"""

from __future__ import annotations

import numpy as np

MAX_PLANES = 400
MAX_NUMBERS = 4_000_000
MAX_STEPS = 30
RIDGE = 1e-13


def newton_steps(batch, form, planes, w) -> float:
    """Take steps on the planes of a FunctionBatch; returns the gain of the dual."""
    live = planes.mass > 0
    block, place = np.nonzero(
        (np.arange(planes.alpha.shape[1]) < planes.count[:, None]) & live[:, None]
    )
    if not 0 < len(block) <= MAX_PLANES or len(block) * len(w) > MAX_NUMBERS:
        return 0.0
    numbers = planes.labels.reshape(planes.alpha.shape)[block, place]
    rows = np.zeros((len(block), len(w)))
    for row, i, number in zip(rows, block, numbers, strict=True):
        known = batch.known[i]
        if number:
            np.add.at(row, known[0].index, known[0].values)
            np.subtract.at(row, known[number].index, known[number].values)
    rows *= planes.r[block, place][:, None]
    state = _Masses(form, planes, block, place, rows)
    gain = 0.0
    for _ in range(MAX_STEPS):
        step = state.step(w)
        gain += step
        if step <= 1e-15 * abs(state.total):
            break
    planes.alpha[block, place] = state.alpha
    return gain


class _Masses:
    """The masses of all planes as one vector."""

    def __init__(self, form, planes, block, place, rows):
        self.block, self.truth, self.rows = block, place == 0, rows
        self.alpha = planes.alpha[block, place]
        self.c = planes.c[block, place]
        self.drag = 1.0 / planes.mass[block] if form.quadratic else None
        self.total = float(self.c @ np.where(self.truth, 0.0, self.alpha))
        self.first = np.flatnonzero(np.diff(block, prepend=-1))

    def step(self, w) -> float:
        """One step; changes alpha and w, returns the gain."""
        v = self.c - self.rows @ w
        if self.drag is not None:
            used = np.bincount(self.block, np.where(self.truth, 0.0, self.alpha))
            v = np.where(self.truth, 0.0, v - self.drag * used[self.block])
        free = self.alpha > 0
        reference = self._largest(np.where(free, self.alpha, -1.0))
        best = self._largest(v)
        free[best[v[best] > v[reference]]] = True
        free[reference] = False
        ref = np.repeat(reference, np.diff([*self.first, len(self.block)]))
        for _ in range(20):
            chosen = np.flatnonzero(free)
            if not len(chosen):
                return 0.0
            h = v[chosen] - v[ref[chosen]]
            D = self.rows[chosen] - self.rows[ref[chosen]]
            K = D @ D.T
            if self.drag is not None:
                # what a move of mass adds to the mass that is not the truth's
                use = self.truth[ref[chosen]].astype(float) - self.truth[chosen]
                same = self.block[chosen, None] == self.block[chosen]
                K += same * np.outer(use, use * self.drag[chosen])
            K[np.diag_indices_from(K)] += RIDGE * max(float(np.trace(K)), 1e-300)
            d = np.linalg.solve(K, h)
            blocked = (self.alpha[chosen] <= 0) & (d < 0)
            if not blocked.any():
                break
            free[chosen[blocked]] = False
        else:
            return 0.0
        change = np.zeros(len(self.alpha))
        change[chosen] = d
        np.subtract.at(change, ref[chosen], d)
        down = change < 0
        with np.errstate(invalid="ignore"):
            limits = self.alpha[down] / -change[down]
        t = min(1.0, float(limits.min(initial=np.inf)))
        gain = t * float(h @ d) - 0.5 * t * t * float(d @ K @ d)
        if not gain > 0:
            return 0.0
        self.alpha = self.alpha + t * change
        if t < 1.0:
            self.alpha[np.flatnonzero(down)[limits <= t]] = 0.0
        self.alpha = np.maximum(self.alpha, 0.0)
        w += t * (self.rows.T @ np.where(self.truth, 0.0, change))
        return gain

    def _largest(self, values) -> np.ndarray:
        """The plane with the largest value in every block."""
        order = np.lexsort((-values, self.block))
        return order[self.first]
