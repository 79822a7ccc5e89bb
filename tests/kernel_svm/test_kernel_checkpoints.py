"""Kernel machines that stop and go on from a checkpoint."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_cases import primal_of, random_data
from sklearn.exceptions import ConvergenceWarning

from maxmargin import Checkpoint, KernelSVM
from maxmargin.files import checkpoint_file

METHODS = [
    {"method": "exact"},
    {"method": "nystroem", "n_components": 20},
    {"method": "subspace-pursuit", "n_components": 20},
]


@pytest.fixture(scope="module")
def data():
    return random_data(0, 120)


def stop(number):
    def callback(row):
        if row["iteration"] == number:
            raise KeyboardInterrupt

    return callback


def half(data, folder, number=3, **given):
    """The parameters of a fit that Ctrl-C has ended, to go on with."""
    given = {"C": 5.0, "tol": 1e-5, **given, "checkpoint": Checkpoint(folder, every=0)}
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        KernelSVM(**given, callbacks=[stop(number)]).fit(*data)
    return given | {"resume": True}


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_goes_on_to_a_true_certificate(data, method, tmp_path):
    given = half(data, tmp_path, **method)
    model = KernelSVM(**given).fit(*data)
    assert model.converged_
    whole = KernelSVM(**given | {"checkpoint": None, "resume": False}).fit(*data)
    proof = model.certificate_
    assert proof.primal == pytest.approx(primal_of(model, *data, 5.0), rel=1e-6)
    assert proof.relative_gap_within <= 1e-5
    assert proof.primal == pytest.approx(whole.certificate_.primal, rel=2e-5)
    rows = [row["iteration"] for row in model.history_]
    assert rows == list(range(1, len(rows) + 1))
    again = KernelSVM(**given).fit(*data)  # it has ended: its result comes back
    assert again.n_iter_ == model.n_iter_
    assert again.certificate_.primal == pytest.approx(proof.primal, rel=1e-12)


def test_another_fit_is_refused(data, tmp_path):
    X, y = data
    given = half(data, tmp_path, method="exact")
    for other, says in [
        ({"C": 6.0}, "another C"),
        ({"gamma": 0.9}, "another kernel"),
        ({"random_state": 5}, "another random_state"),
    ]:
        with pytest.raises(ValueError, match=f"of another fit, with {says}"):
            KernelSVM(**given | other).fit(X, y)
    with pytest.raises(ValueError, match="other data"):
        KernelSVM(**given | {"gamma": 0.25}).fit(X + 1, y)
    with pytest.raises(ValueError, match=r"not ended .* resume=True"):
        KernelSVM(**given | {"resume": False}).fit(X, y)


FORGED = [
    ("alpha", lambda a: a * 2, "adds up to C"),
    ("alpha", lambda a: a[:-1], "of shape"),
    ("alpha", lambda a: np.where(a == a.max(), np.nan, a), "not all numbers"),
    ("mixed", lambda a: a + 1.0, "negative|adds up"),
    ("working", lambda w: np.append(w, 10**6), "out of range"),
    ("working", lambda w: np.array([1, 1]), "not distinct"),
]


@pytest.mark.parametrize(("name", "change", "says"), FORGED)
def test_forged_dual_variables_are_refused(data, tmp_path, name, change, says):
    given = half(data, tmp_path, method="exact")
    path = str(tmp_path / "fit.checkpoint")
    fields, arrays = checkpoint_file.read(path)
    at = fields["state"]["solver"][name]["$at"]
    arrays[at] = change(arrays[at])
    kept = ("sha256", "format", "version", "library")
    checkpoint_file.write(
        path, {k: v for k, v in fields.items() if k not in kept}, arrays
    )
    with pytest.raises(ValueError, match=says):
        KernelSVM(**given).fit(*data)


def forged_bounds(data, tmp_path, solver=(), best=(), row=()):
    """The parameters of a fit, stopped half way, whose checkpoint claims other bounds."""
    given = half(data, tmp_path, method="exact")
    path = str(tmp_path / "fit.checkpoint")
    fields, arrays = checkpoint_file.read(path)
    state = fields["state"]
    state["solver"].update(solver)
    state["best"].update(best)
    state["history"][-1].update(row)
    kept = ("sha256", "format", "version", "library")
    checkpoint_file.write(
        path, {k: v for k, v in fields.items() if k not in kept}, arrays
    )
    return given


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({}, "not that of its bounds"),
        ({"row": {"gap": 0.0}}, "not that of the best weights"),
        ({"row": {"gap": 0.0}, "best": {"dual": 1e9}}, "'the dual' is 1e"),
    ],
)
def test_forged_bounds_are_refused(data, tmp_path, parts, says):
    parts = parts | {"row": {"dual": 1e9} | parts.get("row", {})}
    with pytest.raises(ValueError, match=says):
        KernelSVM(**forged_bounds(data, tmp_path, **parts)).fit(*data)


def test_an_objective_that_is_too_small_is_not_believed(data, tmp_path):
    """Rows before a certificate have what the steps added up: it holds until the end."""
    low = {"primal": 1e-9}
    given = forged_bounds(data, tmp_path, low, row=low | {"gap": 0.0})
    model = KernelSVM(**given).fit(*data)
    primal = model.certificate_.primal
    assert primal == pytest.approx(primal_of(model, *data, 5.0), rel=1e-6)
    assert all(row["primal"] >= primal for row in model.history_)


def test_what_keeps_none_says_so(data, tmp_path):
    with pytest.raises(ValueError, match="keep no checkpoint"):
        KernelSVM(method="sampling", n_components=5, checkpoint=tmp_path).fit(*data)
    with pytest.raises(ValueError, match="path of a KernelSVM keeps no checkpoints"):
        KernelSVM(checkpoint=tmp_path).path(*data, Cs=[1.0])
