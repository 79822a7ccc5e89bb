"""The plane store: which places a new output may take."""

import numpy as np
import pytest
from conftest import random_multiclass

from maxmargin.core.formulation import make_form
from maxmargin.core.kernel import run
from maxmargin.solvers.planes import make_planes, store_planes

FORM = make_form("margin", "linear", 1e-3)


@pytest.mark.parametrize("held", [False, True])
def test_a_plane_that_a_shard_may_return_to_keeps_its_place(held):
    """Idle now, but with mass where the round began: a share of it may come back."""
    batch, mass = random_multiclass(0, n=5, n_labels=4)[0], np.ones(5)
    planes = make_planes(batch, FORM, mass, room=2)
    first, second = (batch.y + 1) % 4, (batch.y + 2) % 4
    everyone = np.arange(5)
    assert run(store_planes, batch, FORM, planes, first, everyone) == 0
    if held:
        anchor = planes.alpha.copy()
        anchor[2:, 1] = 0.5
        planes = planes._replace(anchor=anchor)
    crowded = run(store_planes, batch, FORM, planes, second, everyone)
    assert crowded == (3 if held else 0)
    found = planes.labels.reshape(5, 2)[:, 1]
    kept = everyone >= (2 if held else 5)
    assert found.tolist() == np.where(kept, first, second).tolist()
