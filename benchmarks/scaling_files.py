"""Part ``end-to-end`` of ``scaling.py``: the command line from file to model."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import Targets, fresh, median, need_data, table
from large import make
from scaling_tasks import CHUNKS

MOST = 0.7  # of one thread's time, with two
FASTER = 4.0  # times, with 16 threads on 16 cores
TOKENS = 1_000_000


def end_to_end(counts, repeats: int, quick: bool, targets: Targets) -> None:
    """``maxmargin train tag`` with so many ``--jobs``: wall seconds, peak memory."""
    (chunks,) = need_data(CHUNKS)
    with tempfile.TemporaryDirectory(prefix="maxmargin-scaling-") as folder:
        plain = Path(folder, "chunks.txt")
        plain.write_bytes(gzip.decompress(chunks.read_bytes()))
        files = {"CoNLL-2000": plain}
        if not quick:  # real sentences with made words, as in large.py
            made = Path(folder, "made")
            made.mkdir()
            fresh(make, folder=str(made), tokens=TOKENS, size=TOKENS)
            files["a million tokens"] = next(made.iterdir())
        rows = []
        for name, path in files.items():
            rows += _trained(name, str(path), folder, counts, repeats, targets)
    columns = "maxmargin train tag|jobs|s|of one's|times|CPU s|peak MB"
    table([*columns.split("|"), "of one's"], rows)


def _trained(name, path, folder, counts, repeats, targets) -> list:
    runs: dict[int, list] = {count: [] for count in counts}
    for count in counts:  # fills the cache of kernels
        _run(path, folder, count)
    for _ in range(repeats):
        for count in counts:
            runs[count].append(_run(path, folder, count))
    keys = ("wall", "cpu", "peak_mb")
    found = {
        count: {key: median(some, key) for key in keys} for count, some in runs.items()
    }
    one, rows = found[counts[0]], []
    for count, row in found.items():
        share, memory = (row[key] / one[key] for key in ("wall", "peak_mb"))
        cells = [name, count, row["wall"], f"{share:.2f}", f"{1 / share:.1f}"]
        rows.append([*cells, row["cpu"], f"{row['peak_mb']:.0f}", f"{memory:.2f}"])
        if count == 2 and counts[0] == 1:
            targets.at_most(f"train tag, {name}: --jobs 2 over 1", share, MOST)
            targets.at_most(f"train tag, {name}: peak memory", memory, 1.1)
        if count == 16 and counts[0] == 1 and (os.cpu_count() or 1) >= 16:
            targets.at_least(f"train tag, {name}: times with 16", 1 / share, FASTER)
    return rows


def _run(path: str, folder: str, jobs: int) -> dict:
    command = [sys.executable, "-m", "maxmargin", "train", "tag", path, "--quiet"]
    command += ["--features", "chunking", "--jobs", str(jobs)]
    command += ["-o", os.path.join(folder, "model")]
    # as for users: Python keeps byte code, where this machine may say otherwise
    usual = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    process = subprocess.Popen(command, env=usual)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}.")
    peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak_mb": peak}
