"""kill -9 at random moments, and files that are damaged, cut short or somebody else's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checkpoint_cases import fitted, outcome
from test_checkpoints import KEPT, kill

from maxmargin import save
from maxmargin.files import checkpoint_file
from maxmargin.files.model_values import Refused

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 is for Unix")
def test_fifty_fits_killed(tmp_path):
    """In a process of its own, without threads, which forks the fits that it kills."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(TESTS), *sys.path])
    command = [sys.executable, str(TESTS / "killed_fits.py"), str(tmp_path), "50"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["killed"] == 50
    assert 2 * found["resumed"] > found["fits"]  # from a checkpoint, not the start
    assert found["different"] == []


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The bytes of a checkpoint in the middle of a fit."""
    folder = tmp_path_factory.mktemp("kept")
    kill("functions", 3, folder)
    return (folder / KEPT).read_bytes()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The bytes of a file that has a bit of everything."""
    path = tmp_path_factory.mktemp("small") / KEPT
    state, arrays = {"w": np.arange(9.0), "k": (1, "x"), "m": np.eye(3) > 0}, {}
    fields = {"state": checkpoint_file.take_apart(state, arrays), "ended": False}
    checkpoint_file.write(str(path), fields, arrays)
    return path.read_bytes()


def refused(folder, message):
    path = folder / KEPT
    before = path.read_bytes()
    for resume in (True, False):
        with pytest.raises(ValueError, match=message) as found:
            fitted("functions", checkpoint=folder, resume=resume)
        assert str(found.value).startswith(f"Cannot go on from '{path}': ")
        assert str(found.value).endswith(".")
    assert path.read_bytes() == before
    assert os.listdir(folder) == [KEPT]


def test_whole_files_are_read(kept, tmp_path):
    (tmp_path / KEPT).write_bytes(kept)
    model = fitted("functions", checkpoint=tmp_path, resume=True)
    assert outcome(model) == outcome(fitted("functions"))


def test_truncated_at_every_length(small, kept, tmp_path):
    path = tmp_path / KEPT
    cuts = [small[:length] for length in range(len(small))]
    for cut in cuts + [kept[:length] for length in range(0, len(kept), 99)]:
        path.write_bytes(cut)
        with pytest.raises(Refused):
            checkpoint_file.read(str(path))
        with pytest.raises(Refused):
            checkpoint_file.check(str(path))
    for length in (0, 7, 100, len(kept) // 2, len(kept) - 1):
        path.write_bytes(kept[:length])
        refused(tmp_path, "not a checkpoint|checksum")
    path.write_bytes(kept + b"\0")
    refused(tmp_path, "not a checkpoint|checksum")


def test_every_byte_counts(small, kept, tmp_path):
    path, rng = tmp_path / KEPT, np.random.default_rng(0)
    places = [(small, at) for at in range(len(small))]
    for whole, at in places + [(kept, at) for at in range(0, len(kept), 99)]:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        with pytest.raises(Refused):
            checkpoint_file.read(str(path))
    refused(tmp_path, "not a checkpoint|checksum")


def test_foreign_files(kept, tmp_path):
    path = tmp_path / KEPT
    for content in (b"hello", b"PK\3\4" + bytes(100), np.zeros(99).tobytes()):
        path.write_bytes(content)
        refused(tmp_path, "not a checkpoint of maxmargin")
    save(fitted("exact blocks"), path)
    refused(tmp_path, "it is a model file")


def rewritten(kept, change, tmp_path):
    """The checkpoint with other fields and a right checksum."""
    path = str(tmp_path / KEPT)
    with open(path, "wb") as file:
        file.write(kept)
    fields, arrays = checkpoint_file.read(path)
    fields.pop("sha256")
    change(fields, arrays)
    checkpoint_file.write(path, fields, arrays)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda f, a: f.update(library="9.9"),
            "written by maxmargin 9.9 .* and this is",
        ),
        (lambda f, a: f.update(version=7), r"\(format 7\)"),
        (lambda f, a: f.update(format="other"), "not a checkpoint of maxmargin"),
    ],
    ids=["library", "version", "format"],
)
def test_other_versions(kept, change, message, tmp_path):
    rewritten(kept, change, tmp_path)
    refused(tmp_path, message)


@pytest.mark.parametrize(
    "change",
    [
        lambda f, a: f.pop("identity"),
        lambda f, a: f.pop("state"),
        lambda f, a: f["state"].pop("solver"),
        lambda f, a: f["state"]["solver"]["first"].update(w=None),
        lambda f, a: f["state"].update(history=3),
        lambda f, a: a.update(
            {".solver.first.w": a[".solver.first.w"].astype(np.float32)}
        ),
    ],
    ids=["identity", "state", "solver", "weights", "history", "precision"],
)
def test_right_checksums_of_wrong_content(kept, change, tmp_path):
    rewritten(kept, change, tmp_path)
    path = tmp_path / KEPT
    with pytest.raises(ValueError, match=f"^Cannot go on from '{path}': "):
        fitted("functions", checkpoint=tmp_path, resume=True)


def test_reading_runs_nothing(kept):
    assert b"pickle" not in kept
    text = Path(checkpoint_file.__file__).read_text()
    assert "import pickle" not in text
    assert "eval(" not in text


def test_files_are_safetensors(kept, tmp_path):
    from safetensors.numpy import load

    (tmp_path / KEPT).write_bytes(kept)
    _, arrays = checkpoint_file.read(str(tmp_path / KEPT))
    others = load(kept)
    assert others.keys() == arrays.keys()
    assert all(np.array_equal(others[name], arrays[name]) for name in arrays)


def test_values_come_back(tmp_path):
    state = {
        "a": np.arange(6.0).reshape(2, 3),
        "b": [np.zeros(0, np.int32), (1, 2.5, None, "x", True)],
        "c": {"d": {"e": np.array([True, False])}, "f": float("inf"), "$g": 1},
        "h": np.float32(0.1),
        "i": np.array(3),
    }
    arrays = {}
    fields = {"state": checkpoint_file.take_apart(state, arrays)}
    path = str(tmp_path / "x")
    checkpoint_file.write(path, fields, arrays)
    fields, arrays = checkpoint_file.read(path)
    back = checkpoint_file.put_together(fields["state"], arrays)
    np.testing.assert_equal(back, state)
    assert type(back["b"][1]) is tuple
    assert back["b"][0].dtype == np.int32
    assert type(back["h"]) is np.float32
