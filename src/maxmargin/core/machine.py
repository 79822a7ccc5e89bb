"""What compiles and calls kernels: the part of ``kernel.py`` that needs numba."""

from __future__ import annotations

import contextlib
import functools

import numba
import numpy as np
from numba.core import event
from numba.core import types as numba_types
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.extending import overload

from maxmargin.core import compiling, stamps
from maxmargin.core.arrays import writable
from maxmargin.core.entries import (
    SLOTS,
    Handle,
    address_of,
    declare,
    entry_signature,
    is_handle,
    is_whole,
)
from maxmargin.core.kernel import unimplemented, without_wrapper
from maxmargin.core.packed import (
    Packed,
    Pointer,
    named_tuples,
    type_of,
)
from maxmargin.core.recent import recent

with contextlib.suppress(ImportError):  # numba moved its classes: compile every time
    from maxmargin.core.kernel_cache import KernelCache
try:
    from maxmargin.core.linked import Linking
    from maxmargin.core.pipeline import Pipeline
except ImportError:  # likewise: as numba compiles, and every function alone too
    Linking = Pipeline = None

_tables: dict = {}  # by batch type: addresses, and for which kernels they are complete


class _Compilations(event.Listener):
    """Tells ``compiling.py`` when numba compiles; loading from disk is not compiling."""

    def on_start(self, event):
        compiling.started(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event):
        compiling.ended()


event.register("numba:compile", _Compilations())


class _Dispatcher(CPUDispatcher):
    def get_call_template(self, args, kws):
        # numba would compile f(..., 0) and f(..., m) apart
        return super().get_call_template(map(numba_types.unliteral, args), kws)


def dispatcher_of(function, linked=False, **options):
    """numba's, for a function that is ``linked`` into kernels or called as it is."""
    options["pipeline_class"] = Linking if linked else Pipeline
    dispatcher = numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    with contextlib.suppress(NameError):
        dispatcher._cache = KernelCache(function, "no_cpython_wrapper" in options)
    dispatcher.__class__ = _Dispatcher
    return dispatcher


def declare_generic(call) -> None:
    """Let kernels call a generic function: each batch type chooses a body."""

    def choose(batch, *args):
        if is_handle(batch) or (call.apart and is_whole(batch)):
            return None  # a call by address: entries.py
        batch = batch.batch if isinstance(batch, Packed) else batch
        if not isinstance(batch, numba_types.BaseNamedTuple):
            return None
        batch_type = batch.instance_class
        if call.required and batch_type not in call.bodies:
            raise TypingError(unimplemented(batch_type, call.__name__))
        return call.bodies.get(batch_type, call.default)

    # A batch is dozens of arguments to a call: inlining short bodies saves passing them.
    options = {
        "forceinline": call.inline,
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": True,
        "pipeline_class": Linking,
    }
    overload(call, jit_options=options, strict=False)(choose)
    call.declaration = declare(call, call.default, call.apart)


def forget() -> None:
    """A generic function has got another body."""
    stamps.forget()
    _tables.clear()


_HANDLES = frozenset({Handle})


def run(function, batch, *args):
    known = recent(batch)
    table = _table(function, known.type, args, _HANDLES)
    handle, _words = known.handle(batch, table)  # alive until the kernel returns
    return function(handle, *map(writable, args))


def prepared(function, batch, *args):
    """None where what is looked up may change."""
    known = recent(batch)
    if not known.plain:
        return None
    handle, words = known.handle(batch, _table(function, known.type, args, _HANDLES))

    def call(*args, alive=(batch, words)):
        return function(handle, *map(writable, args))

    return call


def direct(function, batch, *args):
    pointer = Pointer(batch, _table(function, type_of(batch), args, frozenset()))
    return function(pointer, *map(writable, args))


def _table(function, batch_type, args, classes) -> np.ndarray:
    """The addresses of a structure's functions; those that the kernel calls are there."""
    single = any(a.dtype == np.float32 for a in _arrays(args))
    real = numba_types.float32 if single else numba_types.float64
    classes = frozenset(type(a) for a in args if isinstance(a, tuple)) | classes
    key = id(batch_type)  # quick, and for good: type_of() keeps its types
    found = _tables.get(key)
    if found is None:
        found = _tables.setdefault(key, (np.zeros(SLOTS, np.int64), set()))
    table, ready = found
    if (function, classes, real) not in ready:
        if Handle not in classes:
            classes |= frozenset(named_tuples([batch_type]))
        _fill(table, stamps.reached(function.py_func, classes), batch_type, real)
        ready.add((function, classes, real))
    return table


def _fill(table, calls, batch_type, real) -> None:
    """Compile these functions of a structure, and the parts that they call."""
    for call in calls:
        slot = call.declaration.slot(real)
        if table[slot] == 0:
            body = call.bodies.get(batch_type.instance_class, call.default)
            if call.required and body is call.default:
                name = call.__name__
                raise NotImplementedError(
                    unimplemented(batch_type.instance_class, name)
                )
            parts = stamps.reached(body, frozenset(named_tuples([batch_type])))
            _fill(table, parts, batch_type, real)
            signature = entry_signature(call.declaration, batch_type, real)
            table[slot] = address_of(_entry(body), signature)


def _arrays(values):
    for value in values:
        if isinstance(value, tuple):
            yield from _arrays(value)
        elif isinstance(value, np.ndarray):
            yield value


@functools.cache
def _entry(body):
    return without_wrapper(body)
