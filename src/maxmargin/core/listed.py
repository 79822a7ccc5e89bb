"""What counts as a list where users are asked for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
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


def given_or(predicted: Any, predict: Callable[[], Any], n: int | None = None) -> Any:
    """The predictions that a user gave, or those of the model; n is how many are wanted."""
    if predicted is None:
        return predict()
    found = listed(
        predicted,
        f"predicted is of type {type(predicted).__name__}: give what predict returns.",
    )
    if n is not None and len(found) != n:
        raise ValueError(
            f"there are {n} samples, but {len(found)} predictions: give one for each."
        )
    return predicted if hasattr(predicted, "shape") else found


def is_pair(value: Any) -> bool:
    """Whether a value is a list, a tuple or an array of two."""
    if isinstance(value, (tuple, list)):
        return len(value) == 2
    return getattr(value, "shape", None) == (2,) and hasattr(value, "tolist")
