"""Contract functions behind addresses: solver kernels are compiled once for all structures.

A solver kernel gets a :class:`Handle` in place of the batch. A call of a contract function
on it goes through a table of addresses, one *slot* for each function and precision; the
types of the arguments are declared beside each function (``declared.py``). So a solver is
compiled once, each function of a structure once, and only those that a kernel reaches.
"""

from __future__ import annotations

import inspect
import zlib
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer, infer_global
from numba.extending import lower_builtin

from maxmargin.core.compile.declared import REAL, Array, Scalar
from maxmargin.core.compile.packed import Packed, load_word

SLOTS = 1 << 16  # of a table; memory that is not touched costs nothing
Real = types.Opaque("Real")  # stands for the precision: float32 or float64


class Handle(NamedTuple):
    """A batch as solver kernels see it."""

    start: np.ndarray
    y: np.ndarray
    words: int  # address of the words of the batch


def numba_type(declared):
    """numba's type for a declared one, in which Real is still to be filled in."""
    if declared is None:
        return types.none
    if isinstance(declared, Scalar):
        return getattr(types, declared.name)
    if isinstance(declared, Array):
        dtype = Real if declared.dtype == REAL else getattr(types, declared.dtype)
        return types.Array(dtype, declared.ndim, "C")
    parts = list(map(numba_type, declared.parts))
    return types.BaseTuple.from_types(parts, declared.kind)


_places: dict[int, str] = {}


class Declaration:
    """Place in the table, argument and return types of one contract function."""

    def __init__(self, function):
        signature = inspect.signature(function, eval_str=True)
        self.name = function.__name__
        arguments = list(signature.parameters.values())[1:]
        self.arguments = [numba_type(p.annotation) for p in arguments]
        self.returns = numba_type(signature.return_annotation)
        self.precise = any(_with_real(t, types.float64) != t for t in self.arguments)
        # by name, so that machine code on disk fits whatever was imported before
        full = f"{function.__module__}.{function.__qualname__}"
        self.place = zlib.crc32(full.encode()) % (SLOTS // 2)
        if _places.setdefault(self.place, full) != full:
            raise ValueError(
                f"{full} needs another name: {_places[self.place]} is there."
            )

    def __repr__(self):
        return f"{self.place} {self.name} {self.arguments} {self.returns}"

    def filled(self, real) -> list:
        """The argument types in this precision."""
        return [_with_real(t, real) for t in self.arguments]

    def returned(self, real):
        return _with_real(self.returns, real)

    def slot(self, real) -> int:
        return 2 * self.place + int(self.precise and real == types.float32)

    def precision(self, arguments):
        """The precision that a call with these types speaks of."""
        for have, want in zip(arguments, self.arguments, strict=True):
            for real in (types.float32, types.float64):
                if want != have == _with_real(want, real):
                    return real
        return types.float64


def _with_real(t, real):
    """The type with a precision in place of Real."""
    if isinstance(t, types.Array) and t.dtype is Real:
        return t.copy(dtype=real)
    if isinstance(t, types.BaseTuple):
        parts = [_with_real(part, real) for part in t.types]
        return types.BaseTuple.from_types(parts, getattr(t, "instance_class", None))
    return t


def declare(call, default, outlined) -> Declaration | None:
    """Make calls of a generic function on a Handle calls by address.

    ``outlined``: also those of one function of a structure on its batch.
    """
    if not default.__annotations__:
        return None
    declaration = Declaration(default)

    class Template(AbstractTemplate):
        key = call

        def generic(self, args, kws):
            if not (is_handle(args[0]) or (outlined and is_whole(args[0]))):
                return None
            real = declaration.precision(args[1:])
            wanted = declaration.filled(real)
            for have, want in zip(args[1:], wanted, strict=True):
                if self.context.can_convert(have, want) is None:
                    raise TypingError(
                        f"{declaration.name}() takes {want} where it was given {have}."
                    )
            return declaration.returned(real)(*args)

    infer(Template)
    infer_global(call, types.Function(Template))

    @lower_builtin(call, types.Any, types.VarArg(types.Any))
    def lower_call(context, builder, sig, args):
        real = declaration.precision(sig.args[1:])
        return _call(context, builder, declaration, real, sig.args, args)

    return declaration


def is_whole(t) -> bool:
    return isinstance(t, Packed) and t.whole


def is_handle(t) -> bool:
    return isinstance(t, types.BaseNamedTuple) and t.instance_class is Handle


def _call(context, builder, declaration, real, have, values):
    wanted = declaration.filled(real)
    returns = declaration.returned(real)
    words = values[0]
    if is_handle(have[0]):
        word = builder.extract_value(words, Handle._fields.index("words"))
        words = builder.inttoptr(word, ir.IntType(64).as_pointer())
    table = builder.inttoptr(load_word(builder, words, 0), words.type)
    address = load_word(builder, table, declaration.slot(real))
    with cgutils.if_unlikely(builder, cgutils.is_null(builder, address)):
        context.call_conv.return_user_exc(
            builder,
            RuntimeError,
            (
                f"{declaration.name}() was called but not compiled: a fault of maxmargin.",
            ),
        )
    full = (types.CPointer(types.int64), *wanted)
    llvm_type = context.call_conv.get_function_type(returns, full)
    function = builder.inttoptr(address, llvm_type.as_pointer())
    arguments = [words]
    for value, given, want in zip(values[1:], have[1:], wanted, strict=True):
        arguments.append(context.cast(builder, value, given, want))
    status, result = context.call_conv.call_function(
        builder, function, returns, full, arguments
    )
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return result


def entry_signature(declaration, batch_type, real):
    """What a structure's function is compiled for."""
    arguments = Packed(batch_type), *declaration.filled(real)
    return declaration.returned(real)(*arguments)


def address_of(dispatcher, signature) -> int:
    """Compile (or load) for this signature; the address of the machine code."""
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[tuple(signature.args)]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
