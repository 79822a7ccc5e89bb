"""A batch behind one address, for compiled code.

A batch is dozens of arrays and numbers. Passed by value they are hundreds of arguments
of every call, which machine code spends little time on but the compiler very much. So
kernels of structures get one pointer instead, to the *words* of the batch: eight bytes
for every number, and for every array its address, shape and strides.

``batch.field`` in the source is then a load from there. The loads are marked invariant
(no kernel writes words), so that the optimiser treats them like arguments: it moves them
out of loops and knows that they are the same each time. Arrays made from words own
nothing: whoever calls keeps the batch alive.
"""

from __future__ import annotations

import struct

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import make_array, populate_array


class Packed(types.Type):
    """The numba type of a pointer to the words of a batch."""

    def __init__(self, batch, whole=True):
        self.batch = batch  # the numba type of the NamedTuple
        self.whole = whole  # not a tuple within: the first word is a table of entries
        classes = ",".join(
            f"{c.__module__}.{c.__qualname__}" for c in named_tuples([batch])
        )
        super().__init__(f"Packed({whole}, {batch}, {classes})")

    @property
    def key(self):
        return self.batch, self.whole


def named_tuples(arguments):
    """The NamedTuple classes in numba types, also inside others and behind pointers."""
    for t in arguments:
        if isinstance(t, Packed):
            yield from named_tuples([t.batch])
        if isinstance(t, types.BaseNamedTuple):
            yield t.instance_class
        if isinstance(t, types.BaseTuple):
            yield from named_tuples(t.types)


def type_of(batch):
    """The numba type of a batch; arrays that may not be written are like others.

    Kernels do not write into a batch, so code is compiled for one kind only.
    """
    key = _fingerprint(batch)
    if key not in _types:
        _types[key] = _writable_type(typeof(batch))
    return _types[key]


_types: dict = {}


def _fingerprint(value):
    """What decides the type of a value; quicker to find than the type."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        return (
            value.dtype,
            value.ndim,
            flags.c_contiguous,
            flags.f_contiguous,
            flags.aligned,
        )
    if isinstance(value, tuple):
        return type(value), *map(_fingerprint, value)
    return type(value)


def _writable_type(t):
    if isinstance(t, types.Array):
        return t.copy(readonly=False)
    if isinstance(t, types.BaseNamedTuple):
        parts = [_writable_type(part) for part in t.types]
        return types.BaseTuple.from_types(parts, t.instance_class)
    return t


class Pointer:
    """A batch for kernels that are compiled for its type (``kernel.direct``)."""

    def __init__(self, batch, table):
        self.batch = batch  # alive as long as this is
        self.words = words_of(batch, table)
        self.address = self.words.ctypes.data
        self.type = Packed(type_of(batch))


@typeof_impl.register(Pointer)
def _type_of_pointer(pointer, c):
    return pointer.type


@unbox(Packed)
def _unbox(t, pointer, c):
    address = c.pyapi.object_getattr_string(pointer, "address")
    word = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.inttoptr(word, c.context.get_value_type(t)))


def words_of(batch, table) -> np.ndarray:
    """The words of a batch, the address of its table of entries first.

    The addresses are good as long as batch and table live.
    """
    words: list[int] = [table.ctypes.data]
    _append(words, batch, type(batch).__name__)
    return np.array(words, np.int64)


def _append(words, value, where) -> None:
    if isinstance(value, np.ndarray):
        words += (value.__array_interface__["data"][0], *value.shape, *value.strides)
    elif isinstance(value, tuple):
        for name, part in zip(value._fields, value, strict=True):
            _append(words, part, f"{where}.{name}")
    elif isinstance(value, (float, np.floating)):
        words += struct.unpack("q", struct.pack("d", value))
    elif isinstance(value, (bool, int, np.bool_, np.integer)):
        words.append(int(value))
    else:
        raise TypeError(
            f"{where} is of type {type(value).__name__}; a batch holds numpy arrays, "
            "numbers and NamedTuples of them."
        )


def _size(t) -> int:
    """Words that a value of this type takes."""
    if isinstance(t, types.Array):
        return 1 + 2 * t.ndim
    if isinstance(t, types.BaseNamedTuple):
        return sum(map(_size, t.types))
    return 1


@register_model(Packed)
class PackedModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.IntType(64).as_pointer())


@infer_getattr
class PackedAttributes(AttributeTemplate):
    key = Packed

    def generic_resolve(self, packed, name):
        if name not in packed.batch.fields:
            return None
        t = packed.batch.types[packed.batch.fields.index(name)]
        return Packed(t, whole=False) if isinstance(t, types.BaseNamedTuple) else t


@lower_getattr_generic(Packed)
def load_field(context, builder, packed, pointer, name):
    place = packed.batch.fields.index(name)
    at = int(packed.whole) + sum(map(_size, packed.batch.types[:place]))
    t = packed.batch.types[place]
    pointer = builder.gep(pointer, [ir.Constant(ir.IntType(64), at)])
    if isinstance(t, types.BaseNamedTuple):
        return pointer
    words = [load_word(builder, pointer, k) for k in range(_size(t))]
    if isinstance(t, types.Array):
        return _array(context, builder, t, words)
    if isinstance(t, types.Float):
        double = builder.bitcast(words[0], ir.DoubleType())
        return context.cast(builder, double, types.float64, t)
    return context.cast(builder, words[0], types.int64, t)


def load_word(builder, pointer, k):
    word = builder.load(builder.gep(pointer, [ir.Constant(ir.IntType(64), k)]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def _array(context, builder, t, words):
    array = make_array(t)(context, builder)
    item = context.get_abi_sizeof(context.get_data_type(t.dtype))
    size = ir.Constant(ir.IntType(64), item)
    shape, strides = words[1 : 1 + t.ndim], words[1 + t.ndim :]
    if t.layout == "C":
        strides = [size] * t.ndim
        for k in range(t.ndim - 2, -1, -1):
            strides[k] = builder.mul(strides[k + 1], shape[k + 1])
    populate_array(
        array,
        data=builder.inttoptr(words[0], array.data.type),
        shape=shape,
        strides=strides,
        itemsize=size,
        meminfo=None,
        parent=None,
    )
    return array._getvalue()
