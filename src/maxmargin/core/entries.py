"""Contract functions behind addresses: solver kernels are compiled once for all structures.

A solver kernel gets a :class:`Handle` in place of the batch. A call of a contract function
on it goes through a table of addresses, one *slot* for each function and precision; the
types of the arguments are declared in ``contract.py`` beside each function. So a solver is
compiled once, each function of a structure once, and only those that a kernel reaches.
"""

from __future__ import annotations

import inspect
from typing import NamedTuple

import numpy as np
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.typing.templates import AbstractTemplate, infer, infer_global
from numba.extending import lower_builtin

from maxmargin.core.formulation import Form
from maxmargin.core.packed import Packed

SLOTS = 128
Real = types.DeferredType()  # stands for the precision: float32 or float64


class Handle(NamedTuple):
    """A batch as solver kernels see it."""

    start: np.ndarray
    y: np.ndarray
    words: int  # address of the words of the batch
    table: np.ndarray  # addresses of the structure's functions


# what may be declared: types, in which Real is filled in
Int, Float, Bool = types.int64, types.float64, types.boolean
Pair = types.UniTuple(types.int64, 2)
Floats = types.UniTuple(types.float64, 2)
Labels = types.Array(types.int32, 1, "C")
Indices = types.Array(types.int64, 1, "C")
Doubles = types.Array(types.float64, 1, "C")
DoubleTable = types.Array(types.float64, 2, "C")
Vector = types.Array(Real, 1, "C")
Table = types.Array(Real, 2, "C")
Formulation = types.NamedTuple([types.int64, types.int64, types.float64], Form)


_declared: list = []


class Declaration:
    """Place in the table, argument and return types of one contract function."""

    def __init__(self, function):
        signature = inspect.signature(function, eval_str=True)
        self.name = function.__name__
        self.arguments = [p.annotation for p in list(signature.parameters.values())[1:]]
        self.returns = signature.return_annotation or types.none
        self.precise = any(_is_real(t) for t in self.arguments)
        self.place = len(_declared)
        _declared.append(self)
        assert self.place < SLOTS // 2

    def __repr__(self):
        return f"{self.place} {self.name} {self.arguments} {self.returns}"

    def filled(self, real) -> list:
        """The argument types in this precision."""
        return [t.copy(dtype=real) if _is_real(t) else t for t in self.arguments]

    def slot(self, real) -> int:
        return 2 * self.place + int(self.precise and real == types.float32)

    def precision(self, arguments):
        """The precision that a call with these types speaks of."""
        for have, want in zip(arguments, self.arguments, strict=True):
            if _is_real(want) and isinstance(have, types.Array):
                return have.dtype
        return types.float64


def _is_real(t) -> bool:
    return isinstance(t, types.Array) and t.dtype is Real


def declare(call, default) -> Declaration | None:
    """Make calls of a generic function on a Handle calls by address."""
    if not default.__annotations__:
        return None
    declaration = Declaration(default)

    class Template(AbstractTemplate):
        key = call

        def generic(self, args, kws):
            if not _is_handle(args[0]):
                return None
            wanted = declaration.filled(declaration.precision(args[1:]))
            for have, want in zip(args[1:], wanted, strict=True):
                if self.context.can_convert(have, want) is None:
                    raise TypingError(
                        f"{declaration.name}() takes {want} where it was given {have}."
                    )
            return declaration.returns(*args)

    infer(Template)
    infer_global(call, types.Function(Template))

    @lower_builtin(call, types.BaseNamedTuple, types.VarArg(types.Any))
    def lower_call(context, builder, sig, args):
        real = declaration.precision(sig.args[1:])
        return _call(context, builder, declaration, real, sig.args, args)

    return declaration


def _is_handle(t) -> bool:
    return isinstance(t, types.BaseNamedTuple) and t.instance_class is Handle


def _call(context, builder, declaration, real, have, values):
    wanted = declaration.filled(real)
    words, table = (
        builder.extract_value(values[0], Handle._fields.index(name))
        for name in ("words", "table")
    )
    array = context.make_array(have[0].types[3])(context, builder, table)
    place = context.get_constant(types.intp, declaration.slot(real))
    address = builder.load(builder.gep(array.data, [place]))
    with cgutils.if_unlikely(builder, cgutils.is_null(builder, address)):
        context.call_conv.return_user_exc(
            builder,
            RuntimeError,
            (
                f"{declaration.name}() was called but not compiled: a fault of maxmargin.",
            ),
        )
    pointer = types.voidptr
    full = (pointer, *wanted)
    llvm_type = context.call_conv.get_function_type(declaration.returns, full)
    function = builder.inttoptr(address, llvm_type.as_pointer())
    arguments = [builder.inttoptr(words, context.get_value_type(pointer))]
    for value, given, want in zip(values[1:], have[1:], wanted, strict=True):
        arguments.append(context.cast(builder, value, given, want))
    status, result = context.call_conv.call_function(
        builder, function, declaration.returns, full, arguments
    )
    with cgutils.if_unlikely(builder, status.is_error):
        context.call_conv.return_status_propagate(builder, status)
    return result


def entry_signature(declaration, batch_type, real):
    """What a structure's function is compiled for."""
    return declaration.returns(Packed(batch_type), *declaration.filled(real))


def address_of(dispatcher, signature) -> int:
    """Compile (or load) for this signature; the address of the machine code."""
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[tuple(signature.args)]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
