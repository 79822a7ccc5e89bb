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

numba decides whether cached machine code is stale by the time stamp of the one file the
function stands in. A solver compiled around a structure from another file would survive
a change of that file, so our cache stamps every kernel with all kernel sources.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import types
from pathlib import Path

import numba
from numba.core import types as numba_types
from numba.core.errors import TypingError
from numba.extending import overload

_PACKAGE = Path(__file__).parents[1]
_KERNEL_FOLDERS = (
    "core",
    "solvers",
    "tags",
    "classes",
    "trees",
    "alignments",
    "matchings",
    "hypergraphs",
)

_implementations: dict[str, dict[type, types.FunctionType]] = {}
_kernels: list = []


@functools.cache
def _library_stamp() -> str:
    """Hash of every kernel source of the library; also what an upgrade changes."""
    digest = hashlib.sha256(numba.__version__.encode())
    for folder in _KERNEL_FOLDERS:
        for path in sorted((_PACKAGE / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    digest.update(Path(__file__).read_bytes())
    return digest.hexdigest()


def _foreign_stamp() -> str:
    """Hash of the sources of structures that users registered."""
    digest = hashlib.sha256()
    sources = set()
    for bodies in _implementations.values():
        for body in bodies.values():
            path = Path(body.__code__.co_filename)
            if _PACKAGE in path.parents:
                continue
            if path.is_file():
                sources.add(path.read_bytes())
            else:  # typed into a notebook or a shell: no file to read
                sources.add(
                    body.__code__.co_code + repr(body.__code__.co_consts).encode()
                )
    for source in sorted(sources):
        digest.update(source)
    return digest.hexdigest()


def _stamped_cache(function):
    """numba's function cache, with our stamp in place of one file's time stamp.

    numba's index of cached kernels refers to batch classes by import. Kernels built for
    a user's batch class therefore get an index of their own: a process that cannot
    import that class must not stumble over it.
    """
    from numba.core.caching import FunctionCache, IndexDataCacheFile

    class StampedCache(FunctionCache):
        def _choose_file(self, sig):
            foreign = _foreign_classes(getattr(sig, "args", sig))
            base = self._impl.filename_base
            if foreign:
                base += "-" + hashlib.sha256(foreign.encode()).hexdigest()[:12]
            self._cache_file = IndexDataCacheFile(
                cache_path=self._cache_path,
                filename_base=base,
                source_stamp=_library_stamp(),
            )

        def _load_overload(self, sig, target_context):
            self._choose_file(sig)
            # a damaged cache costs a compilation, never a fit
            with contextlib.suppress(Exception):
                return super()._load_overload(sig, target_context)

        def _save_overload(self, sig, data):
            self._choose_file(sig)
            with contextlib.suppress(Exception):
                super()._save_overload(sig, data)

        def _index_key(self, sig, codegen):
            return (*super()._index_key(sig, codegen), _foreign_stamp())

    return StampedCache(function)


def _foreign_classes(arguments) -> str:
    """Names of the batch classes among these types that are not the library's."""
    classes = {
        t.instance_class
        for t in arguments
        if isinstance(t, numba_types.BaseNamedTuple)
        and not t.instance_class.__module__.startswith("maxmargin.")
    }
    return ",".join(sorted(f"{c.__module__}.{c.__qualname__}" for c in classes))


def kernel(function, **options):
    """Compile ``function`` lazily, without the GIL, cached on disk."""
    dispatcher = numba.njit(nogil=True, **options)(function)
    # An error means that numba moved its cache classes or that no cache folder can be
    # written. Compiling in every process is slow but never wrong.
    with contextlib.suppress(Exception):
        dispatcher._cache = _stamped_cache(function)
    _kernels.append(dispatcher)
    return dispatcher


def inlined(function):
    """A kernel for inner loops: always inlined into the kernels that call it."""
    return kernel(function, forceinline=True)


def summing(function):
    """Like ``inlined``, with sums in any order, so that they run in SIMD lanes.

    Infinities and NaN keep their meaning; only the rounding of sums may differ.
    """
    return kernel(function, forceinline=True, fastmath={"reassoc", "contract"})


def generic(default, required=False, inline=True):
    """Declare a function that each batch type implements; ``default`` is the fallback.

    Called uncompiled, it runs the Python source of the implementation, or the method of
    the same name on a batch that is an ordinary object.
    """
    name = default.__name__
    bodies = _implementations.setdefault(name, {})

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
        if not isinstance(batch, numba_types.BaseNamedTuple):
            return None
        batch_type = batch.instance_class
        if required and batch_type not in bodies:
            raise TypingError(_unimplemented(batch_type, name))
        return bodies.get(batch_type, default)

    # A batch is dozens of arguments to a call: inlining short bodies saves passing them.
    overload(call, jit_options={"forceinline": inline}, strict=False)(choose)
    return call


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
        _implementations[generic_function.__name__][batch_type] = body
        interpreted.cache_clear()
        return body

    return register


def implemented(generic_function, batch_type) -> bool:
    """Whether a batch type has its own body of a generic function."""
    return batch_type in _implementations[generic_function.__name__]


@functools.cache
def interpreted(function):
    """The uncompiled twin of a kernel, calling uncompiled twins in turn.

    Only functions that take a ``batch`` need a twin: the others work on plain arrays
    and stay compiled also when the batch is a Python object.
    """
    source = getattr(function, "py_func", function)
    space = dict(source.__globals__)
    twin = types.FunctionType(
        source.__code__, space, source.__name__, source.__defaults__, source.__closure__
    )
    for name in source.__code__.co_names:
        other = space.get(name)
        if hasattr(other, "py_func") and _takes_batch(other.py_func):
            space[name] = _late_twin(other)
    return twin


def _late_twin(dispatcher):
    return lambda *args: interpreted(dispatcher)(*args)


def _takes_batch(function) -> bool:
    return next(iter(inspect.signature(function).parameters), None) == "batch"


def run(function, batch, *args):
    """Call a kernel on a batch: compiled for NamedTuples, interpreted for objects."""
    if isinstance(batch, tuple):
        return function(batch, *args)
    return interpreted(function)(batch, *args)


def cache_statistics() -> dict[str, tuple[int, int]]:
    """``{kernel: (loaded from disk, compiled)}`` for this process, used kernels only."""
    table = {}
    for dispatcher in _kernels:
        hits = sum(dispatcher.stats.cache_hits.values())
        misses = sum(dispatcher.stats.cache_misses.values())
        if hits or misses or dispatcher.signatures:
            compiled = len(dispatcher.signatures) - hits
            table[f"{dispatcher.__module__}.{dispatcher.__name__}"] = (hits, compiled)
    return table
