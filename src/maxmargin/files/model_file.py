"""Saving fitted models to files that hold data only, never code.

A model file is a valid `safetensors` file. Its arrays are the model's arrays; its
``__metadata__`` has the single key ``"maxmargin"``, whose value is a JSON text:

========== ====================================================================
sha256     SHA-256 of the whole file, taken with these 64 digits written as zeros
format     ``"maxmargin-model"``
version    format version, an integer (this module reads and writes version 1)
library    version of the library that wrote the file, for information
class      registered name of the model's class, such as ``"MulticlassSVM.v1"``
params     constructor parameters
state      everything else the model needs: labels, vocabularies, history, ...
notes      optional: what the users of the file want to know, see `save`
========== ====================================================================

The digest covers every byte of the file: array names, types, shapes and contents,
the JSON text and even the padding. It finds damage; it is no signature, so a file
from a stranger may hold wrong numbers, but reading it still runs nothing from it.

Protocol for model classes
--------------------------
A class that can be saved

* is listed in ``_CLASSES`` below under its ``_model_name`` (a class attribute). When
  the meaning of its state changes, it gets a new name: ``"MulticlassSVM.v2"``;
* may name parameters that its state holds anyway in ``_params_in_state``;
* has ``get_params(deep=False)`` and is recognised by scikit-learn's
  ``check_is_fitted`` once it is fitted;
* has ``model._get_state() -> (arrays, state)``: ``arrays`` maps names to numpy arrays
  of any shape with type bool, (u)int8..64 or float16..64; ``state`` maps names
  to values. A value is None, a bool, int, float, str, a numpy scalar of the same
  kinds, a 1-D numpy array of numbers or of strings or of objects that are such
  scalars, or a list, tuple or dict of values. Each comes back with the same type
  and dtype. Anything else (dataclasses, sets, subclasses of dict) must be turned
  into these first;
* has a class method ``cls._from_state(params, arrays, state) -> model``, which gets
  the same three things back, with arrays that are C-contiguous, writeable and in
  the machine's byte order. It must check what it relies on (names present, shapes
  that fit each other): whatever it raises is reported as an invalid file.

The JSON part is limited to 100 MB (a limit of the safetensors format), so millions
of strings are better kept as one uint8 array.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import os
import stat
from typing import TYPE_CHECKING, Any

from maxmargin.families import model_classes
from maxmargin.files.atomic import replace_file

if TYPE_CHECKING:
    import numpy as np

__all__ = ["load", "save"]

# The only classes a file can name: loading imports nothing that is not listed here.
_CLASSES = model_classes()

_FORMAT = "maxmargin-model"
_VERSION = 1
_NO_DIGEST = "0" * 64

# sha256 is the first key of the JSON text and the metadata comes first in a
# safetensors header, so every model file starts with these bytes (after the eight
# that give the header's length) and the digest has one fixed place.
_START = b'{"__metadata__":{"maxmargin":"{\\"sha256\\":\\"'
_DIGEST_AT = 8 + len(_START)
_DIGEST_END = _DIGEST_AT + 64

_MAX_HEADER = 100_000_000  # the safetensors library refuses longer headers
_MAX_DEPTH = 32
_MAX_INT_BITS = 1024  # far below the length at which Python refuses to parse digits

# Numbers that arrays, params and state may hold: dtype.str without its byte order.
_NUMBERS = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}

_FOREIGN = (
    "it is not a maxmargin model file, or its beginning is damaged. "
    "Pass a file that was written by maxmargin's save"
)
_DAMAGED = (
    "its content does not match its checksum, so it was cut short or altered. "
    "Copy it again from its source, or save the model again"
)
_INVALID = (
    "its checksum is right but {}, so it was not written by maxmargin's save. "
    "Save the model again"
)


class _Refused(Exception):
    """Why a value cannot be written, or a file not be read."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, without pickle.

    The file appears at once and complete: if anything goes wrong, or the process is
    interrupted, an existing file at ``path`` stays as it was.

    If the model has an attribute ``notes``, a dict of plain values, `save` keeps it and
    `load` gives it back; the model itself makes no use of it. The command line notes
    there how the training file was written.

    Parameters
    ----------
    model : estimator
        A fitted model of one of the classes that can be saved (`MulticlassSVM`,
        `SequenceTagger`, `GrammarParser`, ...). All its parameters must be plain values.
    path : str or path-like
        Where to write; ``~`` is not expanded. By habit it ends in ``.safetensors``.

    Raises
    ------
    ValueError
        If the model, or one of its parameters, cannot be written.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    Examples
    --------
    ::

        from maxmargin.files import model_file

        model_file.save(MulticlassSVM(C=10.0).fit(X, y), "digits.safetensors")
        model = model_file.load("digits.safetensors")
        model.predict(X)
    """
    path = os.fsdecode(path)
    target = os.path.realpath(path)  # open() would follow a link too
    if os.path.lexists(target) and not os.path.isfile(target):
        raise ValueError(
            f"Cannot save to '{path}': it exists and is not a regular file. "
            "Give the path of a file."
        )
    if not os.path.isdir(os.path.dirname(target)):
        raise FileNotFoundError(
            f"Cannot save to '{path}': its directory does not exist. "
            "Create the directory first."
        )
    replace_file(target, _pack(model))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is executed, and nothing is allocated because the file says
    so: sizes are compared with the real size of the file first.

    Parameters
    ----------
    path : str or path-like
        The file to read; ``~`` is not expanded.

    Returns
    -------
    model : estimator
        A fitted model that predicts exactly as the saved one did.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, is no model file or needs a newer maxmargin; the
        message says which.

    Examples
    --------
    ::

        model = model_file.load("digits.safetensors")
    """
    path = os.fsdecode(path)
    try:
        name, params, state, notes, arrays = _read(path)
        cls = _find_class(name)
        try:
            model = cls._from_state(params, arrays, state)
        except Exception as error:
            what = f"{cls.__name__} does not accept it ({type(error).__name__}: "
            raise _Refused(_INVALID.format(f"{what}{error})")) from error
        if notes is not None:
            model.notes = notes
        return model
    except _Refused as reason:
        raise ValueError(f"Cannot load '{path}': {reason}.") from reason.__cause__


# --------------------------------------------------------------------------- writing


def _pack(model: Any) -> bytearray:
    """Turn a model into the bytes of its file."""
    from safetensors.numpy import save as to_bytes
    from sklearn.utils.validation import check_is_fitted

    cls = type(model)
    name = getattr(cls, "_model_name", None)
    # A subclass inherits the name but would come back as its base class.
    if name not in _CLASSES or _find_class(name) is not cls:
        known = ", ".join(sorted(spec.partition(":")[2] for spec in _CLASSES.values()))
        raise ValueError(
            f"{cls.__name__} cannot be saved to a model file, which holds no code: "
            f"only {known} can. Use pickle or joblib for files that only you read, "
            "or keep the array coef_."
        )
    check_is_fitted(model)

    params = {}
    for key, value in model.get_params(deep=False).items():
        try:
            kept = key in getattr(cls, "_params_in_state", ())
            params[key] = None if kept else _encode(value)
        except _Refused as reason:
            plain = "an int or None" if key == "random_state" else "a plain value"
            raise ValueError(
                f"{cls.__name__} cannot be saved: its parameter '{key}' {reason}, "
                f"which a model file cannot hold. Set it to {plain} first, with "
                f"model.set_params({key}=...), or use pickle or joblib."
            ) from None

    arrays, values = model._get_state()
    state = _encode_dict(cls, "state", values)

    header = {
        "sha256": _NO_DIGEST,
        "format": _FORMAT,
        "version": _VERSION,
        "library": _library_version(),
        "class": name,
        "params": params,
        "state": state,
    }
    notes = getattr(model, "notes", None)
    if notes is not None:
        if type(notes) is not dict:
            raise ValueError(
                f"{cls.__name__} cannot be saved: its notes are of type "
                f"{type(notes).__name__}, but they must be a dict."
            )
        header["notes"] = _encode_dict(cls, "notes", notes)
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    try:
        _decode_fields(header, len(text))  # never write what load would refuse
        arrays = {key: _plain_array(key, value) for key, value in arrays.items()}
        data = bytearray(to_bytes(arrays, metadata={"maxmargin": text}))
        if int.from_bytes(data[:8], "little") > _MAX_HEADER:
            raise _Refused("its labels, vocabularies and history exceed 100 MB")
    except (_Refused, ValueError) as reason:
        raise ValueError(
            f"{cls.__name__} cannot be saved: {reason}. Use pickle or joblib."
        ) from None
    if data[8:_DIGEST_AT] != _START:
        raise RuntimeError(
            "The installed safetensors library lays files out in an unknown way; "
            "install another version of it."
        )
    data[_DIGEST_AT:_DIGEST_END] = _digest(data).encode()
    return data


def _encode_dict(cls: type, what: str, values: dict) -> dict:
    """Named values as JSON can say them."""
    encoded = {}
    for key, value in values.items():
        try:
            if type(key) is not str:  # JSON would turn 1 into "1"
                raise _Refused("has a name that is not a string")
            encoded[key] = _encode(value)
        except _Refused as reason:
            raise ValueError(
                f"{cls.__name__} cannot be saved: '{key}' in its {what} {reason}, which "
                "a model file cannot hold. Use pickle or joblib."
            ) from None
    return encoded


def _plain_array(name: Any, array: Any) -> np.ndarray:
    """Check an array, and give it the layout that safetensors expects."""
    import numpy as np

    if not isinstance(name, str) or not name.isascii() or name == "__metadata__":
        raise _Refused(f"{name!r} cannot be the name of an array")
    if not isinstance(array, np.ndarray) or array.dtype.str[1:] not in _NUMBERS:
        found = getattr(array, "dtype", type(array).__name__)
        raise _Refused(f"its array '{name}' has type {found}, which is not supported")
    # Not ascontiguousarray, which would turn a 0-d array into a 1-d one.
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")


def _library_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("maxmargin")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


# --------------------------------------------------------------------------- reading


def _read(path: str) -> tuple[str, dict, dict, dict | None, dict[str, np.ndarray]]:
    """Read and check a file: class name, parameters, state, notes, arrays."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise FileNotFoundError(
            f"Cannot load '{path}': there is no such file. Check the path."
        ) from None
    if not stat.S_ISREG(mode):  # a pipe or device might never end
        kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
        raise _Refused(f"it is {kind}. Give the path of a model file")

    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise _Refused("it is empty. Save the model again")
        # The header is checked before the rest is read: somebody else's file may be
        # huge. Its length is a claim, so it is compared with what is there.
        head = file.read(8)
        length = int.from_bytes(head, "little")
        if len(head) < 8 or length > min(size - 8, _MAX_HEADER):
            raise _Refused(_FOREIGN)
        head += file.read(length)
        header, text_length = _parse_header(head[8:])
        file.seek(0)
        data = file.read(size)
    if not data.startswith(head) or data[_DIGEST_AT:_DIGEST_END] != (
        _digest(data).encode()
    ):
        raise _Refused(_DAMAGED)

    try:
        name, params, state, notes = _decode_fields(header, text_length)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        what = f"its header is not valid ({error})"
        raise _Refused(_INVALID.format(what)) from None
    return name, params, state, notes, _parse_arrays(data)


def _parse_header(raw: bytes) -> tuple[dict, int]:
    """Get our JSON object, and the length of its text, out of a safetensors header."""
    if not raw.startswith(_START):
        raise _Refused(_FOREIGN)
    try:
        text = json.loads(raw.decode("utf-8"))["__metadata__"]["maxmargin"]
        header = json.loads(text, parse_constant=_no_constant)
        is_ours = header["format"] == _FORMAT and type(header["version"]) is int
    except (ValueError, TypeError, KeyError, RecursionError):
        raise _Refused(_FOREIGN) from None
    if not is_ours or header["version"] < 1:
        raise _Refused(_FOREIGN)
    # Before the checksum, because a later version may compute that differently.
    if header["version"] > _VERSION:
        raise _Refused(
            f"it has format version {header['version']} and this maxmargin reads only "
            f"version {_VERSION}. Upgrade maxmargin, or save the model again with this "
            "version"
        )
    return header, len(text)


def _parse_arrays(data: bytes) -> dict[str, np.ndarray]:
    import numpy as np
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    try:
        arrays = from_bytes(data)
    except (SafetensorError, ValueError, TypeError, KeyError, OverflowError):
        raise _Refused(_INVALID.format("its array table is not valid")) from None
    for name, array in arrays.items():
        if array.dtype.str[1:] not in _NUMBERS:
            what = f"its array '{name}' has type {array.dtype}"
            raise _Refused(_INVALID.format(what))
        # A numpy bool that is neither 0 nor 1 is undefined behaviour in compiled code.
        if array.dtype == bool and (array.view(np.uint8) > 1).any():
            what = f"its array '{name}' has values that are no booleans"
            raise _Refused(_INVALID.format(what))
    return {
        name: array if array.flags.writeable else array.copy()
        for name, array in sorted(arrays.items())
    }


def _decode_fields(
    header: dict, text_length: int
) -> tuple[str, dict, dict, dict | None]:
    """Class name, parameters, state and notes of a header whose version is known."""
    # A short text may declare wide strings. Allow what no machine minds, and beyond
    # that only a multiple of what the file really holds.
    room = _Room(2**26 + 64 * text_length)
    name, params, state = header["class"], header["params"], header["state"]
    notes = header.get("notes")
    if not (type(name) is str and type(params) is dict and type(state) is dict):
        raise TypeError("a field has the wrong type")
    if type(notes) is not dict and notes is not None:
        raise TypeError("its notes have the wrong type")
    params = {key: _decode(value, room) for key, value in params.items()}
    state = {key: _decode(value, room) for key, value in state.items()}
    if notes is not None:
        notes = {key: _decode(value, room) for key, value in notes.items()}
    return name, params, state, notes


def _find_class(name: str) -> type:
    if name not in _CLASSES:
        family = name.partition(".")[0]
        if any(known.partition(".")[0] == family for known in _CLASSES):
            raise _Refused(
                f"it holds a model of kind '{name}', which this maxmargin does not "
                "know yet. Upgrade maxmargin, or save the model again with this version"
            )
        raise _Refused(
            f"it holds a model of the unknown kind '{name}'. "
            f"This maxmargin reads {', '.join(sorted(_CLASSES))}"
        )
    module, _, attribute = _CLASSES[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def _digest(data: bytes | bytearray) -> str:
    view = memoryview(data)
    digest = hashlib.sha256(view[:_DIGEST_AT])
    digest.update(_NO_DIGEST.encode())
    digest.update(view[_DIGEST_END:])
    return digest.hexdigest()


# ---------------------------------------------------------------------------- values
#
# JSON's own types stand for themselves. Everything else is an object with a single
# key that starts with "$", so a file can be read by eye and without this module:
#   {"$float": "nan"}                      nan, inf, -inf
#   {"$tuple": [...]}                      tuple
#   {"$dict": [[key, value], ...]}         dict with keys that are not plain strings
#   {"$scalar": ["<f4", 0.5]}              numpy scalar ("U" for numpy.str_)
#   {"$array": ["<U5", ["yes", "no"]]}     1-D numpy array ("O" for objects)
#   {"$rows": ["<f8", [row, row]]}         2-D numpy array, rows as 1-D arrays


def _encode(value: Any, depth: int = 0) -> Any:
    """Turn a value into what JSON can say, or explain what is wrong with it."""
    if depth > _MAX_DEPTH:
        raise _Refused(f"is nested more than {_MAX_DEPTH} levels deep")
    kind = type(value)  # exact types: a subclass would not come back as itself
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        if value.bit_length() > _MAX_INT_BITS:
            raise _Refused(f"holds an integer of more than {_MAX_INT_BITS} bits")
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if kind is list:
        return [_encode(item, depth + 1) for item in value]
    if kind is tuple:
        return {"$tuple": [_encode(item, depth + 1) for item in value]}
    if kind is dict:
        if all(type(key) is str and key[:1] != "$" for key in value):
            return {key: _encode(item, depth + 1) for key, item in value.items()}
        return {
            "$dict": [
                [_encode(key, depth + 1), _encode(item, depth + 1)]
                for key, item in value.items()
            ]
        }
    return _encode_numpy(value, depth)


def _encode_numpy(value: Any, depth: int) -> dict:
    import numpy as np

    if isinstance(value, np.str_):
        # str(value) would drop null characters at the end.
        return {"$scalar": ["U", str.__str__(value)]}
    if isinstance(value, np.generic) and value.dtype.str[1:] in _NUMBERS:
        return {"$scalar": [value.dtype.str, _encode(value.item(), depth + 1)]}
    if type(value) is not np.ndarray:
        raise _Refused(f"holds a value of type {type(value).__name__}")
    code = "O" if value.dtype == object else value.dtype.str
    if code != "O" and code[1] != "U" and code[1:] not in _NUMBERS:
        raise _Refused(f"holds an array of type {value.dtype}")
    if value.ndim == 2:  # a cost matrix, for example: as its rows
        return {"$rows": [code, [_encode(row, depth + 1) for row in value]]}
    if value.ndim != 1:
        raise _Refused(f"holds an array with {value.ndim} dimensions, not one or two")
    items = value.tolist()
    if code == "O":
        for item in items:
            if isinstance(item, (list, tuple, dict, np.ndarray)):
                raise _Refused(f"holds an array of {type(item).__name__} objects")
    return {"$array": [code, [_encode(item, depth + 1) for item in items]]}


class _Room:
    """How many bytes the string arrays of one file may still take."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise ValueError("its string arrays are much wider than their strings")


def _decode(value: Any, room: _Room, depth: int = 0) -> Any:
    """Invert `_encode`; raise ValueError or TypeError for what it never writes."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"it is nested more than {_MAX_DEPTH} levels deep")
    if type(value) is list:
        return [_decode(item, room, depth + 1) for item in value]
    if type(value) is not dict:
        return value
    if not any(key[:1] == "$" for key in value):
        return {key: _decode(item, room, depth + 1) for key, item in value.items()}

    ((tag, body),) = value.items()  # ValueError if there are other keys
    if tag == "$float" and body in ("nan", "inf", "-inf"):
        return float(body)
    if tag == "$tuple" and type(body) is list:
        return tuple(_decode(item, room, depth + 1) for item in body)
    if tag == "$dict":
        return {
            _decode(key, room, depth + 1): _decode(item, room, depth + 1)
            for key, item in body
        }
    if tag == "$scalar":
        code, item = body
        return _decode_numpy(code, [_decode(item, room, depth + 1)], room)[0]
    if tag == "$array":
        code, items = body
        if type(items) is list:
            return _decode_numpy(code, _decode(items, room, depth), room)
    if tag == "$rows":
        code, rows = body
        if type(rows) is list and rows and code != "O":
            import numpy as np

            return np.stack([_decode(row, room, depth + 1) for row in rows])
    raise ValueError(f"unknown value {tag}")


def _decode_numpy(code: Any, items: list, room: _Room) -> np.ndarray:
    import numpy as np

    if code in ("O", "U"):
        array = np.empty(len(items), dtype=object)
        for index, item in enumerate(items):
            array[index] = np.str_(item) if code == "U" else item
        return array
    # Only codes that _encode writes reach numpy, whose own dtype language is larger.
    if type(code) is not str or code[:1] not in ("<", ">", "|"):
        raise ValueError(f"unknown type {code!r}")
    if code[1:2] == "U" and code[2:].isdecimal() and len(code) < 12:
        room.take(4 * int(code[2:]) * len(items))
    elif code[1:] not in _NUMBERS:
        raise ValueError(f"unknown type {code!r}")
    wanted = {"U": str, "b": bool, "f": float}.get(code[1], int)
    if any(type(item) is not wanted for item in items):
        raise TypeError(f"a value does not have the type {code} of its array")
    return np.array(items, dtype=code)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
