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

numba is imported by the first call (``machine.py``): before, kernels are sources. The disk
cache is in ``kernel_cache.py``; when machine code is stale, in ``stamps.py``.
"""

from __future__ import annotations

import functools
import inspect
import threading
import types
from importlib import import_module
from typing import Any

from maxmargin.core.compile.compiling import compile_seconds as compile_seconds
from maxmargin.engine.interrupts import was_ctrl_c

_kernels: list = []
twins: dict[type, type] = {}  # batch types with the same bodies: core/partial.py
_undeclared: list = []  # generic functions, until numba is there
_machine: Any = None  # ``machine.py``, once it is imported
_lock = threading.RLock()


def machine():
    """What compiles: numba is imported once, when first needed."""
    global _machine
    with _lock:
        if _machine is None:
            found = import_module("maxmargin.core.compile.machine")
            for call in _undeclared:
                found.declare_generic(call)
            _machine = found
    return _machine


class Kernel:
    """A function to be compiled, also for others that call it."""

    def __init__(self, function, **options):
        functools.update_wrapper(self, function)
        self.py_func, self.options = function, options

    @functools.cached_property
    def dispatcher(self):
        """numba's, made on first use."""
        with _lock:
            made = vars(self).get("dispatcher")
            return made or machine().dispatcher_of(self.py_func, **self.options)

    def __call__(self, *args):
        try:
            return self.dispatcher(*args)
        except SystemError as error:  # Ctrl-C in its last instructions, which make
            if was_ctrl_c(error):  # objects of Python, stays Ctrl-C
                raise KeyboardInterrupt from None
            raise

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    def __reduce__(self):
        return self.__qualname__  # copies are itself


def kernel(function, **options) -> Kernel:
    """Compile ``function`` lazily, without the GIL, cached on disk."""
    made = Kernel(function, **options)
    _kernels.append(made)
    return made


class _Inner(Kernel):
    """Called from Python, it is compiled once more, as a kernel."""

    def __call__(self, *args):
        return _outer(self)(*args)


@functools.cache
def _outer(inner):
    return kernel(inner.py_func, fastmath=inner.options.get("fastmath", False))


def inner(function, **options):
    """A kernel that kernels call, without the code that takes arguments from Python.

    That code costs the compiler as much as a short function does.
    """
    made = _Inner(function, no_cpython_wrapper=True, linked=True, **options)
    _kernels.append(made)
    return made


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


def generic(default, required=False, inline=True, outlined=False):
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
            raise NotImplementedError(unimplemented(type(batch), name))
        return interpreted(default)(batch, *args)

    call.bodies, call.default, call.inline = bodies, default, inline
    call.required, call.outlined = required, outlined
    with _lock:
        if _machine is None:
            _undeclared.append(call)
        else:
            _machine.declare_generic(call)
    return call


def outlined(function):
    """Declare a large part of a structure's search, with types, as in the contract.

    It is called by address, so it is optimised once, in a module of its own, and not
    again in every function that calls it.
    """
    return generic(function, inline=False, outlined=True)


def required(function):
    """Declare a generic function without a default: every batch type must have it."""
    return generic(function, required=True, inline=False)


def unimplemented(batch_type, name) -> str:
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
        if _machine is not None:
            _machine.forget()
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


def run(function, batch, *args):
    """Call a kernel on a batch: compiled for NamedTuples, interpreted for objects."""
    if not isinstance(batch, tuple):
        return interpreted(function)(batch, *args)
    handle, _words, args = (_machine or machine()).packed(function, batch, args)
    return function(handle, *args)  # the words are alive until it returns


def prepared(function, batch, *args):
    """A function f such that f(*args) is run(function, batch, *args), for many calls.

    Arguments must be of the types of these. What run() looks up is looked up once: on few
    examples that takes longer than many a kernel.
    """
    call = (
        machine().prepared(function, batch, *args) if isinstance(batch, tuple) else None
    )
    return call or functools.partial(run, function, batch)


def direct(function, batch, *args):
    """Call a kernel compiled for the type of the batch, without calls by address."""
    return machine().direct(function, batch, *args)


def cache_statistics() -> dict[str, tuple[int, int]]:
    """``{kernel: (loaded from disk, compiled)}`` for this process, used kernels only."""
    table = {}
    for made in _kernels:
        dispatcher = vars(made).get("dispatcher")
        if dispatcher is None or not dispatcher.signatures:
            continue
        hits = sum(dispatcher.stats.cache_hits.values())
        compiled = len(dispatcher.signatures) - hits
        table[f"{made.__module__}.{made.__name__}"] = (hits, compiled)
    return table
