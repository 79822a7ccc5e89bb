"""The numbers of a plane under each formulation (table in ``formulation.py``)."""

import math

from maxmargin.core.kernel import inner, kernel


@inner
def offset_and_scale(form, loss):
    """(c, r) of a plane whose output has this loss."""
    c = math.sqrt(loss) if form.quadratic else loss
    return c, (c if form.slack else 1.0)


@kernel
def violation(form, loss, margin):
    """c - r * margin, where margin = w.psi(y)."""
    c, r = offset_and_scale(form, loss)
    return c - r * margin
