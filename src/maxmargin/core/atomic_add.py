"""w[j] += x that no other thread can lose.

On one thread the sums are those of the plain statement, bit for bit.
"""

from __future__ import annotations

from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def atomic_add(typingctx, array, index, value):
    """array[index] += value, as one step for all threads; no negative index."""
    signature = types.void(array, types.intp, array.dtype)

    def codegen(context, builder, signature, args):
        kind = signature.args[0]
        place = cgutils.get_item_pointer(
            context,
            builder,
            kind,
            context.make_array(kind)(context, builder, args[0]),
            [args[1]],
            wraparound=False,
        )
        builder.atomic_rmw("fadd", place, args[2], "monotonic")
        return context.get_dummy_value()

    return signature, codegen
