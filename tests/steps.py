"""How far a fit walks: files that it enters, and who calls whom from file to file.

A fit of toy data is counted that has run before. ``test_steps.py`` holds the bounds, and
``benchmarks/house.py`` prints what is counted.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import maxmargin
from maxmargin import GraphLabeler, KernelSVM, SequenceTagger
from maxmargin.core.kernel import kernel, run

SOURCE = str(Path(maxmargin.__file__).parent)


def fit_tags():
    X = [[["the"], ["dog"], ["barks"]], [["dogs"], ["bark"]]]
    SequenceTagger(C=10).fit(X, [["D", "N", "V"], ["N", "V"]])


def toy_graphs():
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    nodes = [[1.0], [0.2], [-1.0], [-0.1]], [[0.5], [1.0], [0.3], [0.8]]
    return [(rows, square) for rows in nodes], [["a", "a", "b", "b"], ["a"] * 4]


def fit_graphs():
    GraphLabeler(C=10).fit(*toy_graphs())


def fit_kernels():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 4)) + 2.0 * np.eye(3, 4)[y]
    KernelSVM(C=10, n_components=10).fit(X, y)


FITS = {"tags": fit_tags, "graphs": fit_graphs, "kernels": fit_kernels}


def steps(fit: Callable[[], None]) -> tuple[set, Counter]:
    """(files entered, how often a function of one calls a function of another)."""
    files, pairs = set(), Counter()

    def watch(frame, event, _):
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(SOURCE):
            return
        files.add(name)
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename == name:
            return
        if caller.f_code.co_filename.startswith(SOURCE):
            pairs[caller.f_code, frame.f_code] += 1

    fit()
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        fit()
    finally:
        sys.setprofile(before)
    return files, pairs


@kernel
def nothing(batch):
    return 0


def microseconds_of_run() -> float:
    """What it takes to call a kernel that does nothing, for graphs."""
    batch = GraphLabeler()._encode(*toy_graphs(), None).batch
    run(nothing, batch)
    best = np.inf
    for _ in range(25):
        began = time.perf_counter()
        for _ in range(200):
            run(nothing, batch)
        best = min(best, (time.perf_counter() - began) * 5e3)
    return best
