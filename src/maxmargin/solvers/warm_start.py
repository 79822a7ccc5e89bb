"""The dual point of one fit as the start of the next.

Planes are labellings, so they are valid planes for any C and any sample weights, as long
as the new examples have the same outputs to choose from. What says so depends on the
batch:

* batches that name the fields which say what labellings an example has (``says_outputs``:
  classes and chains): these are equal. Features, costs and true labels may be new; the
  truth is written into plane 0 anew.
* others: every field equal, by a fingerprint. What a labelling means there, and which are
  possible, may depend on anything.
* Python problems: an equal problem; and then, example by example, an equal x and y. The
  planes of other examples are dropped. Inputs that are the same objects count as equal,
  so a change made in place is not seen.

The masses are scaled to the new C_i and shrunk to the best multiple, which never makes
the start worse than starting from zero.
"""

from __future__ import annotations

import hashlib

import numpy as np
import scipy.sparse as sp

from maxmargin.core.fingerprint import feed
from maxmargin.core.kernel import run
from maxmargin.core.problems.cached_outputs import LOST
from maxmargin.core.vectors import sum_of_squares
from maxmargin.solvers.planes import copy_labels, dual_value, rebuild

OWN = ("labels", "count", "alpha", "c", "r")


class DualState:
    """The planes of a finished fit, and for which data they stand."""

    def __init__(self, batch, planes):
        self.planes = planes
        self.key = _key(batch)
        if self.key is None:
            self.X, self.Y, self.problem = batch.X, batch.Y, batch.asked
            # by value: the batch forgets outputs when it is used for another fit
            self.outputs = batch.outputs_of(planes)

    def planes_for(self, objective):
        """A feasible dual point for the new objective, or None if the data do not fit."""
        batch = objective.batch
        if self.key != _key(batch):
            return None
        python = self.key is None
        if python and (
            len(self.X) != len(batch.X) or not same(self.problem, batch.asked)
        ):
            return None
        planes = copied(self.planes)
        if python:
            for i, pair in enumerate(zip(self.X, self.Y, strict=True)):
                lost = any(output is LOST for output in self.outputs[i])
                if lost or not same(pair, (batch.X[i], batch.Y[i])):
                    planes.count[i] = 1
                    planes.alpha[i, 1:] = 0.0
            batch.adopt(planes, self.outputs)
        else:
            copy_labels(batch.start, batch.y, 1, planes.labels, planes.alpha.shape[1])
        return feasible(planes, objective)


def copied(planes):
    """The same planes in memory of their own; only masses are shared."""
    return planes._replace(**{n: getattr(planes, n).copy() for n in OWN})


def feasible(planes, objective):
    """Planes of any masses as a dual point of this objective, changed in place."""
    old, planes = planes.mass, planes._replace(mass=objective.mass)
    batch = objective.batch
    finite = np.isfinite(old) & np.isfinite(objective.mass) & (old > 0)
    ratio = np.where(finite, objective.mass / np.where(finite, old, 1.0), 1.0)
    ratio[objective.mass == 0] = 0.0
    planes.alpha[:, 1:] *= ratio[:, None]
    if not objective.form.quadratic:
        # masses of a problem without a bound may exceed the new one
        used = planes.alpha[:, 1:].sum(axis=1)
        fits = np.minimum(1.0, objective.mass / np.where(used > 0, used, 1.0))
        planes.alpha[:, 1:] *= np.where(np.isfinite(objective.mass), fits, 1.0)[:, None]
    w = objective.weights()
    blocks = np.arange(objective.n)
    run(rebuild, batch, objective.form, planes, objective.buffers(), blocks, w)
    # the best multiple t <= 1 of this point: max_t t l - t^2 q
    squared = sum_of_squares(w)
    value = dual_value(planes, objective.form, squared)
    linear = float(np.einsum("ij,ij->", planes.alpha[:, 1:], planes.c[:, 1:]))
    curvature = 2.0 * (linear - value)
    t = min(1.0, linear / curvature) if curvature > 0 else 1.0
    planes.alpha[:, 1:] *= t
    if objective.form.quadratic:
        planes.alpha[:, 0] = np.inf
    else:
        used = planes.alpha[:, 1:].sum(axis=1)
        planes.alpha[:, 0] = np.maximum(objective.mass - used, 0.0)
    return planes


def _key(batch):
    """What must be equal for planes to be exchanged; None for a Python problem."""
    if not isinstance(batch, tuple):
        return None
    fields = getattr(batch, "says_outputs", batch._fields)
    digest = hashlib.sha256()
    for name in fields:
        value = getattr(batch, name)
        if name == "barrier":  # 0 and -inf, in any precision
            value = np.isinf(value)
        feed(digest, value)
    return type(batch), digest.hexdigest()


def same(a, b) -> bool:
    """Whether two objects are equal beyond doubt; where that cannot be told, no."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    try:
        if isinstance(a, np.ndarray):
            return a.dtype == b.dtype and np.array_equal(a, b)
        if sp.issparse(a):
            return a.shape == b.shape and a.dtype == b.dtype and (a != b).nnz == 0
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
        if isinstance(a, (list, tuple)):
            return len(a) == len(b) and all(map(same, a, b))
        if type(a).__eq__ is object.__eq__:  # equal only to itself: look inside
            inside = hasattr(a, "__dict__")
            return inside and same(a.__getstate__(), b.__getstate__())
        return bool(a == b)
    except Exception:  # no answer is no
        return False
