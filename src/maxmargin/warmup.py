"""Compile ahead: a tiny fit and prediction of every task, each in a process of its own.

The machine code stays on disk (``core/kernel_cache.py``), so that the first real fit of
the machine waits for nothing. ``maxmargin warmup`` is this from the command line.

>>> from maxmargin.warmup import TASKS
>>> print(*TASKS)
classify taxonomy tag tag-arrays parse align homologs match
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any


def classify():
    from maxmargin import MulticlassSVM

    X = [[0.0, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.0]]
    return MulticlassSVM().fit(X, [0, 1, 0, 1]), X


def taxonomy():
    from maxmargin import TaxonomySVM

    X = [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.1], [1.0, 1.0, 0.2]]
    return TaxonomySVM().fit(X, ["pet.cat", "pet.dog", "car", "pet.cat"]), X


def tag():
    from maxmargin import SequenceTagger

    X = [[["a"], ["b", "c"]], [["b"], ["a"], ["c"]]]
    return SequenceTagger().fit(X, [["x", "y"], ["y", "x", "y"]]), X


def tag_arrays():
    """Pixels and the like: the same in double precision."""
    import numpy as np

    from maxmargin import SequenceTagger

    X = [np.linspace(0.0, 1.0, 6).reshape(3, 2), np.linspace(1.0, 0.1, 4).reshape(2, 2)]
    return SequenceTagger().fit(X, [[0, 1, 1], [1, 0]]), X


def parse():
    from maxmargin import GrammarParser
    from maxmargin.trees import Tree

    trees = [
        Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"),
        Tree.parse("(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))"),
    ]
    X = [[("a", "DT"), ("cat", "NN"), ("saw", "VBD"), ("dogs", "NNS")]]
    return GrammarParser().fit(None, trees), X


def align():
    from maxmargin import SequenceAligner

    X = [("HEAGAWGHEE", "PAWHEAE"), ("GATTACA", "GCATGCA")]
    y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("G-ATTACA", "GCA-TGCA")]
    return SequenceAligner().fit(X, y), X


def homologs():
    from maxmargin import HomologFinder
    from maxmargin.alignments.homologs.invented import make_homologs

    X, y = make_homologs(5, random_state=0)
    return HomologFinder().fit(X, y), X


def match():
    from maxmargin import WordAligner

    X = [("the house sleeps", "la maison dort"), ("he sleeps", "il dort")]
    return WordAligner().fit(X, ["0-0 1-1 2-2", "0-0 1-1"]), X


_FITS = (classify, taxonomy, tag, tag_arrays, parse, align, homologs, match)
TASKS = {fit.__name__.replace("_", "-"): fit for fit in _FITS}


def run(task: str) -> Any:
    """Fit and predict once, in this process; returns the model."""
    model, X = TASKS[task]()
    model.predict(X)
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
