"""Texts with labels, one per line.

    rec.autos<TAB>Which oil for an old engine?      a tab behind the label
    NUM:count How many moons has Mars ?             or, in files without tabs, a space

The first line decides which of the two a file is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import NamedTuple

from maxmargin.files.messages import short
from maxmargin.files.text_files import RawText, read_text

_SPACES = re.compile(r"[ \t]+")


class Texts(NamedTuple):
    """Lines of a file. Blank lines are left out."""

    labels: list[str] | None  # as written; None if the file has none
    texts: list[str]
    lines: list[int]  # numbers of the lines in the file, from 1
    between: str  # what stands behind labels: "\t" or " "
    path: str

    def where(self, i: int) -> str:
        return f"{self.path}, line {self.lines[i]}"


def read_texts(
    path: str | os.PathLike | RawText,
    between: str | None = None,
    encoding: str = "utf-8",
    empty_labels: bool = False,
) -> Texts:
    """Read texts with their labels.

    ``between`` is the separator after labels, a tab or a space; None looks at the first
    line. A label may be empty, before a tab, if ``empty_labels``. gzip is fine, "-" is
    standard input. Errors are ValueErrors that name the file and the line.
    """
    rows, lines, name = _rows(path, encoding)
    if between is None:
        between = "\t" if "\t" in rows[0] else " "
    labels, texts = [], []
    for row, line in zip(rows, lines, strict=True):
        label, found, text = _split(row, between)
        where = f"{name}, line {line}"
        if not found and between == "\t":
            raise ValueError(
                f"{where}: there is no tab in {short(row)}, but the lines before have one "
                "between the label and the text."
            )
        if not label and not empty_labels:
            raise ValueError(f"{where}: the label is empty; name one before the text.")
        if not text:
            raise ValueError(
                f"{where}: there is no text behind the label {short(label)}; lines are a "
                "label, a tab and a text."
            )
        labels.append(label)
        texts.append(text)
    return Texts(labels, texts, lines, between, name)


def read_new_texts(
    path: str | os.PathLike | RawText,
    between: str,
    is_label: Callable[[str], bool],
    encoding: str = "utf-8",
) -> Texts:
    """Read texts for prediction, with or without labels in front.

    Labels are there if every line has a tab, where the training file had tabs; else if
    the first word of every line is a label (``is_label``).
    """
    rows, lines, name = _rows(path, encoding)
    parts = [_split(row, between) for row in rows]
    if between == "\t":
        with_tab = [bool(found) for _, found, _ in parts]
        labelled = all(with_tab)
        if any(with_tab) and not labelled:
            at = with_tab.index(not with_tab[0])
            others, here = ("no", "one") if with_tab[at] else ("a", "none")
            raise ValueError(
                f"{name}, line {lines[at]}: some lines have {others} tab and this one has "
                f"{here}; labels must be everywhere or nowhere."
            )
    else:
        labelled = all(text and is_label(label) for label, _, text in parts)
    if not labelled:
        return Texts(None, [row.strip() for row in rows], lines, between, name)
    labels, texts = [p[0] for p in parts], [p[2] for p in parts]
    return Texts(labels, texts, lines, between, name)


def _rows(path, encoding) -> tuple[list[str], list[int], str]:
    data, name = read_text(path, encoding)
    rows, lines = [], []
    for i, row in enumerate(data.decode().split("\n"), 1):
        if row.strip():
            rows.append(row)
            lines.append(i)
    if not rows:
        raise ValueError(f"{name} has no texts: all of it is blank.")
    return rows, lines, name


def _split(row: str, between: str) -> tuple[str, str, str]:
    """(label, what was between, text)."""
    if between == "\t":
        label, found, text = row.partition("\t")
        return label.strip(), found, text.strip()
    label, *more = _SPACES.split(row.strip(), maxsplit=1)
    return label, " " if more else "", more[0] if more else ""
