"""Compile ahead: a tiny fit and prediction of every task, each in a process of its own.

The machine code stays on disk (``core/kernel_cache.py``), so that the first real fit of
the machine waits for nothing. ``maxmargin warmup`` is this from the command line. A
family lists its fits as ``warmups``: functions that return (fitted model, inputs).

>>> from maxmargin.warmup import TASKS
>>> print(*list(TASKS)[:6])
classify taxonomy multilabel kernel rank tag
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from maxmargin.families import places


def _fit(task: str, module: str) -> Callable[[], tuple]:
    """The function that fits; its module is imported when it is called."""
    name = task.replace("-", "_")
    return lambda: getattr(importlib.import_module(module), name)()


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
    for task in tasks or TASKS:
        program = (
            "import warnings; warnings.simplefilter('ignore')\n"
            "from maxmargin.warmup import run\n"
            "from maxmargin.core.compiling import compile_seconds\n"
            f"run({task!r})\n"
            "print(compile_seconds())"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise OSError(f"warming up for {task!r} failed: {last[0]}")
        yield task, float(done.stdout.split()[-1])
