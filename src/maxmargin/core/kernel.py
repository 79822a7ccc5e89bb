"""Compiled functions: one decorator, generic functions, and a disk cache one can trust.

Three words for the rest of the library:

``kernel``
    compiles a function with numba on first use, releases the GIL while it runs and
    keeps the machine code on disk, so that the next process loads it in milliseconds.
``generic``
    declares a function whose body depends on the type of its first argument, ``batch``.
    Kernels call it like any function and are specialised at no cost.
``implements``
    gives the body of a generic function for one batch type (a ``NamedTuple`` class).

A batch that is not a ``NamedTuple`` but an object with methods (a user's Python problem)
runs through the same sources uncompiled: see :func:`run`.

The disk cache is in ``kernel_cache.py``; when machine code is stale, in ``stamps.py``.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types

import numba
import numpy as np
from numba.core import event
from numba.core import types as numba_types
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.extending import overload

from maxmargin.core import compiling, stamps
from maxmargin.core.compiling import compile_seconds as compile_seconds
from maxmargin.core.entries import (
    SLOTS,
    Handle,
    address_of,
    declare,
    entry_signature,
    is_handle,
    is_whole,
)
from maxmargin.core.interrupts import was_ctrl_c
from maxmargin.core.packed import (
    Packed,
    Pointer,
    named_tuples,
    type_of,
    writable,
)
from maxmargin.core.recent import recent

with contextlib.suppress(ImportError):  # numba moved its classes: compile every time
    from maxmargin.core.kernel_cache import KernelCache
try:
    from maxmargin.core.linked import Linking
except ImportError:  # likewise: optimise every function alone too
    Linking = None

_kernels: list = []
twins: dict[type, type] = {}  # batch types with the same bodies: core/partial.py
_tables: dict = {}  # by batch type: addresses, and for which kernels they are complete


class _Compilations(event.Listener):
    """Tells ``compiling.py`` when numba compiles; loading from disk is not compiling."""

    def on_start(self, event):
        compiling.started(event.data["dispatcher"].py_func.__module__)

    def on_end(self, event):
        compiling.ended()


event.register("numba:compile", _Compilations())


def kernel(function, **options):
    """Compile ``function`` lazily, without the GIL, cached on disk."""
    dispatcher = numba.njit(nogil=True, no_cfunc_wrapper=True, **options)(function)
    with contextlib.suppress(NameError):
        dispatcher._cache = KernelCache(function, "no_cpython_wrapper" in options)
    dispatcher.__class__ = _Kernel
    _kernels.append(dispatcher)
    return dispatcher


class _Kernel(CPUDispatcher):
    """Ctrl-C in its last instructions, which make objects of Python, stays Ctrl-C."""

    def __call__(self, *args):
        try:
            return _call(self, *args)
        except SystemError as error:
            if was_ctrl_c(error):
                raise KeyboardInterrupt from None
            raise

    def get_call_template(self, args, kws):
        # numba would compile f(..., 0) and f(..., m) apart
        return super().get_call_template(map(numba_types.unliteral, args), kws)


_call = CPUDispatcher.__call__


class _Inner(_Kernel):
    """Called from Python, it is compiled once more, as a kernel."""

    def __call__(self, *args):
        return _outer(self)(*args)


@functools.cache
def _outer(inner):
    return kernel(inner.py_func, fastmath=inner.targetoptions.get("fastmath", False))


def inner(function, **options):
    """A kernel that kernels call, without the code that takes arguments from Python.

    That code costs the compiler as much as a short function does.
    """
    dispatcher = without_wrapper(function, pipeline_class=Linking, **options)
    dispatcher.__class__ = _Inner
    return dispatcher


def without_wrapper(function, **options):
    return kernel(function, no_cpython_wrapper=True, **options)


def inlined(function):
    """For inner loops: always inlined into the kernels that call it."""
    return inner(function, forceinline=True)


def summing(function):
    """Like ``inlined``, with sums in any order, so that they run in SIMD lanes.

    Infinities and NaN keep their meaning; only the rounding of sums may differ.
    """
    return inner(function, forceinline=True, fastmath={"reassoc", "contract"})


def generic(default, required=False, inline=True, apart=False):
    """Declare a function that each batch type implements; ``default`` is the fallback.

    Called uncompiled, it runs the Python source of the implementation, or the method of
    the same name on a batch that is an ordinary object.
    """
    name = default.__name__
    bodies: dict[type, types.FunctionType] = {}

    @functools.wraps(default)
    def call(batch, *args):
        body = bodies.get(type(batch))
        if body is not None:
            return interpreted(body)(batch, *args)
        method = getattr(batch, name, None)
        if method is not None:
            return method(*args)
        if required:
            raise NotImplementedError(_unimplemented(type(batch), name))
        return interpreted(default)(batch, *args)

    def choose(batch, *args):
        if is_handle(batch) or (apart and is_whole(batch)):
            return None  # a call by address: entries.py
        batch = batch.batch if isinstance(batch, Packed) else batch
        if not isinstance(batch, numba_types.BaseNamedTuple):
            return None
        batch_type = batch.instance_class
        if required and batch_type not in bodies:
            raise TypingError(_unimplemented(batch_type, name))
        return bodies.get(batch_type, default)

    # A batch is dozens of arguments to a call: inlining short bodies saves passing them.
    options = {
        "forceinline": inline,
        "no_cfunc_wrapper": True,
        "no_cpython_wrapper": True,
        "pipeline_class": Linking,
    }
    overload(call, jit_options=options, strict=False)(choose)
    call.bodies, call.default, call.inline = bodies, default, inline
    call.declaration = declare(call, default, apart)
    call.required, call.apart = required, apart
    return call


def apart(function):
    """Declare a large part of a structure's search, with types, as in the contract.

    It is called by address, so it is optimised once, in a module of its own, and not
    again in every function that calls it.
    """
    return generic(function, inline=False, apart=True)


def required(function):
    """Declare a generic function without a default: every batch type must have it."""
    return generic(function, required=True, inline=False)


def _unimplemented(batch_type, name) -> str:
    return (
        f"{batch_type.__name__} has no {name}(): write one and decorate it with "
        f"@implements({name}, {batch_type.__name__})."
    )


def implements(generic_function, batch_type):
    """Register the decorated function as ``generic_function`` for ``batch_type``."""

    def register(body):
        generic_function.bodies[batch_type] = body
        if batch_type in twins:
            generic_function.bodies.setdefault(twins[batch_type], body)
        interpreted.cache_clear()
        stamps.forget()
        _tables.clear()
        return body

    return register


def implemented(generic_function, batch_type) -> bool:
    """Whether a batch type has its own body of a generic function."""
    return batch_type in generic_function.bodies


@functools.cache
def interpreted(function):
    """The uncompiled twin of a kernel, calling uncompiled twins in turn.

    Functions that take a ``batch`` need a twin; those of ``planes`` or a ``form`` do so
    little that compiling them would take longer than a small fit. The others work on
    plain arrays and stay compiled also when the batch is a Python object.
    """
    source = getattr(function, "py_func", function)
    space = dict(source.__globals__)
    twin = types.FunctionType(
        source.__code__, space, source.__name__, source.__defaults__, source.__closure__
    )
    for name in source.__code__.co_names:
        other = space.get(name)
        if hasattr(other, "py_func") and _takes_objects(other.py_func):
            space[name] = _late_twin(other)
    return twin


def _late_twin(dispatcher):
    return lambda *args: interpreted(dispatcher)(*args)


def _takes_objects(function) -> bool:
    first = next(iter(inspect.signature(function).parameters), None)
    return first in ("batch", "planes", "form")


_HANDLES = frozenset({Handle})


def run(function, batch, *args):
    """Call a kernel on a batch: compiled for NamedTuples, interpreted for objects."""
    if not isinstance(batch, tuple):
        return interpreted(function)(batch, *args)
    known = recent(batch)
    table = _table(function, known.type, args, _HANDLES)
    handle, _words = known.handle(batch, table)  # alive until the kernel returns
    return function(handle, *map(writable, args))


def prepared(function, batch, *args):
    """A function f such that f(*args) is run(function, batch, *args), for many calls.

    Arguments must be of the types of these. What run() looks up is looked up once: on few
    examples that takes longer than many a kernel.
    """
    if not isinstance(batch, tuple) or not recent(batch).plain:
        return functools.partial(run, function, batch)
    known = recent(batch)
    handle, words = known.handle(batch, _table(function, known.type, args, _HANDLES))

    def call(*args, alive=(batch, words)):
        return function(handle, *map(writable, args))

    return call


def direct(function, batch, *args):
    """Call a kernel compiled for the type of the batch, without calls by address."""
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
                    _unimplemented(batch_type.instance_class, name)
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


def cache_statistics() -> dict[str, tuple[int, int]]:
    """``{kernel: (loaded from disk, compiled)}`` for this process, used kernels only."""
    table = {}
    for dispatcher in _kernels:
        if not dispatcher.signatures:
            continue
        hits = sum(dispatcher.stats.cache_hits.values())
        compiled = len(dispatcher.signatures) - hits
        table[f"{dispatcher.__module__}.{dispatcher.__name__}"] = (hits, compiled)
    return table
