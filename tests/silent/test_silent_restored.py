"""Checkpoints with right checksums and wrong content: a sentence, or a true certificate."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checkpoint_cases import fitted
from forged_checkpoints import Killed, killed

from maxmargin.files import checkpoint_file

TESTS = Path(__file__).resolve().parents[1]
CASES = (
    "planes of classes",
    "exact blocks",
    "n-slack",
    "one-slack",
    "proximal-bundle",
    "exponentiated",
    "lbfgs",
    "subgradient",
    "tags",
    "functions",
    "hidden, sought",
)


@pytest.mark.slow
def test_forged_checkpoints(tmp_path):
    """In a process of its own, which a crash would end."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(TESTS), *sys.path])
    command = [sys.executable, str(TESTS / "forged_checkpoints.py"), str(tmp_path)]
    done = subprocess.run(
        [*command, "12", *CASES], env=environment, capture_output=True, text=True
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (lines[-1:], done.stderr[-2000:])
    tried = [line for line in lines if len(line) == 3]
    assert len(tried) == 12 * len(CASES)
    assert [line for line in tried if line[2] not in ("refused", "works")] == []
    assert sum(line[2] == "refused" for line in tried) > len(tried) // 2


def changed(case, folder, change):
    """Go on from a checkpoint of a case after ``change(fields, arrays)``."""
    whole, path = killed(case, folder)
    fields, arrays = checkpoint_file.read(path)
    fields.pop("sha256")
    change(fields, arrays)
    checkpoint_file.write(path, fields, arrays)
    before = Path(path).read_bytes()
    try:
        return whole, fitted(case, checkpoint=folder, resume=True)
    finally:
        if Path(path).exists() and sys.exc_info()[0] is not None:
            assert Path(path).read_bytes() == before  # nothing is lost


HOSTILE = {
    "labels far away": lambda f, a: a[".solver.planes.0"].fill(2**30),
    "labels below zero": lambda f, a: a[".solver.planes.0"].fill(-1),
    "more planes than room": lambda f, a: a[".solver.planes.1"].fill(2**30),
    "no planes": lambda f, a: a[".solver.planes.1"].fill(0),
    "masses of nobody": lambda f, a: a[".solver.planes.2"].fill(1.0),
    "no weights": lambda f, a: a[".solver.w"].fill(0.0),
    "losses of no outputs": lambda f, a: a[".solver.planes.3"].fill(1e3),
    "visits to nobody": lambda f, a: a.update(
        {".solver.schedule.last_visited": np.arange(10**6)}
    ),
    "a dual above all": lambda f, a: f["state"]["best"].update(dual=1e6),
    "a dual that fits": lambda f, a: f["state"]["best"].update(
        dual=f["state"]["best"]["primal"]
    ),
    "a primal below all": lambda f, a: f["state"]["best"].update(primal=1e-6),
    "rows that claim more": lambda f, a: [
        row.update(dual=row["primal"], gap=0.0) for row in f["state"]["history"]
    ],
    "other weights": lambda f, a: a[".best.w"].fill(0.0),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_not_true_is_refused(what, tmp_path):
    with pytest.raises(ValueError, match=r"^Cannot go on from '.*Remove it to start"):
        changed("planes of classes", tmp_path, HOSTILE[what])


def test_an_end_that_is_none(tmp_path):
    """Who only says that a fit has converged is not believed."""

    def claim(fields, arrays):
        fields.update(status="converged", ended=True)

    whole, model = changed("planes of classes", tmp_path, claim)
    assert model.converged_
    assert model.certificate_.relative_gap <= model.tol
    assert model.certificate_ == whole.certificate_


@pytest.mark.parametrize("case", ["lbfgs", "log", "tags, l1", "tags, l1, lbfgs"])
def test_bounds_of_smooth_fits(case, tmp_path):
    """A dual that fits its primal, with rows that agree."""

    def claim(fields, arrays):
        best, history = fields["state"]["best"], fields["state"]["history"]
        assert isinstance(best["primal"], float)
        best["dual"] = best["primal"]
        history[-1].update(dual=best["primal"], gap=0.0)

    with pytest.raises(ValueError, match=r"^Cannot go on from '.*the dual"):
        changed(case, tmp_path, claim)


def test_killed_is_no_error():
    assert not issubclass(Killed, Exception)
