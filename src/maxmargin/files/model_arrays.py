"""Arrays of model files: their types, and those that are mostly zeros kept by their gaps.

A *sparse* array is two arrays of the file. ``name#values`` has its entries that are not
zero, in the order of memory; ``name#gaps`` (uint8) says how far each is from the one before
it, the first from -1. Where more than 254 zeros lie between two entries, some of them are
written out, so that an array takes at most 256 times the memory of what the file holds of
it: a small file cannot ask for gigabytes. The header has the shapes of sparse arrays.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.files import budget
from maxmargin.files.model_values import NUMBERS, Refused

if TYPE_CHECKING:
    import numpy as np

GAPS, VALUES = "#gaps", "#values"
LONGEST = 255  # gap
WORTH = 4096  # bytes; smaller arrays stay as they are


def plain_arrays(arrays: dict[Any, Any]) -> tuple[dict[str, np.ndarray], dict]:
    """(arrays as the file has them, {name: shape} of those that became sparse)."""
    plain, shapes = {}, {}
    for name, array in arrays.items():
        array = _plain_array(name, array)
        pair = _without_zeros(array) if array.nbytes > WORTH else None
        if pair is None:
            plain[name] = array
        else:
            plain[name + GAPS], plain[name + VALUES] = pair
            shapes[name] = list(array.shape)
    return plain, shapes


def _plain_array(name: Any, array: Any) -> np.ndarray:
    """Check an array, and give it the layout that safetensors expects."""
    if (
        not isinstance(name, str)
        or not name.isascii()
        or name == "__metadata__"
        or name.endswith((GAPS, VALUES))
    ):
        raise Refused(f"{name!r} cannot be the name of an array")
    if not isinstance(array, np.ndarray) or array.dtype.str[1:] not in NUMBERS:
        found = getattr(array, "dtype", type(array).__name__)
        raise Refused(f"its array '{name}' has type {found}, which is not supported")
    # Not ascontiguousarray, which would turn a 0-d array into a 1-d one.
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def _without_zeros(array: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(gaps, values), or None if that is not half as large."""
    flat = array.reshape(-1)
    bits = flat.view(f"u{flat.itemsize}")  # so that -0.0 is kept
    full = bits != 0  # numpy finds what is true twice as fast as what is not zero
    if _too_large(np.count_nonzero(full), array):
        return None
    places = np.flatnonzero(full)
    # a last entry closes the array, whatever it is
    places = places if bits[-1] else np.append(places, len(flat) - 1)
    steps = np.diff(places, prepend=-1)
    more = (steps - 1) // LONGEST  # zeros to write out before each
    at = np.cumsum(more + 1) - 1
    size = int(at[-1]) + 1
    if _too_large(size, array):
        return None
    gaps, values = np.full(size, LONGEST, np.uint8), np.zeros(size, flat.dtype)
    gaps[at], values[at] = steps - LONGEST * more, flat[places]
    return gaps, values


def _too_large(entries: int, array: np.ndarray) -> bool:
    """Whether an array with so many entries is better kept as it is."""
    return 2 * entries * (1 + array.itemsize) > array.nbytes


def checked_arrays(
    arrays: dict, shapes: Any, packed: int | None = None
) -> dict[str, np.ndarray]:
    """The arrays of a model, C-contiguous and writeable; ValueError if they are none.

    Sparse ones of a file of ``packed`` bytes may not unpack to more than ``budget.py``
    allows.
    """
    for name, array in arrays.items():
        if array.dtype.str[1:] not in NUMBERS:
            raise ValueError(f"its array '{name}' has type {array.dtype}")
        # A numpy bool that is neither 0 nor 1 is undefined behaviour in compiled code.
        if array.dtype == bool and (array.view(np.uint8) > 1).any():
            raise ValueError(f"its array '{name}' has values that are no booleans")
    if type(shapes) is not dict:
        raise ValueError("its list of sparse arrays is not valid")
    if packed is not None:
        budget.check(_unpacked(arrays, shapes), packed, "what is sparse in it")
    for name, shape in shapes.items():
        pair = arrays.pop(name + GAPS, None), arrays.pop(name + VALUES, None)
        if name in arrays or any(part is None or part.ndim != 1 for part in pair):
            raise ValueError(f"its sparse array '{name}' is not complete")
        arrays[name] = _with_zeros(name, shape, *pair)
    return {
        name: array if array.flags.writeable else array.copy()
        for name, array in sorted(arrays.items())
    }


def _unpacked(arrays: dict, shapes: dict) -> int:
    """Bytes of sparse arrays as their gaps say, whatever the shapes are."""
    total = 0
    for name in shapes:
        gaps, values = arrays.get(name + GAPS), arrays.get(name + VALUES)
        if gaps is not None and values is not None and gaps.dtype == np.uint8:
            total += int(gaps.sum(dtype=np.int64)) * values.itemsize
    return total


def _with_zeros(name: str, shape: Any, gaps, values) -> np.ndarray:
    good = type(shape) is list and all(type(n) is int and n > 0 for n in shape)
    good = good and gaps.dtype == np.uint8 and len(gaps) == len(values) and gaps.all()
    # the last entry is where the array ends: nothing is allocated that is not there
    if not good or int(gaps.sum(dtype=np.int64)) != math.prod(shape):
        raise ValueError(f"its sparse array '{name}' does not fit its shape")
    flat = np.zeros(math.prod(shape), values.dtype)
    flat[np.cumsum(gaps, dtype=np.int64) - 1] = values
    return flat.reshape(shape)
