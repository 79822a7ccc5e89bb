"""The bytes of model files: header, checksum, arrays. See ``model_file.py`` for what is in.

A file without sparse arrays is written in version 1 of the format, which older versions of
the library read as well; sparse arrays need version 2, which has a field ``sparse``.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from importlib.metadata import PackageNotFoundError, version
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from maxmargin.files.model_arrays import checked_arrays, plain_arrays
from maxmargin.files.model_values import Refused, Room, decode

if TYPE_CHECKING:
    import numpy as np

FORMAT = "maxmargin-model"
VERSION = 2  # the newest that is read
_NO_DIGEST = "0" * 64

# sha256 is the first key of the JSON text and the metadata comes first in a
# safetensors header, so every model file starts with these bytes (after the eight
# that give the header's length) and the digest has one fixed place.
START = b'{"__metadata__":{"maxmargin":"{\\"sha256\\":\\"'
DIGEST_AT = 8 + len(START)
DIGEST_END = DIGEST_AT + 64

MAX_HEADER = 100_000_000  # the safetensors library refuses longer headers

_FOREIGN = (
    "it is not a maxmargin model file, or its beginning is damaged. "
    "Pass a file that was written by maxmargin's save"
)
_DAMAGED = (
    "its content does not match its checksum, so it was cut short or altered. "
    "Copy it again from its source, or save the model again"
)
INVALID = (
    "its checksum is right but {}, so it was not written by maxmargin's save. "
    "Save the model again"
)


class Content(NamedTuple):
    """What a file says of a model."""

    name: str  # of its class
    params: dict
    state: dict
    notes: dict | None
    arrays: dict[str, np.ndarray]


def pack(fields: dict[str, Any], arrays: dict[str, Any]) -> bytearray:
    """The bytes of a file with these fields of the header and these arrays."""
    from safetensors.numpy import save as to_bytes

    plain, shapes = plain_arrays(arrays)
    header = {
        "sha256": _NO_DIGEST,
        "format": FORMAT,
        "version": 2 if shapes else 1,
        "library": library_version(),
        **fields,
    }
    if shapes:
        header["sparse"] = shapes
    text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    _decode_fields(header, len(text))  # never write what load would refuse
    data = bytearray(to_bytes(plain, metadata={"maxmargin": text}))
    if int.from_bytes(data[:8], "little") > MAX_HEADER:
        raise Refused("its labels, vocabularies and history exceed 100 MB")
    if data[8:DIGEST_AT] != START:
        raise RuntimeError(
            "The installed safetensors library lays files out in an unknown way; "
            "install another version of it."
        )
    data[DIGEST_AT:DIGEST_END] = digest(data).encode()
    return data


def library_version() -> str:
    try:
        return version("maxmargin")
    except PackageNotFoundError:  # run from a source tree
        return "unknown"


def digest(data: bytes | bytearray) -> str:
    """SHA-256 of a file with zeros in place of this digest."""
    view = memoryview(data)
    total = hashlib.sha256(view[:DIGEST_AT])
    total.update(_NO_DIGEST.encode())
    total.update(view[DIGEST_END:])
    return total.hexdigest()


def read(path: str) -> Content:
    """Read and check a file."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise FileNotFoundError(
            f"Cannot load '{path}': there is no such file. Check the path."
        ) from None
    if not stat.S_ISREG(mode):  # a pipe or device might never end
        kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
        raise Refused(f"it is {kind}. Give the path of a model file")

    with open(path, "rb") as file:
        head, size = _read_head(file)
        header, text_length = _parse_header(head[8:])
        file.seek(0)
        data = file.read(size)
    if not data.startswith(head) or data[DIGEST_AT:DIGEST_END] != digest(data).encode():
        raise Refused(_DAMAGED)

    try:
        fields = _decode_fields(header, text_length)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        what = f"its header is not valid ({error})"
        raise Refused(INVALID.format(what)) from None
    return Content(*fields, _parse_arrays(data, header.get("sparse", {})))


def peek(path: str) -> dict[str, Any]:
    """What a file says of itself, of which nothing else is read or checked."""
    with open(path, "rb") as file:
        return _parse_header(_read_head(file)[0][8:])[0]


def _read_head(file: IO[bytes]) -> tuple[bytes, int]:
    """The beginning of a file until its arrays, and the size of all of it."""
    size = os.fstat(file.fileno()).st_size
    if size == 0:
        raise Refused("it is empty. Save the model again")
    # The header is checked before the rest is read: somebody else's file may be
    # huge. Its length is a claim, so it is compared with what is there.
    head = file.read(8)
    length = int.from_bytes(head, "little")
    if len(head) < 8 or length > min(size - 8, MAX_HEADER):
        raise Refused(_FOREIGN)
    return head + file.read(length), size


def _parse_header(raw: bytes) -> tuple[dict, int]:
    """Get our JSON object, and the length of its text, out of a safetensors header."""
    if not raw.startswith(START):
        raise Refused(_FOREIGN)
    try:
        text = json.loads(raw.decode("utf-8"))["__metadata__"]["maxmargin"]
        header = json.loads(text, parse_constant=_no_constant)
        is_ours = header["format"] == FORMAT and type(header["version"]) is int
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Refused(_FOREIGN) from None
    if not is_ours or header["version"] < 1:
        raise Refused(_FOREIGN)
    # Before the checksum, because a later version may compute that differently.
    if header["version"] > VERSION:
        raise Refused(
            f"it has format version {header['version']} and this maxmargin reads only "
            f"version {VERSION}. Upgrade maxmargin, or save the model again with this "
            "version"
        )
    return header, len(text)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _parse_arrays(data: bytes, shapes: Any) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_bytes

    try:
        arrays = from_bytes(data)
    except (SafetensorError, ValueError, TypeError, KeyError, OverflowError):
        raise Refused(INVALID.format("its array table is not valid")) from None
    try:
        return checked_arrays(arrays, shapes, len(data))
    except ValueError as error:
        raise Refused(INVALID.format(error)) from None


def _decode_fields(
    header: dict, text_length: int
) -> tuple[str, dict, dict, dict | None]:
    """Class name, parameters, state and notes of a header whose version is known."""
    # A short text may declare wide strings. Allow what no machine minds, and beyond
    # that only a multiple of what the file really holds.
    room = Room(2**26 + 64 * text_length)
    name, params, state = header["class"], header["params"], header["state"]
    notes = header.get("notes")
    if not (type(name) is str and type(params) is dict and type(state) is dict):
        raise TypeError("a field has the wrong type")
    if type(notes) is not dict and notes is not None:
        raise TypeError("its notes have the wrong type")
    params = {key: decode(value, room) for key, value in params.items()}
    state = {key: decode(value, room) for key, value in state.items()}
    if notes is not None:
        notes = {key: decode(value, room) for key, value in notes.items()}
    return name, params, state, notes
