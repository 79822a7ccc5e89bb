"""Writing columns, and copies of files of columns with labels added."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from maxmargin.files.messages import kind_of, short
from maxmargin.files.text_files import (
    RawText,
    codec_name,
    encode_text,
    newlines,
    read_raw,
    utf8,
    write_raw,
    write_text,
)
from maxmargin.tags.files.columns import Column, Columns, intern
from maxmargin.tags.files.reader import check_separator, page_of
from maxmargin.waiting import seen


def write_columns(
    path: str | os.PathLike,
    columns: Columns,
    added: Sequence[Sequence[Sequence[Any]]] | None = None,
    separator: str = " ",
    encoding: str = "utf-8",
) -> None:
    """Write columns, and after them those in `added`, as `read_columns` reads them.

    `added` is a list of columns, each of them a list of label lists, as `predict`
    returns: `write_columns(path, columns, [tagger.predict(X)])`. A path that ends in
    .gz is compressed, "-" is standard output. A file appears whole or not at all.

    With a separator other than " ", cells may be empty and may have spaces in them:
    read such a file with the same separator.
    """
    check_separator(separator)
    if separator is None:
        raise ValueError(
            "separator=None is for reading; to write, name one such as ' '."
        )
    check_not_empty(columns.start)
    everything = list(columns.columns)
    for labels in _check_added(added):
        flat = flat_labels(labels, columns.start, "The added column")
        everything.append(intern(flat))
    if not everything:
        raise ValueError("There are no columns to write.")
    _check_cells(everything, separator, columns)

    strings = [np.array(words, dtype=object)[ids].tolist() for ids, words in everything]
    rows = list(map(separator.join, zip(*strings, strict=True)))
    for end in (columns.start[1:-1] - 1).tolist():
        rows[end] += "\n"
    rows.append("")
    write_text(path, "\n".join(rows), encoding)


def tag_file(
    source: str | os.PathLike | RawText,
    target: str | os.PathLike,
    labels: Sequence[Sequence[Any]],
    separator: str | None = None,
    encoding: str = "utf-8",
    comment: str | None = None,
    keep_docstart: bool = False,
    filler: str | Sequence[str] = "O",
    more: Sequence[Sequence[Sequence[Any]]] = (),
) -> None:
    """Write a copy of a file of columns with one more: the labels.

    The rest of the text stays as it is: comments, blank lines, line ends, encoding.
    `labels` has a list for every sentence that `read_columns` finds with the same
    separator, encoding, comment and keep_docstart. A -DOCSTART- line that is no token
    gets the label `filler`, so that all lines keep the same number of columns. `more`
    is a list of further columns, which are like `labels` and are written after them; then
    `filler` may be a list with one for every column.

    With separator None the new column is set off by a tab if the first token of the
    file has tabs, else by a space, and spaces at the end of a token's line are dropped.
    To read standard input only once, pass what `read_raw("-")` returned as `source`.
    """
    raw = read_raw(source)
    text, mark = utf8(raw, encoding)
    page = page_of(newlines(text), raw.path, separator, comment, keep_docstart)
    added = [
        flat_labels(column, page.start, raw.path, page.tokens + 1)
        for column in (labels, *_check_added(more))
    ]
    lines, ends = split_lines(text)
    between = separator
    if between is None:
        between = "\t" if b"\t" in lines[page.tokens[0]].strip() else " "
    fillers = [filler] * len(added) if isinstance(filler, str) else list(filler)
    if len(fillers) != len(added):
        raise ValueError(
            f"filler={filler!r} must be a string, or a list with one for each of the "
            f"{len(added)} added columns."
        )
    words = dict.fromkeys(chain(*added, fillers))
    for word in words:
        check_cell(word, separator or " ", "the label")
    cells = {word: f"{between}{word}".encode() for word in words}
    loose = b" \t" if separator is None else b""
    rows = zip(page.tokens.tolist(), *added, strict=True)
    for i, *row in seen(rows, len(page.tokens)):
        lines[i] = lines[i].rstrip(loose) + b"".join(map(cells.__getitem__, row))
    for i in page.docstarts:
        lines[i] = lines[i].rstrip(loose) + b"".join(map(cells.__getitem__, fillers))

    if lines[-1]:
        lines, ends = [*lines, b""], [*ends, ends[-1] if ends else b"\n"]
    write_lines(target, mark, lines, ends, encoding)


def split_lines(text: bytes) -> tuple[list[bytes], list[bytes]]:
    """Lines, and what ends each but the last one."""
    if b"\r" in text:
        pieces = re.split(rb"(\r\n|\r|\n)", text)
        return pieces[::2], pieces[1::2]
    lines = text.split(b"\n")
    return lines, [b"\n"] * (len(lines) - 1)


def write_lines(
    target: str | os.PathLike,
    mark: bytes,
    lines: list[bytes],
    ends: list[bytes],
    encoding: str,
) -> None:
    """A copy of a file, after its byte order mark if it had one."""
    data = mark + b"".join(chain.from_iterable(zip(lines, [*ends, b""], strict=True)))
    if codec_name(encoding) != "utf-8":
        data = encode_text(data.decode(), target, encoding)
    write_raw(target, data)


def _check_added(added) -> list:
    """The added columns; a column in the place of the list of columns is refused."""
    if added is None:
        return []
    added = list(added)
    for column in added:
        if not isinstance(column, (list, tuple)) or any(
            isinstance(labels, (str, int, np.integer)) for labels in column
        ):
            raise ValueError(
                "added must be a list of columns, each a list of label lists; wrap a "
                "single column in a list: added=[labels]."
            )
    return added


def flat_labels(
    labels: Sequence[Sequence[Any]],
    start: np.ndarray,
    what: str,
    lines: np.ndarray | None = None,
) -> list[str]:
    """The labels of all tokens as strings, when there is one for every token."""
    labels = list(labels)
    lengths = np.diff(start)
    if len(labels) != len(lengths):
        raise ValueError(
            f"There are {len(labels)} label lists for {len(lengths)} sentences ({what}); "
            f"one for each is needed."
        )
    flat = plain_labels(labels)
    found = np.fromiter(map(len, labels), np.int64, len(labels))
    wrong = np.flatnonzero(found != lengths)
    if len(wrong):
        i = int(wrong[0])
        place = what if lines is None else f"{what}, line {lines[start[i]]}"
        raise ValueError(
            f"{place}: sequence {i} has {lengths[i]} tokens but {found[i]} labels."
        )
    return flat


def plain_labels(labels: Sequence[Sequence[Any]]) -> list[str]:
    """The labels of all sequences in one list of strings; integers become strings."""
    for i, sequence in enumerate(labels):
        if isinstance(sequence, (str, dict)) or not hasattr(sequence, "__len__"):
            raise ValueError(
                f"The labels of sequence {i} are {kind_of(sequence)}, but they must be a "
                f"list with one label per token."
            )
    flat = list(chain.from_iterable(labels))
    if all(kind is str for kind in set(map(type, flat))):
        return flat
    for label in flat:
        if not isinstance(label, (str, int, np.integer)):
            raise ValueError(
                f"A label is {kind_of(label)}, but labels must be strings or integers."
            )
    return list(map(str, flat))


def check_not_empty(start: np.ndarray) -> None:
    empty = np.flatnonzero(np.diff(start) == 0)
    if len(empty):
        check_row(f"sequence {empty[0]}", 0, 0)


def check_row(name: str, n: int, labels: int, what: str = "tokens") -> None:
    """Refuse a sequence without tokens, or with more or fewer labels."""
    if n != labels:
        raise ValueError(f"{name} has {n} {what} but {labels} labels.")
    if n == 0:
        raise ValueError(
            f"{name} is empty, and such a file has no way to say so: leave it out."
        )


def _check_cells(columns: list[Column], separator: str, places: Columns) -> None:
    """Refuse cells that would not be read back as they are."""
    for k, column in enumerate(columns):
        for i, word in enumerate(column.words):
            try:
                check_cell(word, separator, "the cell")
            except ValueError as error:
                for token in np.flatnonzero(column.ids == i)[:1].tolist():
                    place = places._replace(path="").where(token)
                    raise ValueError(f"{place}, column {k}: {error}") from None
    blank = np.ones(places.n_tokens, bool)
    for ids, words in columns:
        empty = np.fromiter((not w.strip(" \t") for w in words), bool, len(words))
        blank &= empty[ids]
    if blank.any():
        place = places._replace(path="").where(int(np.argmax(blank)))
        raise ValueError(f"{place}: all cells are empty, so it would be a blank line.")


def check_cell(word: str, separator: str, what: str) -> None:
    if not word and separator == " ":
        raise ValueError(
            f"{what} is empty, which needs another separator, such as '\\t'."
        )
    # Of a long separator no part may be in a cell: "a|" + "||" + "b" is ambiguous.
    # What is written with spaces may be read with separator=None: no tabs.
    bad = {*separator, "\r", "\n"} | ({"\t"} if separator == " " else set())
    found = bad.intersection(word)
    if found:
        raise ValueError(
            f"{what} {short(word)} contains {min(found)!r}, which separates cells or "
            f"lines: replace it."
        )
