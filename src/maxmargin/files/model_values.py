"""The values of model files as JSON: what each becomes, and back, believing nothing.

JSON's own types stand for themselves. Everything else is an object with a single key that
starts with "$", so a file can be read by eye and without this module:

    {"$float": "nan"}                      nan, inf, -inf
    {"$tuple": [...]}                      tuple
    {"$dict": [[key, value], ...]}         dict with keys that are not plain strings
    {"$scalar": ["<f4", 0.5]}              numpy scalar ("U" for numpy.str_)
    {"$array": ["<U5", ["yes", "no"]]}     1-D numpy array ("O" for objects)
    {"$rows": ["<f8", [row, row]]}         2-D numpy array, rows as 1-D arrays
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

MAX_DEPTH = 32
MAX_INT_BITS = 1024  # far below the length at which Python refuses to parse digits

# Numbers that arrays, params and state may hold: dtype.str without its byte order.
NUMBERS = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}


class Refused(Exception):
    """Why a value cannot be written, or a file not be read."""


def encode(value: Any, depth: int = 0) -> Any:
    """Turn a value into what JSON can say, or explain what is wrong with it."""
    if depth > MAX_DEPTH:
        raise Refused(f"is nested more than {MAX_DEPTH} levels deep")
    kind = type(value)  # exact types: a subclass would not come back as itself
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        if value.bit_length() > MAX_INT_BITS:
            raise Refused(f"holds an integer of more than {MAX_INT_BITS} bits")
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if kind is list:
        return [encode(item, depth + 1) for item in value]
    if kind is tuple:
        return {"$tuple": [encode(item, depth + 1) for item in value]}
    if kind is dict:
        if all(type(key) is str and key[:1] != "$" for key in value):
            return {key: encode(item, depth + 1) for key, item in value.items()}
        return {
            "$dict": [
                [encode(key, depth + 1), encode(item, depth + 1)]
                for key, item in value.items()
            ]
        }
    return _encode_numpy(value, depth)


def _encode_numpy(value: Any, depth: int) -> dict:
    import numpy as np

    if isinstance(value, np.str_):
        # str(value) would drop null characters at the end.
        return {"$scalar": ["U", str.__str__(value)]}
    if isinstance(value, np.generic) and value.dtype.str[1:] in NUMBERS:
        return {"$scalar": [value.dtype.str, encode(value.item(), depth + 1)]}
    if type(value) is not np.ndarray:
        raise Refused(f"holds a value of type {type(value).__name__}")
    code = "O" if value.dtype == object else value.dtype.str
    if code != "O" and code[1] != "U" and code[1:] not in NUMBERS:
        raise Refused(f"holds an array of type {value.dtype}")
    if value.ndim == 2:  # a cost matrix, for example: as its rows
        return {"$rows": [code, [encode(row, depth + 1) for row in value]]}
    if value.ndim != 1:
        raise Refused(f"holds an array with {value.ndim} dimensions, not one or two")
    items = value.tolist()
    if code == "O":
        for item in items:
            if isinstance(item, (list, tuple, dict, np.ndarray)):
                raise Refused(f"holds an array of {type(item).__name__} objects")
    return {"$array": [code, [encode(item, depth + 1) for item in items]]}


class Room:
    """How many bytes the string arrays of one file may still take."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ValueError("its string arrays are much wider than their strings")


def decode(value: Any, room: Room, depth: int = 0) -> Any:
    """Invert `encode`; raise ValueError or TypeError for what it never writes."""
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
    if type(value) is list:
        return [decode(item, room, depth + 1) for item in value]
    if type(value) is not dict:
        return value
    if not any(key[:1] == "$" for key in value):
        return {key: decode(item, room, depth + 1) for key, item in value.items()}

    ((tag, body),) = value.items()  # ValueError if there are other keys
    if tag == "$float" and body in ("nan", "inf", "-inf"):
        return float(body)
    if tag == "$tuple" and type(body) is list:
        return tuple(decode(item, room, depth + 1) for item in body)
    if tag == "$dict":
        return {
            decode(key, room, depth + 1): decode(item, room, depth + 1)
            for key, item in body
        }
    if tag == "$scalar":
        code, item = body
        return _decode_numpy(code, [decode(item, room, depth + 1)], room)[0]
    if tag == "$array":
        code, items = body
        if type(items) is list:
            return _decode_numpy(code, decode(items, room, depth), room)
    if tag == "$rows":
        code, rows = body
        if type(rows) is list and rows and code != "O":
            import numpy as np

            return np.stack([decode(row, room, depth + 1) for row in rows])
    raise ValueError(f"unknown value {tag}")


def _decode_numpy(code: Any, items: list, room: Room) -> np.ndarray:
    import numpy as np

    if code in ("O", "U"):
        array = np.empty(len(items), dtype=object)
        for index, item in enumerate(items):
            array[index] = np.str_(item) if code == "U" else item
        return array
    # Only codes that encode writes reach numpy, whose own dtype language is larger.
    if type(code) is not str or code[:1] not in ("<", ">", "|"):
        raise ValueError(f"unknown type {code!r}")
    if code[1:2] == "U" and code[2:].isdecimal() and len(code) < 12:
        room.take(4 * int(code[2:]) * len(items))
    elif code[1:] not in NUMBERS:
        raise ValueError(f"unknown type {code!r}")
    wanted = {"U": str, "b": bool, "f": float}.get(code[1], int)
    if any(type(item) is not wanted for item in items):
        raise TypeError(f"a value does not have the type {code} of its array")
    return np.array(items, dtype=code)
