"""Functions that only kernels call have no machine code of their own."""

from __future__ import annotations

import gc
import pickle

import numpy as np
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from maxmargin.core.compile.linked import LinkedLibrary, rebuilt
from maxmargin.core.kernel import inner, kernel


@inner
def total(x):
    found = 0.0
    for k in range(len(x)):
        found += x[k]
    return found


@kernel
def mean(x):
    return total(x) / len(x)


mean._cache.disable()  # a kernel from disk does not compile what it calls


def compiled():
    assert mean(np.arange(5.0)) == 2.0
    (result,) = total.overloads.values()
    return result


def test_it_is_linked_into_its_callers():
    result = compiled()
    assert isinstance(result.library, LinkedLibrary)
    assert result.library.get_pointer_to_function(result.fndesc.llvm_func_name) == 0
    (caller,) = mean.overloads.values()
    assert caller.library.get_pointer_to_function(caller.fndesc.llvm_func_name) > 0


def test_python_can_call_it_too():
    assert total(np.arange(5.0)) == 10.0


def test_it_comes_back_from_disk_and_links():
    saved = pickle.loads(dumps(compiled()._reduce()))
    context = cpu_target.target_context
    found = rebuilt(context, saved)
    assert isinstance(found.library, LinkedLibrary)
    assert found.target_context is context
    names = [f.name for f in found.library.get_defined_functions()]
    assert found.fndesc.llvm_func_name in names


def test_no_garbage_is_collected_meanwhile_but_afterwards():
    from maxmargin.core.compile import compiling

    assert gc.isenabled()
    compiling.started("here")
    compiling.started("within")
    assert not gc.isenabled()
    compiling.ended()
    assert not gc.isenabled()
    compiling.ended()
    assert gc.isenabled()
    gc.disable()
    try:
        compiling.started("here")
        compiling.ended()
        assert not gc.isenabled()
    finally:
        gc.enable()
