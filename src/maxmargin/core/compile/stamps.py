"""What a compiled kernel is made of, as one hash: its stamp.

A kernel is its own bytecode and constants, the functions it calls, the bodies that its
batch types choose for the generic functions among them, and so on. :func:`stamp` hashes
that closure. Docstrings, comments and line numbers are no part of it, nor is anything
the kernel does not reach, so an edit recompiles what it changes and nothing else. The
same rule covers structures that users write, in files or in notebooks.
"""

from __future__ import annotations

import functools
import hashlib
import types

import numba
import numpy as np

from maxmargin.core.compile.entries import Handle
from maxmargin.core.compile.packed import named_tuples

VERSION = "6"  # raise it when kernel.py or entries.py compile the same source otherwise
_OUTSIDE = ("numpy", "numba", "math", "builtins")  # known by name and numba's version

_stamps: dict = {}


def stamp(function, arguments) -> str:
    """Hash of all that goes into ``function`` compiled for these numba types."""
    classes = frozenset(named_tuples(arguments))
    key = function, classes
    if key not in _stamps:
        digest = hashlib.sha256(f"{VERSION} {numba.__version__}".encode())
        for part in sorted(_closure(function, classes)[0]):
            digest.update(part)
        _stamps[key] = digest.hexdigest()
    return _stamps[key]


def forget() -> None:
    """Stamps are anew: a generic function has got another body."""
    _stamps.clear()
    _closure.cache_clear()


def reached(function, classes) -> set:
    """The generic functions that ``function`` calls by address, given the classes of its
    arguments; a default body is one that none of them replaces.
    """
    generics = _closure(function, frozenset(classes), False)[1]
    if Handle in classes:
        return {g for g in generics if g.declaration is not None}
    return {g for g in generics if g.outlined}


@functools.cache
def _closure(function, classes, defaults=True) -> tuple[set[bytes], set]:
    """(digests of everything reached, where ``classes`` and those met choose bodies,
    the generic functions among it).

    A call on a Handle goes by address: what is behind it is no part of the caller.
    """
    digests: set[bytes] = set()
    seen, generics, classes = set(), set(), set(classes)
    todo = [function, *classes]
    while todo:
        item = todo.pop()
        if item in seen:
            continue
        seen.add(item)
        if isinstance(item, type):
            classes.add(item)
            digests.add(_hash(_describe(item)[0]))
            todo += [g.bodies[item] for g in generics if item in g.bodies]
        elif hasattr(item, "bodies"):
            generics.add(item)
            bodies = [item.bodies[c] for c in classes if c in item.bodies]
            by_address = item.declaration is not None and Handle in classes
            if not by_address and (defaults or not bodies):
                bodies.append(item.default)
            todo += bodies
        else:
            digest, references = _parts(item)
            digests.add(digest)
            todo += references
    return digests, generics


@functools.cache
def _parts(function) -> tuple[bytes, list]:
    """(digest of one function, what it refers to that has parts of its own)."""
    names: list[str] = []
    texts = [function.__qualname__, *_code(function.__code__, function.__doc__, names)]
    space = dict(function.__globals__)
    for name, cell in zip(
        function.__code__.co_freevars, function.__closure__ or (), strict=True
    ):
        space[name] = cell.cell_contents
        names.append(name)
    references: list = []
    values = [(name, space[name]) for name in names if name in space]
    for name, value in [*values, ("defaults", function.__defaults__)]:
        if isinstance(value, types.ModuleType):
            inside = [] if _outside(value.__name__) else names
            found = [getattr(value, n) for n in inside if hasattr(value, n)]
        else:
            found = [value]
        for each in found:
            text, more = _describe(each)
            texts.append(f"{name}: {text}")
            references += more
    return _hash("\n".join(texts)), references


def _code(code, doc, names: list[str]):
    """Texts of a code object and the ones inside it; appends the names they use."""
    yield f"{code.co_code.hex()} {code.co_argcount} {code.co_varnames} {code.co_names}"
    names += code.co_names
    for k, constant in enumerate(code.co_consts):
        if isinstance(constant, types.CodeType):
            yield from _code(constant, None, names)
        elif not (k == 0 and isinstance(constant, str) and constant == doc):
            yield _describe(constant)[0]
        else:
            yield "None"


def _describe(value) -> tuple[str, list]:
    """(text of a value, the functions and batch classes in it)."""
    if hasattr(value, "py_func"):
        options = _describe(value.targetoptions)[0]
        return f"kernel {value.py_func.__qualname__} {options}", [value.py_func]
    if hasattr(value, "bodies"):
        text = f"generic {value.__name__} {value.inline} {value.declaration}"
        return text, [value]
    if hasattr(value, "_defn"):  # an intrinsic
        return f"intrinsic {value._name}", [value._defn]
    if isinstance(value, type):
        fields = getattr(value, "_fields", None)
        text = f"class {value.__module__}.{value.__qualname__} {fields}"
        return text, [] if fields is None else [value]
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        # one of kernel.py is a name that the kernel's module happens to have too
        inside = isinstance(value, types.FunctionType) and not (
            _outside(value.__module__) or value.__module__ == "maxmargin.core.kernel"
        )
        return f"function {value.__qualname__}", [value] if inside else []
    if isinstance(value, np.ndarray):
        data = hashlib.sha256(np.ascontiguousarray(value)).hexdigest()
        return f"array {value.dtype} {value.shape} {data}", []
    if isinstance(value, dict):
        value = tuple(sorted(value.items(), key=repr))
    if isinstance(value, (set, frozenset)):
        value = tuple(sorted(value, key=repr))
    if isinstance(value, (tuple, list)):
        parts = [_describe(v) for v in value]
        return f"({', '.join(t for t, _ in parts)})", [f for _, m in parts for f in m]
    return repr(value), []


def _outside(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _OUTSIDE


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
