"""Reading files with one token per line and columns, as in CoNLL's shared tasks.

Reading works on the bytes of the whole file: numpy counts the cells of every line, and
if all lines have the same number, one ``split`` gives the cells of all tokens; those of a
large file are found and numbered by `cells.py`. No Python code runs per line, unless there
is something to say about one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from itertools import pairwise, repeat
from typing import NamedTuple

import numpy as np

from maxmargin.core.jobs import effective_jobs
from maxmargin.engine.threads import over_ranges
from maxmargin.files.messages import column_count, short
from maxmargin.files.text_files import RawText, newlines, read_raw, utf8
from maxmargin.tags.files.cells import numbered_columns
from maxmargin.tags.files.columns import Column, Columns, Meaning, intern

DOCSTART = b"-DOCSTART-"  # starts the line between two documents, as in CoNLL-2003
LARGE = 2**20  # bytes of a text for which compiled code is worth loading
PIECE = 2**18  # bytes that numpy looks at in one go


def read_columns(
    path: str | os.PathLike | RawText,
    separator: str | None = None,
    encoding: str = "utf-8",
    comment: str | None = None,
    columns: Iterable[int] | None = None,
    expect: int | Collection[int] | None = None,
    keep_docstart: bool = False,
    word_column: int = 0,
    n_jobs: int | None = 1,
) -> Columns:
    """Read a file with one token per line and a blank line after every sentence.

    Every token has the same number of columns. Line ends of Windows, a byte order mark,
    several blank lines and a last line without an end are all fine.

    Parameters
    ----------
    path : path, "-" or RawText
        A file, which may be compressed with gzip (whatever its name is); "-" is standard
        input; or what `read_raw` returned.
    separator : str or None
        None: any run of spaces and tabs. A string such as "\\t": exactly this string;
        then cells may be empty and keep their spaces. A line whose cells are all empty
        or spaces counts as blank in both cases.
    encoding : str
        The encoding of the file.
    comment : str or None
        Lines that begin with this string are left out where a sentence may start: at
        the top, and after a blank line or another comment, as in CoNLL-U. Inside of a
        sentence such a line is a token.
    columns : list of int or None
        Which columns to keep, numbered from 0, or from the end with -1. None: all.
    expect : int, collection of int, or None
        How many columns the file must have, for a model that needs so many.
    keep_docstart : bool
        A line whose first cell is -DOCSTART- stands between two documents. It is no
        token: by default it is left out and ends the sentence before it, whatever its
        number of columns. With True it is read as any other line.
    word_column : int
        Where, among the columns that are kept, the words are: ready sets of features
        read this one, and the next for parts of speech. Files of CoNLL-U have a reader
        of their own, `read_conllu`.
    n_jobs : int or None
        Threads for a large file; -1: one per core.

    Raises
    ------
    ValueError
        With the file and the line, if the file is not like this. FileNotFoundError if
        there is no file.
    """
    threads = effective_jobs(n_jobs)
    raw = read_raw(path)
    text = newlines(utf8(raw, encoding)[0])
    page = page_of(
        text, raw.path, separator, comment, keep_docstart, raw.above, threads
    )
    _check_expected(raw.path, page.width, expect)
    kept = _kept_columns(raw.path, page.width, columns)
    word = Meaning().number(word_column, len(kept), "word_column")
    return interned(page, raw, kept, threads)._replace(meaning=Meaning(word=word))


def read_piece(
    raw: RawText, separator: str | None, comment: str | None
) -> Columns | None:
    """The columns of a piece of a file in UTF-8; None if there is no token in it."""
    text = newlines(utf8(raw, "utf-8")[0])
    page = _page_of(text, raw.path, separator, comment, False, raw.above)
    return page and interned(page, raw, list(range(page.width)))


def interned(page: Page, raw: RawText, kept: list[int], n_jobs: int = 1) -> Columns:
    """The columns of a page that are kept."""
    if page.separator is None and len(page.text) >= LARGE:
        found: Iterable[tuple] = _numbered(page, kept, n_jobs)
    else:
        cells = _cells(page)
        found = (intern(cells[k :: page.width]) for k in kept)
    # Only distinct cells are decoded, and all at once: none has a line end in it.
    result = [
        Column(ids, b"\n".join(words).decode().split("\n")) for ids, words in found
    ]
    return Columns(page.start, result, page.tokens + (raw.above + 1), raw.path)


def _numbered(page: Page, kept: list[int], n_jobs: int) -> list:
    """The columns of a large page between spaces and tabs."""
    edges = _edges(page.text)
    lines = [page.text.count(b"\n", a, b) for a, b in pairwise(edges)]
    before = np.searchsorted(page.tokens, np.cumsum([0, *lines]))
    before[-1] = len(page.tokens)  # the last line may have no end
    where = np.array(edges), before
    return numbered_columns(page.text, *where, page.width, kept, n_jobs)


class Page(NamedTuple):
    """Where the tokens of a text are."""

    text: bytes  # UTF-8, lines end in \n; comments and document starts made blank
    separator: bytes | None
    tokens: np.ndarray  # int64, the lines (from 0) that are tokens
    start: np.ndarray  # int64, the tokens at which sentences start, and the end
    width: int  # cells per token
    docstarts: list[int]  # lines made blank that separate documents


def page_of(
    text: bytes,
    path: str,
    separator: str | None,
    comment: str | None,
    keep_docstart: bool,
    above: int = 0,
    n_jobs: int = 1,
) -> Page:
    """Where the tokens of a text are, which has `above` lines of its file before it."""
    page = _page_of(text, path, separator, comment, keep_docstart, above, n_jobs)
    if page is None:
        raise ValueError(
            f"{path} has no token: "
            + (
                "it is empty."
                if not text
                else "all of its lines are blank or comments."
            )
        )
    return page


def _page_of(
    text, path, separator, comment, keep_docstart, above, n_jobs=1
) -> Page | None:
    """The same, None if there is no token."""
    exact = check_separator(separator)
    if comment is not None and (not isinstance(comment, str) or not comment):
        raise ValueError(
            f"comment={comment!r} is not possible: it must be a string such as '#', or "
            f"None if the file has no comments."
        )
    text, docstarts = _make_blank(text, exact, comment, keep_docstart)
    widths = cell_counts(text, n_jobs) if exact is None else _exact_counts(text, exact)
    tokens = np.flatnonzero(widths)
    if len(tokens) == 0:
        return None
    width = int(widths[tokens[0]])
    wrong = np.flatnonzero(widths[tokens] != width)
    if len(wrong):
        lines = tokens[0], tokens[wrong[0]]
        raise _ragged(text, path, separator, *lines, widths, above)
    breaks = np.flatnonzero(np.diff(tokens) > 1) + 1
    start = np.concatenate([[0], breaks, [len(tokens)]]).astype(np.int64)
    return Page(text, exact, tokens, start, width, docstarts)


def check_separator(separator: str | None) -> bytes | None:
    if separator is None:
        return None
    if not isinstance(separator, str) or not separator or set(separator) & {"\r", "\n"}:
        raise ValueError(
            f"separator={separator!r} is not possible: it must be None for spaces and "
            f"tabs, or a string within a line, such as '\\t'."
        )
    return separator.encode()


def _make_blank(
    text: bytes, separator: bytes | None, comment: str | None, keep_docstart: bool
) -> tuple[bytes, list[int]]:
    """The text without comments and document starts: blank lines in their place."""
    mark = None if comment is None else comment.encode()
    docstarts: list[int] = []
    some = not keep_docstart and DOCSTART in text
    if not some and (mark is None or mark not in text):
        return text, docstarts
    lines = text.split(b"\n")
    if some:
        for i, line in enumerate(lines):
            if DOCSTART in line and _first_cell(line, separator) == DOCSTART:
                docstarts.append(i)
                lines[i] = b""
    if mark is not None:
        for i, line in enumerate(lines):
            if line.startswith(mark) and (i == 0 or _is_blank(lines[i - 1], separator)):
                lines[i] = b""
    return b"\n".join(lines), docstarts


def _first_cell(line: bytes, separator: bytes | None) -> bytes:
    return line.split(separator, 1)[0].strip(b" \t")


def _is_blank(line: bytes, separator: bytes | None) -> bool:
    if separator is not None:
        line = line.replace(separator, b"")
    return not line.strip(b" \t")


def cell_counts(text: bytes, n_jobs: int = 1) -> np.ndarray:
    """The number of cells between spaces and tabs, in every line."""
    edges = _edges(text)
    counts: list = [np.zeros(0, np.int64)] * len(edges)

    def count(lo, hi):
        for k in range(lo, hi):
            counts[k] = _counts(text[edges[k] : edges[k + 1]])

    over_ranges(count, np.array(edges), n_jobs)
    return np.concatenate(counts)


def _edges(text: bytes) -> list[int]:
    """Places behind line ends that cut a text into pieces, which fit into a cache."""
    edges = [0]
    while edges[-1] < len(text):
        edges.append(text.find(b"\n", edges[-1] + PIECE) + 1 or len(text))
    return edges


def _counts(text: bytes) -> np.ndarray:
    """The number of cells in every line of a piece."""
    a = np.frombuffer(text, np.uint8)
    end = a == ord("\n")
    gap = (a == ord(" ")) | (a == ord("\t")) | end
    starts = np.empty(len(a), bool)  # is a character the first one of a cell?
    starts[0] = not gap[0]
    np.greater(gap[:-1], gap[1:], out=starts[1:])
    end[-1] = True
    return np.diff(np.cumsum(starts)[end], prepend=0)


def _exact_counts(text: bytes, separator: bytes) -> np.ndarray:
    """The number of cells between separators, in every line; 0 for a blank line."""
    lines = text.split(b"\n")
    n = len(lines)
    widths = np.fromiter(map(bytes.count, lines, repeat(separator)), np.int64, n) + 1
    rest = map(len, map(bytes.strip, lines, repeat(separator + b" \t")))
    # strip takes single bytes, so of longer separators it may take too much.
    for i in np.flatnonzero(np.fromiter(rest, np.int64, n) == 0).tolist():
        if len(separator) == 1 or _is_blank(lines[i], separator):
            widths[i] = 0
    return widths


def _cells(page: Page) -> list[bytes]:
    """The cells of all tokens, row by row."""
    text = page.text
    if page.separator is not None:
        lines = text.split(b"\n")
        rows = b"\n".join(map(lines.__getitem__, page.tokens.tolist()))
        return rows.replace(page.separator, b"\n").split(b"\n")
    if b"\v" in text or b"\f" in text:  # white space to split(), not to us
        text = text.replace(b"\n", b" ").replace(b"\t", b" ")
        return [cell for cell in text.split(b" ") if cell]
    return text.split()


def _ragged(
    text: bytes, path: str, separator: str | None, first: int, line: int, widths, above
) -> ValueError:
    """The error for a line with another number of columns than the first one."""
    lines = text.split(b"\n")
    both = lines[first], lines[line]
    hint = ""
    if separator is None:
        tabs, spaces = (any(c in each.strip() for each in both) for c in (b"\t", b" "))
        if tabs and spaces:
            hint = (
                " Tabs and spaces are mixed, which may be the cause: if only tabs "
                "separate columns, say separator='\\t'."
            )
    else:
        hint = f" Columns are separated by {separator!r} and nothing else."
    return ValueError(
        f"{path}, line {above + line + 1}: {column_count(widths[line])}, but the first "
        f"token (line {above + first + 1}) has {widths[first]}: "
        f"{short(both[1].decode())}.{hint}"
    )


def _check_expected(
    path: str, width: int, expect: int | Collection[int] | None
) -> None:
    if expect is None:
        return
    allowed = [expect] if isinstance(expect, (int, np.integer)) else sorted(expect)
    if width not in allowed:
        known = " or ".join(map(str, allowed))
        raise ValueError(
            f"The model was trained with {column_count(known)}, but {path} has {width}: "
            f"give it the same columns in the same order, and the same separator."
        )


def _kept_columns(path: str, width: int, columns: Iterable[int] | None) -> list[int]:
    if columns is None:
        return list(range(width))
    kept = [columns] if isinstance(columns, (int, np.integer)) else list(columns)
    for k in kept:
        if not isinstance(k, (int, np.integer)) or not -width <= k < width:
            raise ValueError(
                f"columns={columns!r} is not possible: {path} has {column_count(width)}, "
                f"numbered 0 to {width - 1}, or -{width} to -1."
            )
    if not kept:
        raise ValueError("columns=[] is not possible: keep one column at least.")
    return [int(k) % width for k in kept]
