"""Where the text of a corpus comes from: files, folders, globs, gzip, what fsspec opens.

A file is read in *blocks* that end where a sentence ends, so that no more of it than a
block is in memory, however long it is.
"""

from __future__ import annotations

import codecs
import contextlib
import glob
import gzip
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from maxmargin.files.corpora.storage import FORMAT, MANIFEST
from maxmargin.files.text_files import (
    STDIN,
    RawText,
    codec_name,
    newlines,
    undecodable,
    unzipping,
)

BLOCK = 1 << 22  # bytes read at once
LONGEST_SENTENCE = 1 << 26  # bytes without an end that are no sentence any more
_MAGIC = re.compile(r"[*?\[]")


class Source(NamedTuple):
    """One file."""

    path: str
    size: int | None = None  # None where it is not known, such as of a pipe
    changed: float | None = None  # seconds since 1970

    @property
    def remote(self) -> bool:
        return "://" in self.path


def find_sources(sources: Any) -> list[Source]:
    """The files that these names mean, in the order given; folders and globs sorted.

    In a folder, files at any depth count, but not those whose names start with a dot or
    an underscore. Raises a sentence for names that mean nothing.
    """
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    if not isinstance(sources, Iterable):
        raise ValueError(
            f"sources={sources!r} is not possible: give the name of a file, a folder or a "
            "glob, or a list of these."
        )
    found: list[Source] = []
    for name in sources:
        if not isinstance(name, (str, os.PathLike)):
            raise ValueError(f"sources has {name!r}, which is not the name of a file.")
        path = os.fsdecode(name)
        found += _remote(path) if "://" in path else _local(path)
    if not found:
        raise ValueError("There are no source files: name one at least.")
    return found


def _local(path: str) -> list[Source]:
    if path == "-":
        return [Source(path)]
    if "\0" in path:
        raise ValueError(f"{path!r} cannot be the name of a file.")
    if _is_corpus(path):
        raise ValueError(
            f"{path} is a corpus, which was read already: name the text that it was made "
            "of."
        )
    if os.path.isdir(path):
        paths = sorted(
            os.path.join(folder, name)
            for folder, _, names in os.walk(path)
            for name in names
            if _counts(os.path.relpath(os.path.join(folder, name), path))
        )
        if not paths:
            raise ValueError(f"The folder {path} has no files: name one with text.")
    elif os.path.exists(path) or not _MAGIC.search(path):
        paths = [path]
    else:
        every = sorted(glob.glob(path, recursive=True))
        paths = [p for p in every if os.path.isfile(p)]
        if not paths:
            raise FileNotFoundError(
                f"No file matches {path}: check its names and its folder."
            )
    try:
        states = [os.stat(p) for p in paths]
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"There is no file {error.filename}: check its name and its folder."
        ) from None
    return [
        Source(p, s.st_size, s.st_mtime) for p, s in zip(paths, states, strict=True)
    ]


def _is_corpus(path: str) -> bool:
    manifest = os.path.join(path, MANIFEST)
    if not os.path.isfile(manifest):
        return False
    with open(manifest, "rb") as file:
        return FORMAT.encode() in file.read(200)


def _counts(name: str) -> bool:
    return not any(part[0] in "._" for part in name.split(os.sep))


def _fsspec(path: str) -> Any:
    try:
        import fsspec
    except ImportError:
        raise ImportError(
            f"{path} is read through fsspec, which is not installed: pip install "
            "maxmargin[cluster]."
        ) from None
    return fsspec


def _remote(path: str) -> list[Source]:
    fsspec = _fsspec(path)
    with _spoken(path):
        system, inner = fsspec.core.url_to_fs(path)
        if _MAGIC.search(inner):
            names = sorted(n for n in system.glob(inner) if system.isfile(n))
        elif system.isdir(inner):
            root = inner.rstrip("/")
            names = [
                n
                for n in sorted(system.find(inner))
                if _counts(n[len(root) :].strip("/").replace("/", os.sep))
            ]
        else:
            names = [inner] if system.exists(inner) else []
        sizes = [system.info(n).get("size") for n in names]
    if not names:
        raise FileNotFoundError(f"There is no file {path}: check its name.")
    return [
        Source(system.unstrip_protocol(n), size)
        for n, size in zip(names, sizes, strict=True)
    ]


@contextlib.contextmanager
def _spoken(path: str) -> Iterator[None]:
    """Whatever a file system says becomes a sentence with the name of the file."""
    try:
        yield
    except Exception as error:  # each file system has errors of its own
        kind = type(error)
        kind = kind if kind in (FileNotFoundError, ImportError) else ValueError
        said = str(error).rstrip(".") or type(error).__name__
        raise kind(f"{path} cannot be read: {said}.") from None


@contextlib.contextmanager
def opened(source: Source) -> Iterator[BinaryIO]:
    """A file to read, after gunzip; gzip is known by its first bytes."""
    path = source.path
    with contextlib.ExitStack() as stack:
        if path == "-":
            file = getattr(sys.stdin, "buffer", sys.stdin)
        elif source.remote:
            with _spoken(path):
                file = stack.enter_context(_fsspec(path).open(path, "rb").open())
        else:
            with _spoken(path):
                file = stack.enter_context(open(path, "rb"))
        if not hasattr(file, "peek"):
            file = io.BufferedReader(file)
        if file.peek(2)[:2] == b"\x1f\x8b":
            file = stack.enter_context(gzip.GzipFile(fileobj=file))
        yield file


def beginning(source: Source) -> RawText:
    """The first bytes of a file, which show what it is."""
    if source.path == "-":  # to be read later: only what is there already is seen
        peek = getattr(getattr(sys.stdin, "buffer", None), "peek", lambda: b"")
        return RawText(peek().rpartition(b"\n")[0], STDIN)
    with opened(source) as file:
        return RawText(_read(file, source.path, BLOCK), source.path)


def blocks(
    source: Source, separator: str | None, encoding: str, size: int | None = None
) -> Iterator[RawText]:
    """The text of a file in UTF-8 with lines that end in \\n, cut at sentence ends."""
    blank = _blank_line(separator)
    wrong = (
        "no blank line in the next {} MB, so this would be one sentence: are blank lines "
        "missing between sentences, or is it another kind of file?"
    )
    return _blocks(source, lambda data: _last_end(data, blank), wrong, encoding, size)


def lines_of(
    source: Source, encoding: str, size: int | None = None
) -> Iterator[RawText]:
    """The same, cut at ends of lines."""
    wrong = "no end of a line in the next {} MB: is it another kind of file?"
    return _blocks(source, lambda data: data.rfind(b"\n") + 1, wrong, encoding, size)


def _blocks(
    source: Source, last_end: Callable, wrong: str, encoding: str, size: int | None
) -> Iterator[RawText]:
    name = STDIN if source.path == "-" else source.path
    codec = codec_name(encoding)
    decoder = None if codec == "utf-8" else codecs.getincrementaldecoder(codec)()
    rest, held, above = b"", b"", 0
    with opened(source) as file:
        while True:
            chunk = _read(file, name, size or BLOCK)
            last = not chunk
            if decoder is not None:
                chunk = _decoded(decoder, chunk, last, name, above, encoding)
            data = rest + held + chunk
            held = b""
            if not last and data.endswith(b"\r"):  # perhaps a half of \r\n
                data, held = data[:-1], b"\r"
            data = newlines(data)
            cut = len(data) if last else last_end(data)
            if cut:
                yield RawText(data[:cut], name, above)
                above += data.count(b"\n", 0, cut)
            rest = data[cut:]
            if last:
                return
            if len(rest) > LONGEST_SENTENCE:
                raise ValueError(
                    f"{name}, line {above + 1}: {wrong.format(len(rest) >> 20)}"
                )


def _read(file: BinaryIO, name: str, size: int) -> bytes:
    try:
        with unzipping(name):
            return file.read(size)
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error}.") from None


def _decoded(decoder, chunk, last, name, above, encoding) -> bytes:
    try:
        return decoder.decode(chunk, last).encode()
    except UnicodeDecodeError as error:
        raise undecodable(RawText(chunk, name, above), encoding, error) from None
    except UnicodeError:
        raise ValueError(
            f"{name} cannot be read with encoding={encoding!r}; try 'latin-1'."
        ) from None


def _blank_line(separator: str | None) -> re.Pattern:
    gap = rb"[ \t]" if separator is None else rb"[ \t]|" + re.escape(separator.encode())
    return re.compile(rb"\n(?:" + gap + rb")*\n")


def _last_end(data: bytes, blank: re.Pattern) -> int:
    """Where the last blank line of these bytes ends, 0 if there is none."""
    at = data.rfind(b"\n\n")
    if at >= 0:
        return at + 2
    end = 0
    for found in blank.finditer(data):
        end = found.end()
    return end
