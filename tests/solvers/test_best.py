"""Weights of a fit that did not converge, where the search for outputs only bounds."""

from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.solvers.best import Best

MET = {"tight": 9.0, "looser": 7.0, "worse": 9.5}  # over the outputs that were found


@pytest.mark.parametrize(("latest", "kept"), [("looser", "looser"), ("worse", "tight")])
def test_weights_are_kept_whose_found_outputs_cost_least(latest, kept):
    """Though the bounds of others may be tighter; with their own primal and sweep."""
    best = Best(SimpleNamespace(met=lambda w, sweep: MET[sweep]))
    best.w, best.primal, best.sweep = np.ones(1), 10.0, "tight"
    best.latest = MET[latest], 12.0, np.zeros(1), latest
    best._settle()
    primal, w = (12.0, 0.0) if kept == latest else (10.0, 1.0)
    assert (best.sweep, best.primal, best.w[0]) == (kept, primal, w)
