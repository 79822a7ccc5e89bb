"""Files of Universal Dependencies: CoNLL-U, ten named columns between tabs.

A sentence is comments, then a line per word with the IDs 1, 2, 3, ...; before the words
that a written token consists of stands its line, ``3-4``, and after word 8 empty nodes
may follow, ``8.1`` (``0.1`` before the first word). Only words are tokens here; all other
lines stay where they are when a column is written.

https://universaldependencies.org/format.html
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from maxmargin.files.messages import column_count, short
from maxmargin.files.text_files import RawText, newlines, read_raw, utf8
from maxmargin.tags.files.columns import Columns, Meaning, intern
from maxmargin.tags.files.reader import Page, interned
from maxmargin.tags.files.writers import (
    check_cell,
    flat_labels,
    split_lines,
    write_columns,
    write_lines,
)

NAMES = (
    "ID",
    "FORM",
    "LEMMA",
    "UPOS",
    "XPOS",
    "FEATS",
    "HEAD",
    "DEPREL",
    "DEPS",
    "MISC",
)
LABEL = "UPOS"  # what is learned unless another column is named
FORM, UPOS, MISC = (NAMES.index(name) for name in ("FORM", "UPOS", "MISC"))
_RANGE = re.compile(rb"([1-9]\d*)-([1-9]\d*)")
_EMPTY = re.compile(rb"(0|[1-9]\d*)\.([1-9]\d*)")
_LOOK = 1 << 16  # bytes of a file that show what it is


def read_conllu(
    path: str | os.PathLike | RawText, encoding: str = "utf-8", label: str | None = None
) -> Columns | tuple[Columns, list[list[str]]]:
    """Read a file of CoNLL-U: its words as `Columns` with the names of its ten columns.

    >>> from maxmargin.files import RawText
    >>> rows = "1\\tdogs\\tdog\\tNOUN", "2\\tbark\\tbark\\tVERB"
    >>> text = "\\n".join(row + "\\t_" * 6 for row in rows)
    >>> columns = read_conllu(RawText(text.encode(), "example"))
    >>> columns.strings("FORM"), columns.strings("UPOS")
    ([['dogs', 'bark']], [['NOUN', 'VERB']])

    With `label`, such as "UPOS", returns X and y for `SequenceTagger`: all columns but
    this one, and its strings. Ready sets of features read FORM, and for parts of speech
    UPOS if neither that nor XPOS is the label (without `label` none, for they may be what
    is to be learned); templates may name any column, as in ``%x[0,LEMMA]``.

    Lines of tokens that are several words (``1-2``), of empty nodes (``8.1``) and comments
    are checked and left out; `write_conllu` keeps them. gzip, line ends of Windows and a
    byte order mark are fine. A ValueError names the file and the line otherwise.
    """
    raw = read_raw(path)
    columns = read_piece(raw._replace(data=utf8(raw, encoding)[0]))
    if columns is None:
        raise ValueError(f"{raw.path} has no word: it is not CoNLL-U, or empty.")
    return columns if label is None else split_label(columns, label)


def split_label(columns: Columns, label: int | str) -> tuple[Columns, list[list[str]]]:
    """(the columns but that of the labels, these)."""
    meaning = meaning_for(label)
    labels = columns.strings(meaning.number(label, len(NAMES), "label"))
    return columns._replace(meaning=meaning).without(label), labels


def meaning_for(label: int | str) -> Meaning:
    """What the ten columns are when this one is learned."""
    meaning = Meaning(NAMES, FORM)
    k = meaning.number(label, len(NAMES), "label")
    if NAMES[k] in ("ID", "FORM"):
        raise ValueError(
            f"The labels cannot be in the column {NAMES[k]}, which says what the tokens "
            "are: choose another one, such as UPOS."
        )
    return meaning if NAMES[k] in ("UPOS", "XPOS") else meaning._replace(tagged=UPOS)


def read_piece(
    raw: RawText, separator: str | None = None, comment: str | None = None
) -> Columns | None:
    """The words of a file, or of a piece of it, in UTF-8; None if there are none.

    The separator and the mark of comments are as in all of CoNLL-U.
    """
    text = newlines(utf8(raw, "utf-8")[0])
    page = page_of(text.split(b"\n"), raw)
    if page is None:
        return None
    found = interned(page, raw, list(range(len(NAMES))))
    return found._replace(meaning=Meaning(NAMES, FORM))


def write_conllu(
    path: str | os.PathLike,
    source: str | os.PathLike | RawText | Columns,
    labels: Sequence[Sequence[Any]] | None = None,
    column: int | str = LABEL,
    encoding: str = "utf-8",
    misc: Sequence[Sequence[str]] | None = None,
) -> None:
    """Write a copy of a file of CoNLL-U with other labels in one column.

    `labels` has a list for every sentence that `read_conllu` finds. All else stays as it
    is, byte for byte: comments, lines of several words and of empty nodes, line ends. With
    `misc`, a string such as "Prob=0.9" for every word, that is added to MISC.

    `source` may also be `Columns` with the ten columns, from memory: they are written
    without comments.
    """
    k = Meaning(NAMES).number(column, len(NAMES), "column")
    if misc is not None and k == MISC:
        raise ValueError(
            "The labels are in MISC, where numbers beside them have no place: leave these "
            "out."
        )
    if isinstance(source, Columns):
        _write_columns(path, source, labels, k, encoding)
        return
    raw = read_raw(source)
    text, mark = utf8(raw, encoding)
    lines, ends = split_lines(text)
    replace_column(lines, raw, labels, k, misc)
    write_lines(path, mark, lines, ends, encoding)


def replace_column(lines: list[bytes], raw: RawText, labels, k: int, misc=None) -> Page:
    """Put labels into column k of the lines that are words."""
    page = page_of(lines, raw)
    if page is None:
        raise ValueError(f"{raw.path} has no word: it is not CoNLL-U, or empty.")
    for column, rows in ((k, labels), (MISC, misc)):
        if rows is None:
            continue
        flat = flat_labels(rows, page.start, raw.path, page.tokens + 1)
        cells = {word: _cell(word) for word in dict.fromkeys(flat)}
        for i, word in zip(page.tokens.tolist(), flat, strict=True):
            row = lines[i].split(b"\t")
            old = row[MISC]
            if rows is misc and old.strip() != b"_":
                row[MISC] = old + b"|" + cells[word]
            else:
                row[column] = cells[word]
            lines[i] = b"\t".join(row)
    return page


def _cell(word: str) -> bytes:
    check_cell(word, "\t", "the label")
    if not word:
        raise ValueError("the label is empty, which CoNLL-U writes as _.")
    return word.encode()


def _write_columns(path, columns: Columns, labels, k: int, encoding: str) -> None:
    if columns.n_columns != len(NAMES):
        raise ValueError(
            f"CoNLL-U has {len(NAMES)} columns, {' '.join(NAMES)}, but these are "
            f"{columns.n_columns}."
        )
    if labels is not None:
        flat = flat_labels(labels, columns.start, "The labels")
        every = [*columns.columns]
        every[k] = intern(flat)
        columns = columns._replace(columns=every)
    write_columns(path, columns, separator="\t", encoding=encoding)


def sentences_of(raw: RawText) -> list[list[bytes]]:
    """All lines of every sentence with words, comments included."""
    lines = newlines(raw.data).split(b"\n")
    page = page_of(lines, raw)
    out = []
    for first in page.tokens[page.start[:-1]].tolist():  # type: ignore[union-attr]
        a = b = first
        while a and lines[a - 1].strip(b" \t"):
            a -= 1
        while b < len(lines) and lines[b].strip(b" \t"):
            b += 1
        out.append(lines[a:b])
    return out


def with_labels(lines: list[bytes], labels: Sequence[Any], k: int) -> list[str]:
    """The lines of one sentence with these labels in column k."""
    lines = list(lines)
    replace_column(lines, RawText(b"", "the sentence"), [labels], k)
    return [line.decode() for line in lines]


# what is CoNLL-U -----------------------------------------------------------------------


def is_conllu(raw: RawText) -> bool:
    """Is a file one of CoNLL-U? Its name says so, or its first sentences do.

    They have ten columns between tabs, the first with 1, 2, 3, ...; sentences of one word
    are not enough, unless there is a comment that only such files have.
    """
    if raw.path.removesuffix(".gz").endswith(".conllu"):
        return True
    head = raw.data[:_LOOK]
    text = newlines(head.removeprefix(b"\xef\xbb\xbf"))
    cut = text.rfind(b"\n\n") if len(raw.data) > _LOOK else -1
    lines = (text if cut < 0 else text[:cut]).split(b"\n")
    said = re.search(rb"^# ?(text|sent_id|newdoc|newpar|global)\b", text, re.M)
    words = 0
    for blank, rows in groupby(lines, lambda line: not line.strip()):
        try:
            page = None if blank else page_of(list(rows), raw)
        except ValueError:
            return False
        words = max(words, 0 if page is None else len(page.tokens))
        if words > 1 or (words and said):
            return True
    return False


class _Sentence(NamedTuple):
    """Where a sentence stands after a line."""

    word: int = 0  # the last word
    node: int = 0  # empty nodes since
    token: int = 0  # the last word of the written token that is open
    opened: int = 0  # its line, from 0


def page_of(lines: list[bytes], raw: RawText) -> Page | None:
    """The lines that are words, with their sentences; None if there are none."""

    def at(i: int) -> str:
        return f"{raw.path}, line {raw.above + i + 1}"

    tokens, start = [], [0]
    word, inside, state = 0, False, _Sentence()
    for i, line in enumerate([*lines, b""]):
        if not line.strip(b" \t"):
            if inside:
                _check_end(state._replace(word=word), at)
                if len(tokens) > start[-1]:
                    start.append(len(tokens))
            word, inside, state = 0, False, _Sentence()
            continue
        if line[:1] == b"#":
            if inside:
                raise ValueError(
                    f"{at(i)}: a comment within a sentence; is the blank line before it "
                    "missing?"
                )
            continue
        inside = True
        if line.count(b"\t") != 9 or b"\t\t" in line or line[-1:] == b"\t":
            raise _not_ten(line, at(i))
        name = line[: line.index(b"\t")]
        if name == b"%d" % (word + 1):
            word += 1
            tokens.append(i)
            if state.node:
                state = state._replace(node=0)
        else:
            state = _other_line(name, state._replace(word=word), i, at)
    if not tokens:
        return None
    text = b"\n".join(lines)
    return Page(text, b"\t", np.array(tokens), np.array(start), len(NAMES), [])


def _other_line(name: bytes, state: _Sentence, i: int, at: Callable) -> _Sentence:
    """After the line of a token of several words, or of an empty node."""
    found = _RANGE.fullmatch(name)
    if found:
        first, last = map(int, found.groups())
        if first != state.word + 1 or last < first:
            raise ValueError(
                f"{at(i)}: the token {_shown(name)} must stand before the word it begins "
                f"with, but the last word was {state.word}."
            )
        if first <= state.token:
            raise ValueError(
                f"{at(i)}: the token {_shown(name)} overlaps with the one before, which "
                f"ends with word {state.token}."
            )
        return state._replace(token=last, opened=i)
    found = _EMPTY.fullmatch(name)
    if found:
        if tuple(map(int, found.groups())) != (state.word, state.node + 1):
            raise ValueError(
                f"{at(i)}: the empty node {_shown(name)} is out of place: "
                f"{state.word}.{state.node + 1} could be here."
            )
        return state._replace(node=state.node + 1)
    hint = ""
    if name == b"1":
        hint = " Is the blank line between two sentences missing?"
    raise ValueError(
        f"{at(i)}: the ID is {_shown(name)}, but the next word is {state.word + 1}.{hint}"
    )


def _check_end(state: _Sentence, at: Callable) -> None:
    if state.token > state.word:
        raise ValueError(
            f"{at(state.opened)}: the token ends with word {state.token}, but the "
            f"sentence with {state.word}."
        )


def _not_ten(line: bytes, place: str) -> ValueError:
    cells = line.split(b"\t")
    if len(cells) == len(NAMES):
        name = NAMES[cells.index(b"")]
        return ValueError(f"{place}: {name} is empty, which CoNLL-U writes as _.")
    hint = ""
    if len(cells) == 1 and len(line.split()) == len(NAMES):
        hint = " Its columns seem to be separated by spaces."
    return ValueError(
        f"{place}: {column_count(len(cells))} between tabs, but CoNLL-U has "
        f"{len(NAMES)}: {short(line.decode(errors='replace'))}.{hint}"
    )


def _shown(name: bytes) -> str:
    return short(name.decode(errors="replace"))
