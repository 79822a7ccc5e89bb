"""The functions of the contract from Python, compiled or not: what tests ask."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import interpreted, kernel, run
from maxmargin.core.oracle import most_violated
from maxmargin.core.row_changes import NO_LOCKS


class Asker:
    """Calls them on one example under weights w."""

    def __init__(self, batch: Any, i: int, w: np.ndarray, compiled: bool):
        self.batch, self.i, self.w = batch, i, w
        self.call = (
            functools.partial(functools.partial, run) if compiled else interpreted
        )
        self.theta = np.zeros(self.call(_shape)(batch))
        self.entries = 3 * self.call(_capacity)(batch) + 16
        self.size = int(batch.start[i + 1] - batch.start[i])
        self.call(_score)(batch, i, w, self.theta)

    def _lists(self):
        return np.zeros(self.entries, np.int64), np.zeros(self.entries)

    def _dense(self, index, values, m):
        out = np.zeros(len(self.w))
        np.add.at(out, index[:m], values[:m])
        return out

    def features(self, y: Any) -> np.ndarray:
        index, values = self._lists()
        m = self.call(_emit)(self.batch, self.i, y, index, values)
        return self._dense(index, values, m)

    def difference(self, s: Any, rs: float, a: Any, ra: float) -> np.ndarray:
        index, values = self._lists()
        m = self.call(_difference)(self.batch, self.i, s, rs, a, ra, index, values)
        return self._dense(index, values, m)

    def value(self, y: Any) -> float:
        return self.call(_value)(self.batch, self.i, self.theta, y)

    def margin(self, y: Any) -> float:
        return self.call(_margin)(self.batch, self.i, self.theta, y)

    def possible(self, y: Any) -> bool:
        return self.call(_possible)(self.batch, self.i, y)

    def loss(self, y: Any) -> float:
        return self.call(_loss)(self.batch, self.i, y)

    @property
    def inside(self) -> np.ndarray:
        """1 in the extent of the example, 0 elsewhere."""
        out = np.zeros(self.theta.shape)
        out.ravel()[: self.call(_extent)(self.batch, self.i)] = 1.0
        return out

    def parts(self, y: Any) -> np.ndarray:
        out = np.zeros(self.theta.shape)
        self.call(_parts)(self.batch, self.i, y, out)
        return out

    def spread(self, mu: np.ndarray) -> np.ndarray:
        out = np.zeros(len(self.w))
        self.call(_spread)(self.batch, self.i, mu, out)
        return out

    def sums(self) -> tuple[float, np.ndarray]:
        mu = np.where(self.inside > 0, np.nan, 0.0)  # all of it must be written
        return self.call(_sums)(self.batch, self.i, self.theta, mu), mu

    def argmax(self, scale: float) -> np.ndarray:
        y = np.zeros(self.size, np.int32)
        self.call(_argmax)(self.batch, self.i, self.theta, scale, y)
        return y

    def solve_block(self, mass: float, alpha: np.ndarray, w: np.ndarray) -> tuple:
        theta = self.theta.copy()  # is used up
        more = theta, mass, alpha, w, NO_LOCKS
        return self.call(_solve_block)(self.batch, self.i, *more)

    def emit_block(self, mass: float, alpha: np.ndarray) -> tuple[float, np.ndarray]:
        w = np.zeros(len(self.w))
        return self.call(_emit_block)(self.batch, self.i, mass, alpha, w), w

    def most_violated(self, form: Any) -> tuple:
        y = np.zeros(self.size, np.int32)
        found = self.call(most_violated)(self.batch, form, self.i, self.theta, y)
        return (*found, y)


@kernel
def _possible(batch, i, y):
    return contract.possible(batch, i, y)


@kernel
def _shape(batch):
    return contract.shape(batch)


@kernel
def _capacity(batch):
    return contract.capacity(batch)


@kernel
def _score(batch, i, w, theta):
    contract.score(batch, i, w, theta)


@kernel
def _emit(batch, i, y, index, values):
    return contract.emit(batch, i, y, 1.0, index, values, 0)


@kernel
def _difference(batch, i, s, rs, a, ra, index, values):
    return contract.difference(batch, i, s, rs, a, ra, index, values)


@kernel
def _value(batch, i, theta, y):
    return contract.value(batch, i, theta, y)


@kernel
def _margin(batch, i, theta, y):
    return contract.margin(batch, i, theta, y)


@kernel
def _loss(batch, i, y):
    return contract.loss(batch, i, y)


@kernel
def _extent(batch, i):
    return contract.extent(batch, i)


@kernel
def _parts(batch, i, y, mu):
    contract.parts(batch, i, y, 1.0, mu)


@kernel
def _spread(batch, i, mu, w):
    contract.spread(batch, i, 1.0, mu, w)


@kernel
def _sums(batch, i, theta, mu):
    return contract.sums(batch, i, theta, mu, np.zeros(contract.sums_room(batch)))


@kernel
def _argmax(batch, i, theta, scale, y):
    contract.argmax(batch, i, theta, scale, y)


@kernel
def _solve_block(batch, i, theta, mass, alpha, w, locks):
    return contract.solve_block(batch, i, theta, mass, alpha, w, locks)


@kernel
def _emit_block(batch, i, mass, alpha, w):
    return contract.emit_block(batch, i, mass, alpha, w)
