"""Compile ahead: a tiny fit and prediction of every task, in a process of their own.

The machine code stays on disk (``core/compile/kernel_cache.py``), so that the first real
fit of the machine waits for nothing. ``maxmargin warmup`` is this from the command line. A
family lists its fits as ``warmups``: functions that return (fitted model, inputs).

>>> from maxmargin.warmup import TASKS
>>> print(*list(TASKS)[:6])
classify taxonomy multilabel kernel rank tag
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from maxmargin.families import places


def _fit(task: str, module: str) -> Callable[[], tuple]:
    """The function that fits; its module is imported when it is called."""
    name = task.replace("-", "_")
    return lambda: getattr(importlib.import_module(module), name)()


READY = "ready after"
PROGRAM = f"""
import sys, warnings
warnings.simplefilter("ignore")
from maxmargin.core.compile.compiling import compile_seconds
from maxmargin.warmup import run
for task in sys.argv[1:]:
    before = compile_seconds()
    run(task)
    print("{READY}", compile_seconds() - before, flush=True)
"""

TASKS = {task: _fit(task, module) for task, module in places("warmups").items()}


def run(task: str) -> Any:
    """Fit and predict once, in this process; returns the model."""
    model, X = TASKS[task]()
    model.predict(X)
    model.predict(X[:1])  # which may go another way: tags/single.py
    return model


def warm_up(tasks: Sequence[str] = ()) -> Iterator[tuple[str, float]]:
    """Compile what these tasks (all, if none is named) run; yields (task, seconds)."""
    unknown = [task for task in tasks if task not in TASKS]
    if unknown:
        raise ValueError(
            f"task {unknown[0]!r} is not known; choose from {', '.join(sorted(TASKS))}."
        )
    left = list(tasks or TASKS)
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *left],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        for line in process.stdout:
            if line.startswith(READY):
                yield left.pop(0), float(line.split()[-1])
        if process.wait():
            errors.seek(0)
            last = errors.read().strip().splitlines()[-1:] or ["no message"]
            raise OSError(f"warming up for {left[0]!r} failed: {last[0]}")
