"""Files with one token per line and columns, as integers: CoNLL and its many cousins.

Strings are interned while reading: a column is an array of numbers and a list of the
distinct strings they stand for, so that what comes after works on integers.

Reading works on the bytes of the whole file: numpy counts the cells of every line, and
if all lines have the same number, one ``split`` gives the cells of all tokens. No Python
code runs per line, unless there is something to say about one.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import os
import re
import stat
import sys
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain, count, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

DOCSTART = b"-DOCSTART-"  # starts the line between two documents, as in CoNLL-2003
STDIN = "standard input"  # its name in messages


class Column(NamedTuple):
    """One column of all tokens: ``words[ids[t]]`` is the string of token t."""

    ids: np.ndarray  # int32, one per token
    words: list[str]  # distinct, in the order first seen


class Columns(NamedTuple):
    """Sentences of tokens with columns; sentence i is the tokens start[i]..start[i+1]."""

    start: np.ndarray  # int64, sentences + 1
    columns: list[Column]
    lines: np.ndarray  # int64, the line number (from 1) of every token in its file
    path: str  # for messages; "" if the tokens did not come from a file

    @property
    def n_sentences(self) -> int:
        return len(self.start) - 1

    @property
    def n_tokens(self) -> int:
        return len(self.lines)

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    def strings(self, column: int) -> list[list[str]]:
        """The strings of one column, a list per sentence; -1 is the last column."""
        if not -self.n_columns <= column < self.n_columns:
            raise ValueError(
                f"There is no column {column}: there are {self.n_columns}, numbered "
                f"from 0."
            )
        ids, words = self.columns[column]
        flat = np.array(words, dtype=object)[ids].tolist()
        return [flat[a:b] for a, b in pairwise(self.start.tolist())]

    def where(self, token: int) -> str:
        """The place of a token, for messages: "train.txt, line 12"."""
        if self.path:
            return f"{self.path}, line {self.lines[token]}"
        token = range(self.n_tokens)[token]
        i = int(np.searchsorted(self.start, token, side="right")) - 1
        return f"sequence {i}, token {token - int(self.start[i])}"

    def select(self, sentences: Iterable[int]) -> Columns:
        """The sentences with these numbers (or where a mask is True), in this order.

        The words of the new columns are those that occur in these sentences.
        """
        chosen = _sentence_numbers(sentences, self.n_sentences)
        lengths = self.start[chosen + 1] - self.start[chosen]
        start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        # Token t of the new sentence i stands at t - start[i] + (old start of it).
        tokens = np.arange(start[-1]) + np.repeat(
            self.start[chosen] - start[:-1], lengths
        )
        columns = [_renumber(ids[tokens], words) for ids, words in self.columns]
        return Columns(start, columns, self.lines[tokens], self.path)


def _sentence_numbers(sentences: Iterable[int], n: int) -> np.ndarray:
    chosen = np.asarray(
        sentences if isinstance(sentences, np.ndarray) else list(sentences)
    )
    if chosen.ndim == 1 and chosen.dtype == bool and len(chosen) == n:
        return np.flatnonzero(chosen)
    if chosen.size == 0:
        return np.zeros(0, np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise ValueError(
            "sentences must be a list of sentence numbers, or a mask with one bool for "
            f"each of the {n} sentences."
        )
    wrong = chosen[(chosen < 0) | (chosen >= n)]
    if len(wrong):
        raise ValueError(
            f"There is no sentence {wrong[0]}: there are {n}, numbered from 0."
        )
    return chosen.astype(np.int64)


def _renumber(ids: np.ndarray, words: list[str]) -> Column:
    """The column with only the words that occur, in the order first seen."""
    first = np.full(len(words), len(ids))
    # Of several values for one place, the last one stays: the first token of a word.
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    seen = np.flatnonzero(first < len(ids))
    seen = seen[np.argsort(first[seen])]
    number = np.zeros(len(words), np.int32)
    number[seen] = np.arange(len(seen))
    return Column(number[ids], [words[i] for i in seen.tolist()])


def columns_from(
    rows: Iterable[Sequence[Sequence[str]]], path: str | os.PathLike = ""
) -> Columns:
    """Columns of sentences that are in memory: lists of rows, which are lists of strings.

    >>> two = columns_from([[("the", "D"), ("dog", "N")], [("bark", "V")]])
    >>> two.strings(0), two.n_tokens
    ([['the', 'dog'], ['bark']], 3)

    `path` is for messages. Lines are numbered as `write_columns` would write them.
    """
    sentences = list(rows)
    for i, sentence in enumerate(sentences):
        if not isinstance(sentence, (list, tuple)):
            raise ValueError(
                f"sequence {i} is {_kind(sentence)}, but it must be a list of rows."
            )
    tokens = list(chain.from_iterable(sentences))
    if not tokens:
        raise ValueError("There is no token, so the number of columns is not known.")
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    sentence_of = np.repeat(np.arange(len(sentences)), lengths)
    lines = np.arange(1, len(tokens) + 1) + sentence_of
    result = Columns(start, [], lines, os.fspath(path))
    _check_rows(tokens, result._replace(path="").where)
    result.columns.extend(
        Column(column.ids, list(map(str, column.words)))  # np.str_ becomes str
        for column in map(_intern, zip(*tokens, strict=True))
    )
    return result


def _check_rows(tokens: list, where: Callable[[int], str]) -> None:
    """All rows are lists of the same number, not zero, of strings."""
    if all(map(isinstance, tokens, repeat((list, tuple)))):
        width = len(tokens[0])
        if (
            width
            and set(map(len, tokens)) == {width}
            and all(map(isinstance, chain.from_iterable(tokens), repeat(str)))
        ):
            return
    for t, row in enumerate(tokens):
        if not isinstance(row, (list, tuple)):
            raise ValueError(
                f"{where(t)}: the row is {_kind(row)}, but it must be a list of strings, "
                f"one per column."
            )
        if len(row) == 0:
            raise ValueError(f"{where(t)}: the row has no columns; it needs one.")
        if len(row) != len(tokens[0]):
            raise ValueError(
                f"{where(t)}: the row has {_columns(len(row))}, but the first one has "
                f"{len(tokens[0])}; all need the same columns."
            )
        for cell in row:
            if not isinstance(cell, str):
                raise ValueError(
                    f"{where(t)}: a cell is {_kind(cell)}, but it must be a string."
                )


def _intern(cells: Collection) -> Column:
    number: dict = defaultdict(count().__next__)
    ids = np.fromiter(map(number.__getitem__, cells), np.int32, len(cells))
    return Column(ids, list(number))


# Reading -----------------------------------------------------------------------------


def read_columns(
    path: str | os.PathLike | RawText,
    separator: str | None = None,
    encoding: str = "utf-8",
    comment: str | None = None,
    columns: Iterable[int] | None = None,
    expect: int | Collection[int] | None = None,
    keep_docstart: bool = False,
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

    Raises
    ------
    ValueError
        With the file and the line, if the file is not like this. FileNotFoundError if
        there is no file.
    """
    raw = read_raw(path)
    text = _utf8(raw, encoding)[0]
    page = _page(_newlines(text), raw.path, separator, comment, keep_docstart)
    width = page.width
    _check_expected(raw.path, width, expect)
    kept = _kept_columns(raw.path, width, columns)
    cells = _cells(page)
    result = []
    for k in kept:
        ids, words = _intern(cells[k::width])
        # Only distinct cells are decoded, and all at once: none has a line end in it.
        result.append(Column(ids, b"\n".join(words).decode().split("\n")))
    return Columns(page.start, result, page.tokens + 1, raw.path)


class _Page(NamedTuple):
    """Where the tokens of a text are."""

    text: bytes  # UTF-8, lines end in \n; comments and document starts made blank
    separator: bytes | None
    tokens: np.ndarray  # int64, the lines (from 0) that are tokens
    start: np.ndarray  # int64, the tokens at which sentences start, and the end
    width: int  # cells per token
    docstarts: list[int]  # lines made blank that separate documents


def _page(
    text: bytes,
    path: str,
    separator: str | None,
    comment: str | None,
    keep_docstart: bool,
) -> _Page:
    exact = _check_separator(separator)
    if comment is not None and (not isinstance(comment, str) or not comment):
        raise ValueError(
            f"comment={comment!r} is not possible: it must be a string such as '#', or "
            f"None if the file has no comments."
        )
    text, docstarts = _make_blank(text, exact, comment, keep_docstart)
    widths = _widths(text) if exact is None else _exact_widths(text, exact)
    tokens = np.flatnonzero(widths)
    if len(tokens) == 0:
        raise ValueError(
            f"{path} has no token: "
            + (
                "it is empty."
                if not text
                else "all of its lines are blank or comments."
            )
        )
    width = int(widths[tokens[0]])
    wrong = np.flatnonzero(widths[tokens] != width)
    if len(wrong):
        raise _ragged(text, path, separator, tokens[0], tokens[wrong[0]], widths)
    breaks = np.flatnonzero(np.diff(tokens) > 1) + 1
    start = np.concatenate([[0], breaks, [len(tokens)]]).astype(np.int64)
    return _Page(text, exact, tokens, start, width, docstarts)


def _check_separator(separator: str | None) -> bytes | None:
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


def _widths(text: bytes) -> np.ndarray:
    """The number of cells between spaces and tabs, in every line."""
    if not text:
        return np.zeros(0, np.int64)
    a = np.frombuffer(text, np.uint8)
    end = a == ord("\n")
    gap = (a == ord(" ")) | (a == ord("\t")) | end
    starts = np.empty(len(a), bool)  # is a character the first one of a cell?
    starts[0] = not gap[0]
    np.greater(gap[:-1], gap[1:], out=starts[1:])
    lines = np.concatenate([[0], np.flatnonzero(end[:-1]) + 1])
    return np.add.reduceat(starts.view(np.uint8), lines, dtype=np.int64)


def _exact_widths(text: bytes, separator: bytes) -> np.ndarray:
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


def _cells(page: _Page) -> list[bytes]:
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
    text: bytes, path: str, separator: str | None, first: int, line: int, widths
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
        f"{path}, line {line + 1}: {_columns(widths[line])}, but the first token (line "
        f"{first + 1}) has {widths[first]}: {_short(both[1].decode())}.{hint}"
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
            f"The model was trained with {_columns(known)}, but {path} has {width}: give "
            f"it the same columns in the same order, and the same separator."
        )


def _kept_columns(path: str, width: int, columns: Iterable[int] | None) -> list[int]:
    if columns is None:
        return list(range(width))
    kept = [columns] if isinstance(columns, (int, np.integer)) else list(columns)
    for k in kept:
        if not isinstance(k, (int, np.integer)) or not -width <= k < width:
            raise ValueError(
                f"columns={columns!r} is not possible: {path} has {_columns(width)}, "
                f"numbered 0 to {width - 1}, or -{width} to -1."
            )
    if not kept:
        raise ValueError("columns=[] is not possible: keep one column at least.")
    return [int(k) % width for k in kept]


# Writing -----------------------------------------------------------------------------


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
    _check_separator(separator)
    if separator is None:
        raise ValueError(
            "separator=None is for reading; to write, name one such as ' '."
        )
    _check_not_empty(columns.start)
    everything = list(columns.columns)
    for labels in _check_added(added):
        flat = _flat_labels(labels, columns.start, "The added column")
        everything.append(_intern(flat))
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
    filler: str = "O",
) -> None:
    """Write a copy of a file of columns with one more: the labels.

    The rest of the text stays as it is: comments, blank lines, line ends, encoding.
    `labels` has a list for every sentence that `read_columns` finds with the same
    separator, encoding, comment and keep_docstart. A -DOCSTART- line that is no token
    gets the label `filler`, so that all lines keep the same number of columns.

    With separator None the new column is set off by a tab if the first token of the
    file has tabs, else by a space, and spaces at the end of a token's line are dropped.
    To read standard input only once, pass what `read_raw("-")` returned as `source`.
    """
    raw = read_raw(source)
    text, mark = _utf8(raw, encoding)
    page = _page(_newlines(text), raw.path, separator, comment, keep_docstart)
    flat = _flat_labels(labels, page.start, raw.path, page.tokens + 1)
    if b"\r" in text:
        pieces = re.split(rb"(\r\n|\r|\n)", text)
        lines, ends = pieces[::2], pieces[1::2]
    else:
        lines, ends = text.split(b"\n"), None

    between = separator
    if between is None:
        between = "\t" if b"\t" in lines[page.tokens[0]].strip() else " "
    words = dict.fromkeys(chain(flat, [filler]))
    for word in words:
        _check_cell(word, separator or " ", "the label")
    tails = {word: f"{between}{word}".encode() for word in words}
    loose = b" \t" if separator is None else b""
    for i, word in zip(page.tokens.tolist(), flat, strict=True):
        lines[i] = lines[i].rstrip(loose) + tails[word]
    for i in page.docstarts:
        lines[i] = lines[i].rstrip(loose) + tails[filler]

    if ends is None:
        data = b"\n".join(lines)
    else:
        data = b"".join(chain.from_iterable(zip(lines, [*ends, b""], strict=True)))
    if lines[-1]:
        data += ends[-1] if ends else b"\n"
    data = mark + data
    if _codec(encoding) != "utf-8":
        data = _encode(data.decode(), target, encoding)
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


def _flat_labels(
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
                f"The labels of sequence {i} are {_kind(sequence)}, but they must be a "
                f"list with one label per token."
            )
    flat = list(chain.from_iterable(labels))
    if all(kind is str for kind in set(map(type, flat))):
        return flat
    for label in flat:
        if not isinstance(label, (str, int, np.integer)):
            raise ValueError(
                f"A label is {_kind(label)}, but labels must be strings or integers."
            )
    return list(map(str, flat))


def _check_not_empty(start: np.ndarray) -> None:
    empty = np.flatnonzero(np.diff(start) == 0)
    if len(empty):
        raise ValueError(
            f"sequence {empty[0]} is empty, and such a file has no way to say so: leave "
            f"it out."
        )


def _check_cells(columns: list[Column], separator: str, places: Columns) -> None:
    """Refuse cells that would not be read back as they are."""
    for k, column in enumerate(columns):
        for i, word in enumerate(column.words):
            try:
                _check_cell(word, separator, "the cell")
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


def _check_cell(word: str, separator: str, what: str) -> None:
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
            f"{what} {_short(word)} contains {min(found)!r}, which separates cells or "
            f"lines: replace it."
        )


# Bytes -------------------------------------------------------------------------------


class RawText(NamedTuple):
    """The bytes of a file, after gunzip, and its name for messages."""

    data: bytes
    path: str


def read_raw(path: str | os.PathLike | RawText) -> RawText:
    """Read all bytes of a file, or of standard input if the path is "-".

    What gzip compressed is known by its first bytes, not by its name.
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
        try:
            data = gzip.decompress(data)
        except EOFError:
            raise ValueError(
                f"{name} is cut off: its gzip data end too early. Copy it again."
            ) from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{name} is damaged: gzip says {error}.") from None
    return RawText(data, name)


def read_text(path: str | os.PathLike | RawText, encoding: str) -> tuple[bytes, str]:
    """The text of a file in UTF-8 with lines that end in \\n, and its name."""
    raw = read_raw(path)
    return _newlines(_utf8(raw, encoding)[0]), raw.path


def _codec(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"encoding={encoding!r} is not known; try 'utf-8' or 'latin-1'."
        ) from None


def _utf8(raw: RawText, encoding: str) -> tuple[bytes, bytes]:
    """The text in UTF-8 without its byte order mark, and that mark if there was one."""
    data, codec = raw.data, _codec(encoding)
    try:
        text = data.decode(codec)  # also a check
        if codec != "utf-8":
            data = text.encode()
    except UnicodeDecodeError as error:
        raise _undecodable(raw, encoding, error) from None
    except (LookupError, UnicodeError):
        raise ValueError(
            f"{raw.path} cannot be read with encoding={encoding!r}; try 'latin-1'."
        ) from None
    if data.startswith(codecs.BOM_UTF8):
        return data[3:], codecs.BOM_UTF8
    return data, b""


def _undecodable(raw: RawText, encoding: str, error: UnicodeDecodeError) -> ValueError:
    before = raw.data[: error.start]
    line = before.count(b"\n") + 1
    column = error.start - before.rfind(b"\n")
    if raw.data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        advice = "It starts as UTF-16 does: say encoding='utf-16'."
    else:
        advice = "If it is in Latin-1, say encoding='latin-1'."
    return ValueError(
        f"{raw.path}, line {line}: byte {column} of the line, "
        f"0x{raw.data[error.start]:02x}, is not valid {encoding}. {advice}"
    )


def _newlines(text: bytes) -> bytes:
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
    write_raw(path, _encode(text, path, encoding))


def _encode(text: str, path: str | os.PathLike, encoding: str) -> bytes:
    codec = _codec(encoding)
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
            stream.write(data)
        sys.stdout.flush()
        return
    if name.endswith(".gz"):
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
    temporary = os.path.join(folder, f".maxmargin-{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
        if os.path.exists(target):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:  # also KeyboardInterrupt: leave no litter behind
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


# Words for messages ------------------------------------------------------------------


def _columns(n: Any) -> str:
    return f"{n} column" if str(n) == "1" else f"{n} columns"


def _kind(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
