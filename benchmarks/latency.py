"""How long the first fit waits for the compiler: CPU seconds, by estimator.

    python benchmarks/latency.py [TASK ...]

Each task (``maxmargin.warmup.TASKS``: a fit on a few invented examples and a prediction)
runs in a fresh process, three times: on an empty cache; on a cache that has seen another
task (tag after match, all others after tag), where solvers may be compiled already; and
on its own cache, from disk. Imports are not counted. Exits with 1 if a target is
missed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

from maxmargin.warmup import TASKS

# empty cache: the target; after another task: half of what it took before solvers were
# compiled once for all structures
EMPTY = {
    "classify": 5,
    "taxonomy": 12,
    "multilabel": 12,
    "rank": 20,
    "cluster": 20,
    "motif": 12,
    "tag": 12,
    "tag-arrays": 12,
    "align": 20,
    "homologs": 20,
    "match": 20,
    "parse": 30,
}
AFTER = {"classify": 6, "tag": 23, "tag-arrays": 23, "parse": 59}
FROM_DISK = 1.0

PROGRAM = """
import sys, time, warnings
warnings.simplefilter("ignore")
import importlib
import maxmargin.core.decode, maxmargin.solvers.driver, maxmargin.solvers.registry
from maxmargin.families import places
for module in places("public").values():
    importlib.import_module(module)
from maxmargin.warmup import TASKS
began = time.process_time()
model, X = TASKS[sys.argv[1]]()
fitted = time.process_time()
model.predict(X)
print(fitted - began, time.process_time() - fitted)
"""


def seconds(task: str, cache: str) -> tuple[float, float]:
    """(CPU seconds of the fit, of the prediction) in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, task],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    fit, predict = map(float, done.stdout.split())
    return fit, predict


def main(tasks) -> int:
    missed = 0

    def cell(pair, target) -> str:
        nonlocal missed
        total = sum(pair)
        late = target is not None and total > target
        missed += late
        verdict = (
            "" if target is None else f"{'FAIL' if late else 'pass'} <= {target:g}"
        )
        return f"{pair[0]:6.1f} {pair[1]:5.1f} {verdict:<11}"

    print("CPU seconds of the first fit and prediction")
    print(f"{'':<9}  {'empty cache':<24} {'after another task':<24} from disk")
    with tempfile.TemporaryDirectory() as folder:
        for first in ("tag", "match"):
            seconds(first, f"{folder}/after-{first}")
        for task in tasks or TASKS:
            own, other = f"{folder}/{task}", "match" if task == "tag" else "tag"
            cold = cell(seconds(task, own), EMPTY.get(task))
            after = cell(seconds(task, f"{folder}/after-{other}"), AFTER.get(task))
            print(f"{task:<9}  {cold} {after} {cell(seconds(task, own), FROM_DISK)}")
    return int(missed > 0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    chosen = parser.parse_args().tasks
    for name in chosen:
        if name not in TASKS:
            parser.error(f"there is no task {name}; there are {', '.join(TASKS)}")
    sys.exit(main(chosen))
