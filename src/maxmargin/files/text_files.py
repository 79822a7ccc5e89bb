"""Whole files as bytes and texts: gzip, encodings, standard streams, safe writing."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from maxmargin.files import budget
from maxmargin.files.atomic import replace_file
from maxmargin.waiting import seen

STDIN = "standard input"  # its name in messages


class RawText(NamedTuple):
    """The bytes of a file, or of a piece of it, after gunzip; its name for messages."""

    data: bytes
    path: str
    above: int = 0  # lines of the file before this piece


def read_raw(path: str | os.PathLike | RawText) -> RawText:
    """Read all bytes of a file, or of standard input if the path is "-".

    gzip is recognised by its first bytes, not by the name; it must not unpack to more than
    ``budget.py`` allows.
    """
    if isinstance(path, RawText):
        return path
    name = os.fsdecode(path)
    if name == "-":
        name = STDIN
        data = getattr(sys.stdin, "buffer", sys.stdin).read()
        data = data.encode() if isinstance(data, str) else data
    elif os.path.isdir(name):
        raise ValueError(f"{name} is a folder, not a file: name a file in it.")
    else:
        try:
            with open(name, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            raise FileNotFoundError(
                f"There is no file {name}: check its name and its folder."
            ) from None
    if data[:2] == b"\x1f\x8b":
        with unzipping(name), gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            data = budget.read_counted(file, len(data), name)
    return RawText(data, name)


@contextmanager
def unzipping(name: str) -> Iterator[None]:
    """Errors of gzip as sentences about a file."""
    try:
        yield
    except EOFError:
        raise ValueError(
            f"{name} is cut off: its gzip data end too early. Copy it again."
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} is damaged: gzip says {error}.") from None


def read_text(path: str | os.PathLike | RawText, encoding: str) -> tuple[bytes, str]:
    """The text of a file in UTF-8 with lines that end in \\n, and its name."""
    raw = read_raw(path)
    return newlines(utf8(raw, encoding)[0]), raw.path


def json_values(text: bytes, name: str) -> Iterator[tuple[int, str, Any]]:
    """(number of a line, its place in words, its value) of JSON lines, but blank ones."""
    lines = text.decode().split("\n")
    for number, line in enumerate(seen(lines, len(lines)), 1):
        if not line.strip():
            continue
        where = f"{name}, line {number}"
        try:
            value = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{where} is not JSON: {error}.") from None
        yield number, where, value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Where a key stands twice, one of its values would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {key!r} stands twice in one object")
    return found


def codec_name(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"encoding={encoding!r} is not known; try 'utf-8' or 'latin-1'."
        ) from None


def utf8(raw: RawText, encoding: str) -> tuple[bytes, bytes]:
    """The text in UTF-8 without its byte order mark, and that mark if there was one."""
    data, codec = raw.data, codec_name(encoding)
    try:
        text = data.decode(codec)  # also a check
        if codec != "utf-8":
            data = text.encode()
    except UnicodeDecodeError as error:
        raise undecodable(raw, encoding, error) from None
    except (LookupError, UnicodeError):
        raise ValueError(
            f"{raw.path} cannot be read with encoding={encoding!r}; try 'latin-1'."
        ) from None
    if data.startswith(codecs.BOM_UTF8):
        return data[3:], codecs.BOM_UTF8
    return data, b""


def undecodable(raw: RawText, encoding: str, error: UnicodeDecodeError) -> ValueError:
    """The error for bytes that are not in the encoding, with their place."""
    before = raw.data[: error.start]
    line = raw.above + before.count(b"\n") + 1
    column = error.start - before.rfind(b"\n")
    if raw.data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        advice = "It starts as UTF-16 does: say encoding='utf-16'."
    else:
        advice = "If it is in Latin-1, say encoding='latin-1'."
    return ValueError(
        f"{raw.path}, line {line}: byte {column} of the line, "
        f"0x{raw.data[error.start]:02x}, is not valid {encoding}. {advice}"
    )


def newlines(text: bytes) -> bytes:
    """The text with lines that end in \\n; Windows has \\r\\n, and once there was \\r."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text


def write_text(path: str | os.PathLike, text: str, encoding: str) -> None:
    """Write a text as `write_raw` does."""
    if not text:
        raise ValueError(f"There is no token to write to {os.fsdecode(path)}.")
    if text.startswith("\ufeff"):  # no byte order mark, but it would be taken for one
        text = "\ufeff" + text
    write_raw(path, encode_text(text, path, encoding))


def encode_text(text: str, path: str | os.PathLike, encoding: str) -> bytes:
    codec = codec_name(encoding)
    try:
        return text.encode(codec)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{os.fsdecode(path)} cannot be written: the character "
            f"{text[error.start]!r} is not in {encoding}. Choose another encoding."
        ) from None


def write_raw(path: str | os.PathLike, data: bytes) -> None:
    """Write a file whole or not at all; gzip if it ends in .gz; "-" is standard output.

    Something that is there and is no plain file, such as a pipe, is written into.
    """
    name = os.fsdecode(path)
    if name == "-":
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:
            sys.stdout.write(data.decode())
        else:
            sys.stdout.flush()
            rest = memoryview(data)
            while rest:  # without a buffer (python -u) a part of it may be written
                rest = rest[stream.write(rest) :]
        sys.stdout.flush()
        return
    if name.lower().endswith(".gz"):
        data = gzip.compress(data, 6, mtime=0)  # equal data, equal files
    target = os.path.realpath(name)  # through a link, so that it stays a link
    if os.path.isdir(target):
        raise ValueError(f"{name} is a folder: name a file to write.")
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            file.write(data)
        return
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"{name} cannot be written: there is no folder {folder}; make it first."
        )
    replace_file(target, data)
