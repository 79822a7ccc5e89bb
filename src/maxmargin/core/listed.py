"""What counts as a list where users are asked for one."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any


def listed(values: Any, otherwise: str) -> list:
    """The values as a list; ``otherwise`` is the sentence if they are none.

    Arrays, generators and all else that can be gone through are lists. Texts, dicts, sets,
    sparse matrices and arrays without a dimension are not.
    """
    none = isinstance(values, (str, bytes, bytearray, Mapping, Set))
    if none or hasattr(values, "tocsr") or getattr(values, "ndim", 1) == 0:
        raise ValueError(otherwise)
    try:
        return list(values)
    except TypeError:
        raise ValueError(otherwise) from None


def is_pair(value: Any) -> bool:
    """Whether a value is a list, a tuple or an array of two."""
    if isinstance(value, (tuple, list)):
        return len(value) == 2
    return getattr(value, "shape", None) == (2,) and hasattr(value, "tolist")
