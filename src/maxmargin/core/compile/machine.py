"""What compiles and calls kernels: the part of ``kernel.py`` that needs numba.

Batches that kernels were run on lately are ready to be run on again. A walk over the
fields of a batch, for its type and its words (``packed.py``), takes longer than many a
kernel on a small batch. It is done once: a batch cannot change, as long as it has the same
fields. These are known by their addresses, until the first array of them goes: there are
weak references to the arrays, so that no batch is kept alive here.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from typing import Any

import numba
import numpy as np
from numba.core import event
from numba.core import types as numba_types
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher
from numba.extending import overload

from maxmargin.core.compile import compiling, stamps
from maxmargin.core.compile.entries import (
    SLOTS,
    Handle,
    address_of,
    declare,
    entry_signature,
    is_handle,
    is_whole,
)
from maxmargin.core.compile.packed import (
    Packed,
    Pointer,
    named_tuples,
    type_of,
    words_of,
)
from maxmargin.core.kernel import unimplemented, without_wrapper
from maxmargin.core.tables.arrays import writable

with contextlib.suppress(ImportError):  # numba moved its classes: compile every time
    from maxmargin.core.compile.kernel_cache import KernelCache
try:
    from maxmargin.core.compile.linked import Linking
    from maxmargin.core.compile.pipeline import Pipeline
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
        if is_handle(batch) or (call.outlined and is_whole(batch)):
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
    call.declaration = declare(call, call.default, call.outlined)


def forget() -> None:
    """A generic function has got another body."""
    stamps.forget()
    _tables.clear()


# calling ------------------------------------------------------------------------------

_HANDLES = frozenset({Handle})


def packed(function, batch, args):
    """(handle, what must stay alive as long as it is used, arguments) of a kernel."""
    known = recent(batch)
    table = _table(function, known.type, args, _HANDLES)
    return *known.handle(batch, table), list(_arguments(args))


def _arguments(values):
    """Arrays that are only read as writable views: one signature for both kinds."""
    for value in values:
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            value = writable(value)
        yield value


def prepared(function, batch, *args):
    """None where what is looked up may change."""
    known = recent(batch)
    if not known.plain:
        return None
    handle, words = known.handle(batch, _table(function, known.type, args, _HANDLES))

    def call(*args, alive=(batch, words)):
        return function(handle, *_arguments(args))

    return call


def direct(function, batch, *args):
    pointer = Pointer(batch, _table(function, type_of(batch), args, frozenset()))
    return function(pointer, *_arguments(args))


def _table(function, batch_type, args, classes) -> np.ndarray:
    """The addresses of a structure's functions; those that the kernel calls are there."""
    single = any([a.dtype == np.float32 for a in _arrays(args)])
    own = [type(a) for a in args if isinstance(a, tuple)]
    classes = classes.union(own) if own else classes
    key = id(batch_type)  # quick, and for good: type_of() keeps its types
    found = _tables.get(key)
    if found is None:
        found = _tables.setdefault(key, (np.zeros(SLOTS, np.int64), set()))
    table, ready = found
    if (function, classes, single) not in ready:
        more = () if Handle in classes else named_tuples([batch_type])
        reached = stamps.reached(function.py_func, classes.union(more))
        real = numba_types.float32 if single else numba_types.float64
        _fill(table, reached, batch_type, real)
        ready.add((function, classes, single))
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


# batches ------------------------------------------------------------------------------

_MOST = 64
_recent: dict[int, Recent] = {}  # by the id of a batch


def recent(batch: Any) -> Recent:
    """What is known of a batch; it is looked at if it is new."""
    found = _recent.get(id(batch))
    if found is None or not found.is_of(batch):
        if len(_recent) >= _MOST:
            _recent.clear()
        found = _recent[id(batch)] = Recent(batch)
    return found


class Recent:
    """The type of a batch, and its words with the table of addresses that they name."""

    def __init__(self, batch: Any):
        self.type = type_of(batch)
        self.kind, self.fields = type(batch), tuple(map(id, batch))
        arrays = [value for value in batch if isinstance(value, np.ndarray)]
        self._arrays = [weakref.ref(array, self._end) for array in arrays]
        # the rest of the fields, whose addresses are theirs as long as they are here
        self._rest = [value for value in batch if not isinstance(value, np.ndarray)]
        self.plain = (  # start and y go into a handle as they are
            np.require(batch.start, np.int64, "CW") is batch.start
            and np.require(batch.y, np.int32, "CW") is batch.y
        )
        self._made: tuple | None = (
            None  # at once, for other threads: table, words, where
        )

    def is_of(self, batch: tuple) -> bool:
        """Whether a batch at the same address has the same fields."""
        return self.kind is type(batch) and self.fields == tuple(map(id, batch))

    def _end(self, _) -> None:
        """An array has gone, and its address may be that of another now."""
        self.kind = None
        self._rest.clear()

    def handle(self, batch: Any, table: np.ndarray) -> tuple[Handle, np.ndarray]:
        """(the handle, the words that it points to, which must stay alive)."""
        made = self._made
        if made is None or made[0] is not table:
            words = words_of(batch, table)
            made = self._made = table, words, words.ctypes.data
        start, y = batch.start, batch.y
        if not (self.plain and start.flags.writeable and y.flags.writeable):
            # copies, made each time: what they are of may change
            start = np.require(start, np.int64, "CW")
            y = np.require(y, np.int32, "CW")
        return Handle(start, y, made[2]), made[1]
