"""Text with a label after every word, as in the Brown corpus: ``The/at dog/nn barks/vbz``.

A line is a sentence; blank lines are left out. What follows the last separator of a token
is its label, so that words may contain it (``1/2/cd``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.files.messages import short
from maxmargin.files.text_files import RawText, newlines, read_raw, utf8, write_text
from maxmargin.tags.files.columns import Columns, intern
from maxmargin.tags.files.writers import check_row, plain_labels

SEPARATOR = "/"


def read_slashed(
    path: str | os.PathLike | RawText,
    encoding: str = "utf-8",
    separator: str = SEPARATOR,
) -> Columns:
    """Read sentences, one per line, whose words have a label after a slash.

    >>> from maxmargin.files import RawText
    >>> columns = read_slashed(RawText(b"The/at dog/nn barks/vbz", "example"))
    >>> columns.strings(0), columns.strings(1)
    ([['The', 'dog', 'barks']], [['at', 'nn', 'vbz']])

    Where no word has a label there is one column, the words. ``separator="_"`` reads
    ``The_at``. gzip, line ends of Windows and a byte order mark are fine. A ValueError
    names the file and the line otherwise.
    """
    raw = read_raw(path)
    columns = read_piece(raw._replace(data=utf8(raw, encoding)[0]), separator)
    if columns is None:
        raise ValueError(f"{raw.path} has no word: all of its lines are blank.")
    return columns


def read_piece(
    raw: RawText, separator: str | None = None, comment: str | None = None
) -> Columns | None:
    """The tokens of a file, or of a piece of it, in UTF-8; None if there are none."""
    if comment is not None:
        raise ValueError(
            f"comment={comment!r} is not possible: text with a label after every word has "
            "no comments."
        )
    between = _checked(SEPARATOR if separator is None else separator)
    text = newlines(utf8(raw, "utf-8")[0]).decode()
    rows = [(n, line.split()) for n, line in enumerate(text.split("\n"), raw.above + 1)]
    rows = [(n, tokens) for n, tokens in rows if tokens]
    if not rows:
        return None
    tokens = [token for _, row in rows for token in row]
    lines = np.repeat([n for n, _ in rows], [len(row) for _, row in rows])
    pairs = [token.rpartition(between) for token in tokens]
    if any(found for _, found, _ in pairs):
        for (word, _, label), token, n in zip(pairs, tokens, lines, strict=True):
            if not word or not label:
                raise ValueError(
                    f"{raw.path}, line {n}: {short(token)} is no word with a label after "
                    f"{between!r}, as other tokens of the file are."
                )
        columns = [intern([w for w, _, _ in pairs]), intern([z for *_, z in pairs])]
    else:
        columns = [intern(tokens)]
    start = np.cumsum([0, *(len(row) for _, row in rows)])
    return Columns(start.astype(np.int64), columns, lines, raw.path)


def written(words: Sequence[str], labels: Sequence, separator: str = SEPARATOR) -> str:
    """A sentence with its labels."""
    return " ".join(
        word + separator + str(label) for word, label in zip(words, labels, strict=True)
    )


def write_slashed(
    path: str | os.PathLike,
    X: Sequence[Sequence[str]],
    y: Sequence[Sequence[Any]],
    encoding: str = "utf-8",
    separator: str = SEPARATOR,
) -> None:
    """Write sentences of words and their labels, as `read_slashed` reads them.

    A path that ends in .gz is compressed, "-" is standard output. A file appears whole or
    not at all.
    """
    sentences, labels = list(X), list(y)
    _checked(separator)
    if len(sentences) != len(labels):
        raise ValueError(f"X has {len(sentences)} sentences, but y has {len(labels)}.")
    plain_labels(labels)
    lines = []
    for i, (words, own) in enumerate(zip(sentences, labels, strict=True)):
        check_row(f"sentence {i}", len(words), len(own), "words")
        for t, (word, label) in enumerate(zip(words, map(str, own), strict=True)):
            for what, text in (("word", word), ("label", label)):
                if (
                    not isinstance(text, str)
                    or len(text.split()) != 1
                    or text.strip() != text
                ):
                    raise ValueError(
                        f"sentence {i}, token {t}: the {what} {short(str(text))} is empty "
                        "or has a space in it, which ends a token: replace it."
                    )
            if separator in label:
                raise ValueError(
                    f"sentence {i}, token {t}: the label {short(label)} contains "
                    f"{separator!r}, which comes before labels: choose another separator."
                )
        lines.append(written(words, own, separator))
    write_text(path, "\n".join([*lines, ""]), encoding)


def _checked(separator: str) -> str:
    if (
        not isinstance(separator, str)
        or not separator
        or separator.split() != [separator]
    ):
        raise ValueError(
            f"separator={separator!r} is not possible: it must be a string without spaces, "
            "such as '/' or '_'."
        )
    return separator
