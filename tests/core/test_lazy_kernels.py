"""Kernels are sources until one is called: numba is imported then."""

import copy
import pickle
import subprocess
import sys

import numpy as np

from maxmargin.core.compile.atomics import (
    atomic_add,
    claim,
    let_others,
    look,
    swap,
    tell,
)
from maxmargin.core.kernel import inlined, kernel
from maxmargin.core.vectors import add_rows


@inlined
def half(x):
    return 0.5 * x


@kernel
def halves(x):
    for k in range(len(x)):
        x[k] = half(x[k])


@kernel
def all_intrinsics(array, found, sums):
    atomic_add(sums, 0, 2.0)
    found[0] = swap(array, 1, 7)
    found[1] = claim(array, 2, 5)
    found[2] = claim(array, 2, 6)
    tell(array, 3, 9)
    found[3] = look(array, 3)
    let_others()


def test_estimators_and_solvers_are_imported_without_numba():
    code = (
        "import sys, maxmargin, maxmargin.solvers.registry as registry\n"
        "[getattr(maxmargin, name) for name in maxmargin.__all__]\n"
        "[registry.load(c) for r in registry.SOLVERS.values() for c in r.classes]\n"
        "print('numba' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "False\n", found.stderr


def test_kernels_call_kernels():
    x = np.array([1.0, 4.0])
    halves(x)
    assert x.tolist() == [0.5, 2.0]
    assert half(3.0) == 1.5
    assert halves.__name__ == "halves"
    assert len(halves.signatures) == 1


def test_what_threads_do_in_one_step_compiles():
    all_intrinsics._cache.disable()
    array, found = np.zeros(4, np.int64), np.zeros(4, np.int64)
    all_intrinsics(array, found, sums := np.zeros(1))
    assert array.tolist() == [0, 7, 5, 9]
    assert sums.tolist() == [2.0]
    assert found.tolist() == [0, 0, 5, 9]


def test_copies_are_the_kernel_itself():
    assert pickle.loads(pickle.dumps(add_rows)) is add_rows
    assert copy.deepcopy(add_rows) is add_rows
