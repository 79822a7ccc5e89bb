"""Types in the declarations of functions that are called by address.

They are names alone, so that a structure is imported without numba; ``entries.py`` makes
numba's types of them.
"""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.core.formulation import Form


class Scalar(NamedTuple):
    name: str


class Array(NamedTuple):
    """A C-contiguous one."""

    dtype: str
    ndim: int


class Group(NamedTuple):
    """A tuple, or (``kind``) a NamedTuple."""

    parts: tuple
    kind: type | None = None


REAL = "Real"  # stands for the precision: float32 or float64

Int, Float, Bool = Scalar("int64"), Scalar("float64"), Scalar("boolean")
Pair = Group((Int, Int))
Floats = Group((Float, Float))
Bytes = Array("int8", 2)
Labels = Array("int32", 1)
Indices = Array("int64", 1)
Doubles = Array("float64", 1)
Vector = Array(REAL, 1)
Table = Array("float64", 2)
VectorTable = Array(REAL, 2)
Tables = Group((Table, Table))
Formulation = Group((Int, Int, Float), Form)


def tuple_of(kind: type, *parts) -> Group:
    """The declared type of a NamedTuple."""
    return Group(parts, kind)
