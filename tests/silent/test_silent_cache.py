"""Compiled code that cannot be kept, or is damaged, costs time and never a fit."""

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import maxmargin
from maxmargin.core.compile import kernel_cache
from maxmargin.core.kernel import cache_statistics, kernel

SCRIPT = """
import json, warnings
import numpy as np
from maxmargin.core.kernel import cache_statistics
from maxmargin.core.vectors import blend_into, sum_of_squares

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    out = np.zeros(3)
    blend_into(out, np.ones(3), 1.0)
    total = sum_of_squares(out)
print(json.dumps([total, [str(w.message) for w in caught], len(cache_statistics())]))
"""


@pytest.fixture
def nowhere(tmp_path):
    """An environment in which no folder for compiled code can be made."""
    file = tmp_path / "file"
    file.write_text("")
    package = tmp_path / "maxmargin"
    source = Path(maxmargin.__file__).parent
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *(p for p in package.rglob("*") if p.is_dir())]:
        (folder / "__pycache__").write_text("")  # a file in place of the folder
    unset = ("HOME", "LOCALAPPDATA", "APPDATA", "USERPROFILE")
    environment = {k: v for k, v in os.environ.items() if k not in unset}
    return environment | {
        "NUMBA_CACHE_DIR": str(file / "in"),
        "XDG_CACHE_HOME": str(file / "in"),
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def test_without_a_folder_code_is_compiled_in_memory(nowhere, tmp_path):
    import json

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=nowhere,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    total, told, kernels = json.loads(done.stdout)
    assert total == 3.0
    assert kernels >= 2  # also the statistics can be asked for
    (sentence,) = told  # once, whatever is compiled
    assert "set the environment variable NUMBA_CACHE_DIR" in sentence


READ_ONLY = """
import tempfile

def refuse(*arguments, **more):
    raise OSError("Read-only file system")

tempfile.TemporaryFile = refuse  # by which numba tells whether it can write
"""
COMPILED = "\nprint(sum(compiled for _, compiled in cache_statistics().values()))\n"


def test_what_was_compiled_before_is_read_where_nothing_can_be_written(tmp_path):
    def run(script):
        done = subprocess.run(
            [sys.executable, "-c", script + COMPILED],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "image")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:2]

    _, compiled = run(SCRIPT)  # while the image of a container is made
    assert int(compiled) >= 2
    said, compiled = run(READ_ONLY + SCRIPT)
    assert compiled == "0"
    assert "[]" in said  # no warning: nothing had to be kept


@pytest.fixture
def fresh(monkeypatch):
    """A kernel that this process has not compiled, and a first time to be told."""
    monkeypatch.setattr(kernel_cache, "_told", False)

    def triple(x):
        return 3 * x

    yield kernel(triple)
    kernel(triple)._cache.flush()


def test_a_full_disk_fails_no_kernel(fresh, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    folder = Path(fresh._cache.cache_path)
    monkeypatch.setattr(kernel_cache.os, "replace", full)
    with pytest.warns(RuntimeWarning, match="cannot be kept on disk .No space left"):
        assert fresh(2) == 6
    assert not list(folder.glob("*triple*"))  # not half of it, either
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fresh(2.5) == 7.5  # it has been said


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "none"])
def test_damaged_files_are_compiled_anew(fresh, damage):
    assert fresh(2) == 6
    (path,) = Path(fresh._cache.cache_path).glob("*triple*")
    good = path.read_bytes()
    bad = {"cut": good[:-100], "empty": b"", "none": good}.get(damage)
    if bad is None:
        middle = len(good) // 2
        bad = good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :]
    path.write_bytes(bad)
    again = kernel(fresh.py_func)
    assert again(2) == 6
    hits = sum(again.stats.cache_hits.values())
    assert hits == (damage == "none")
    assert path.read_bytes()[-8:-4] == kernel_cache.SEAL
    assert cache_statistics()
