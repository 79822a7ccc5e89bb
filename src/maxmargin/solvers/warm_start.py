"""The dual point of one fit as the start of the next.

Planes are labellings, so they are valid planes for any C, any sample weights and any
features, as long as the examples keep their sizes and the labels their numbers. The
masses are scaled to the new C_i and shrunk to the best multiple, which never makes the
start worse than starting from zero.
"""

from __future__ import annotations

import numpy as np

from maxmargin.kernel import run
from maxmargin.solvers.planes import copy_labels, dual_value, rebuild, sum_of_squares


class DualState:
    """Batch and planes of a finished fit."""

    def __init__(self, batch, planes):
        self.compiled = isinstance(batch, tuple)
        self.old = None if self.compiled else batch
        self.start = batch.start
        self.n_labels = getattr(batch, "n_labels", None)
        self.planes = planes

    def planes_for(self, task):
        """A feasible dual point for the new task, or None if the data do not fit."""
        batch = task.batch
        if (
            self.compiled != isinstance(batch, tuple)
            or not np.array_equal(self.start, batch.start)
            or self.n_labels != getattr(batch, "n_labels", None)
        ):
            return None
        old = self.planes
        planes = old._replace(
            labels=old.labels.copy(),
            count=old.count.copy(),
            alpha=old.alpha.copy(),
            c=old.c.copy(),
            r=old.r.copy(),
            mass=task.mass,
        )
        if self.compiled:
            copy_labels(batch.start, batch.y, 1, planes.labels, planes.alpha.shape[1])
        else:
            batch.adopt(planes, self.old)
        finite = np.isfinite(old.mass) & np.isfinite(task.mass) & (old.mass > 0)
        ratio = np.where(finite, task.mass / np.where(finite, old.mass, 1.0), 1.0)
        ratio[task.mass == 0] = 0.0
        planes.alpha[:, 1:] *= ratio[:, None]
        if not task.form.quadratic:
            # masses of a problem without a bound may exceed the new one
            used = planes.alpha[:, 1:].sum(axis=1)
            fits = np.minimum(1.0, task.mass / np.where(used > 0, used, 1.0))
            planes.alpha[:, 1:] *= np.where(np.isfinite(task.mass), fits, 1.0)[:, None]
        w = task.weights()
        run(rebuild, batch, task.form, planes, task.buffers(), w)
        # the best multiple t <= 1 of this point: max_t t l - t^2 q
        squared = sum_of_squares(w)
        value = dual_value(planes, task.form, squared)
        linear = float(np.einsum("ij,ij->", planes.alpha[:, 1:], planes.c[:, 1:]))
        curvature = 2.0 * (linear - value)
        t = min(1.0, linear / curvature) if curvature > 0 else 1.0
        planes.alpha[:, 1:] *= t
        if task.form.quadratic:
            planes.alpha[:, 0] = np.inf
        else:
            used = planes.alpha[:, 1:].sum(axis=1)
            planes.alpha[:, 0] = np.maximum(task.mass - used, 0.0)
        return planes
