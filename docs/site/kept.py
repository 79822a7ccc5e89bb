"""What scripts and notebooks made, kept under a key of them and of the library.

What has not changed is not run again: not by ``make docs``, and not by the tests, which
look at what it made.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOBS = os.cpu_count() or 1  # at a time
SECONDS = 300  # for one
COLOURS = re.compile(r"\x1b\[[\d;]*m")  # of a terminal


class BrokenExample(Exception):
    """A script or a notebook that does not run: the site is not built."""


def cache_folder() -> Path:
    return Path(os.environ.get("MAXMARGIN_DOCS_CACHE") or ROOT / ".docs_cache")


@cache
def library_key(runner: Path) -> str:
    """A digest of everything that an example's output depends on, itself left out."""
    digest = hashlib.sha256()
    for path in (runner, *sorted((ROOT / "src").rglob("*.py"))):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def run(path: Path, runner: Path, store: Path, *options: str) -> Path:
    """The folder with what ``runner`` made of the file, now or before.

    ``options`` are Python's; output.json is the last that a runner writes.
    """
    source = path.read_text(encoding="utf-8")
    key = hashlib.sha256((library_key(runner) + source).encode())
    folder = store / f"{path.stem}-{key.hexdigest()[:24]}"
    if (folder / "output.json").is_file():
        return folder
    for old in store.glob(f"{path.stem}-*"):
        if len(old.name) == len(folder.name):
            shutil.rmtree(old, ignore_errors=True)
    store.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=store) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        command = [sys.executable, *options, str(runner), str(path), str(made)]
        trouble = _trouble(command)
        if trouble:
            raise BrokenExample(f"{path}: {trouble}")
        try:
            made.rename(folder)
        except OSError:  # another process was faster
            if not (folder / "output.json").is_file():
                raise
    return folder


def _trouble(command: list[str]) -> str:
    """What went wrong while a command ran, or nothing."""
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONHASHSEED": "0"}
    places = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, places))
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            env=environment,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it ran longer than {SECONDS} seconds."
    if not done.returncode:
        return ""
    return COLOURS.sub("", done.stderr).strip() or "it failed."


def run_all(paths: Sequence[Path], subject: Callable, run: Callable) -> dict:
    """{path: folder} of all: one of each subject first, which compiles for the others."""
    seen: Counter = Counter()
    turns = []
    for path in paths:
        turns.append((seen[subject(path)], path))
        seen[subject(path)] += 1
    first = [path for _, path in sorted(turns)]
    with ThreadPoolExecutor(JOBS) as pool:
        return dict(zip(first, pool.map(run, first), strict=True))
