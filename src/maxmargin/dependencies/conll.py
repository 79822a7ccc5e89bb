"""Treebanks: CoNLL-U, and CoNLL-X, which has its columns in the same places.

Tokens of several words, empty nodes and comments, which only CoNLL-U has, stay where they
are in copies. A head that is ``_`` is not known; so is a label, if all of them are.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from maxmargin.core.checks import one_of
from maxmargin.dependencies.input import check_tree
from maxmargin.dependencies.svg import unpacked
from maxmargin.files.text_files import (
    RawText,
    encode_text,
    newlines,
    read_raw,
    utf8,
    write_raw,
)
from maxmargin.tags.files.conllu import NAMES, page_of, replace_column
from maxmargin.tags.files.writers import split_lines, write_lines

TAGS = ("auto", "UPOS", "XPOS")  # CPOSTAG and POSTAG of CoNLL-X
NOTHING = "_"
FORM, UPOS, XPOS, HEAD, DEPREL = (
    NAMES.index(name) for name in ("FORM", "UPOS", "XPOS", "HEAD", "DEPREL")
)


class Treebank(NamedTuple):
    """Sentences of (word, tag), heads (or (head, label); None if unknown), the file."""

    X: list[list[tuple[str, str]]]
    y: list[list]
    raw: RawText
    lines: list[list[int]]  # of the words, from 1
    tags: str  # the column that they are from


def read_dependencies(
    path: str | os.PathLike | RawText, tags: str = "auto", encoding: str = "utf-8"
) -> tuple[list, list]:
    """Read a treebank in CoNLL-U or CoNLL-X: X and y for `DependencyParser`.

    Parameters
    ----------
    path : a file, "-" or RawText
        gzip, line ends of Windows and a byte order mark are fine.
    tags : {"auto", "UPOS", "XPOS"}
        The column of the tags; "auto" is XPOS, or UPOS if no word has one. In CoNLL-X
        these columns are CPOSTAG and POSTAG.

    >>> from maxmargin.files import RawText
    >>> rows = ["1", "dogs", "_", "NOUN", "NNS", "_", "2", "nsubj", "_", "_"], [
    ...         "2", "bark", "_", "VERB", "VBP", "_", "0", "root", "_", "_"]
    >>> text = "\\n".join(map("\\t".join, rows))
    >>> read_dependencies(RawText(text.encode(), "example"))
    ([[('dogs', 'NNS'), ('bark', 'VBP')]], [[(2, 'nsubj'), (0, 'root')]])
    """
    found = read_treebank(path, tags, encoding)
    return found.X, found.y


def read_treebank(
    path: str | os.PathLike | RawText,
    tags: str = "auto",
    encoding: str = "utf-8",
    truth: bool = True,
) -> Treebank:
    """The same with the places of words; without the truth heads are not looked at."""
    one_of("tags", tags, TAGS)
    raw = read_raw(path)
    raw = raw._replace(data=newlines(utf8(raw, encoding)[0]))
    rows = raw.data.split(b"\n")
    page = page_of(rows, raw)
    if page is None:
        raise ValueError(f"{raw.path} has no word: it is no treebank, or empty.")
    places = page.tokens.tolist()
    cells = [rows[k].decode().split("\t") for k in places]
    if tags == "auto":
        tags = "XPOS" if any(row[XPOS] != NOTHING for row in cells) else "UPOS"
    column = XPOS if tags == "XPOS" else UPOS
    ends = list(pairwise(page.start.tolist()))
    X = [[(row[FORM], row[column]) for row in cells[a:b]] for a, b in ends]
    lines = [[k + raw.above + 1 for k in places[a:b]] for a, b in ends]
    y: list[list] = []
    if truth:
        labelled = any(row[DEPREL] != NOTHING for row in cells)
        for (a, b), numbers in zip(ends, lines, strict=True):
            where = [f"{raw.path}, line {number}" for number in numbers]
            heads = [
                _head(row, b - a, at) for row, at in zip(cells[a:b], where, strict=True)
            ]
            check_tree([-1 if h is None else h for h in heads], where[0])
            names = [row[DEPREL] for row in cells[a:b]]
            y.append(
                [
                    (h, name) if labelled and h is not None else h
                    for h, name in zip(heads, names, strict=True)
                ]
            )
    return Treebank(X, y, raw, lines, tags)


def _head(row: list[str], n: int, where: str) -> int | None:
    text = row[HEAD]
    if text == NOTHING:
        return None
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{where}: the head {text!r} is no number, and not _.")
    if int(text) > n:
        raise ValueError(
            f"{where}: the head is {text}, but the sentence has {n} words."
        )
    return int(text)


def write_dependencies(
    path: str | os.PathLike,
    X: Any,
    y: Any,
    source: str | os.PathLike | RawText | None = None,
    encoding: str = "utf-8",
    misc: Sequence[Sequence[str]] | None = None,
) -> None:
    """Write heads and labels as CoNLL-U, or into a copy of the file ``source``.

    A copy keeps all but HEAD and DEPREL byte for byte. ``misc`` has a text for each word,
    such as "Prob=0.9", that is added to MISC. Unlabelled heads leave ``_`` as DEPREL.
    """
    pairs = [unpacked(row) for row in y]
    heads = [[str(head) for head in row] for row, _ in pairs]
    labels = [[label or NOTHING for label in row] for _, row in pairs]
    if source is None:
        blocks = [
            "\n".join(conllu_lines(x, row, misc and misc[i]))
            for i, (x, row) in enumerate(zip(X, y, strict=True))
        ]
        text = "".join(f"{block}\n\n" for block in blocks)
        write_raw(path, encode_text(text, os.fsdecode(path), encoding))
        return
    raw = read_raw(source)
    text_of, mark = utf8(raw, encoding)
    lines, ends = split_lines(text_of)
    replace_column(lines, raw, heads, HEAD, misc)
    replace_column(lines, raw, labels, DEPREL)
    write_lines(path, mark, lines, ends, encoding)


def conllu_lines(sentence: Any, output: Any, misc: Any = None) -> list[str]:
    """A sentence with its heads as lines of ten columns; the tags are XPOS."""
    heads, labels = unpacked(output)
    misc = misc or [NOTHING] * len(heads)
    return [
        f"{m}\t{word}\t_\t_\t{tag}\t_\t{head}\t{label or NOTHING}\t_\t{more}"
        for m, ((word, tag), head, label, more) in enumerate(
            zip(sentence, heads, labels, misc, strict=True), 1
        )
    ]
