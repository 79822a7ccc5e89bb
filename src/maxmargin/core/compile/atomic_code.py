"""The machine code of ``atomics.py``."""

import sys

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

YIELD = None if sys.platform == "win32" else "sched_yield"


@intrinsic
def atomic_add(typingctx, array, index, value):
    """array[index] += value, which no other thread can lose."""

    def codegen(context, builder, signature, args):
        place = _place(context, builder, signature, args)
        builder.atomic_rmw("fadd", place, args[2], "monotonic")
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), codegen


@intrinsic
def swap(typingctx, array, index, value):
    """array[index] = value, before all that is done after; what was there before."""

    def codegen(context, builder, signature, args):
        place = _place(context, builder, signature, args)
        return builder.atomic_rmw("xchg", place, args[2], "acquire")

    return array.dtype(array, types.intp, array.dtype), codegen


@intrinsic
def claim(typingctx, array, index, value):
    """Put a value where there is 0; what was there before."""

    def codegen(context, builder, signature, args):
        place = _place(context, builder, signature, args)
        zero = context.get_constant(signature.args[0].dtype, 0)
        found = builder.cmpxchg(place, zero, args[2], "acq_rel", "acquire")
        return builder.extract_value(found, 0)

    return array.dtype(array, types.intp, array.dtype), codegen


@intrinsic
def tell(typingctx, array, index, value):
    """array[index] = value, after all that was written before."""

    def codegen(context, builder, signature, args):
        size = context.get_abi_sizeof(context.get_value_type(signature.args[0].dtype))
        place = _place(context, builder, signature, args)
        builder.store_atomic(args[2], place, "release", size)
        return context.get_dummy_value()

    return types.void(array, types.intp, array.dtype), codegen


@intrinsic
def look(typingctx, array, index):
    """array[index], before all that is read after."""

    def codegen(context, builder, signature, args):
        size = context.get_abi_sizeof(context.get_value_type(signature.args[0].dtype))
        place = _place(context, builder, signature, args)
        return builder.load_atomic(place, "acquire", size)

    return array.dtype(array, types.intp), codegen


@intrinsic
def let_others(typingctx):
    """Another thread may have this core, if one waits for it."""

    def codegen(context, builder, signature, args):
        if YIELD is not None:
            kind = ir.FunctionType(ir.IntType(32), [])
            function = cgutils.get_or_insert_function(builder.module, kind, YIELD)
            builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), codegen


def _place(context, builder, signature, args):
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, args[0])
    return cgutils.get_item_pointer(
        context, builder, kind, array, [args[1]], wraparound=False
    )


def type_of(function):
    """What numba calls the type of an intrinsic."""
    context = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(function)
