"""Tables of numbers with a column of classes, as spreadsheets write them.

    width,height,kind            the names may be missing
    1.5,0.2,eel
    "2.25",0.9,"flounder, young"

Cells are separated by commas, and quoted as in RFC 4180. The classes are the last column,
or the one that is named. In other files for the same model, columns are found by their
names, where there are names, and the classes may be missing.
"""

from __future__ import annotations

import csv
import io
import math
import os
from array import array
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.checks import one_of
from maxmargin.files.messages import column_count, short
from maxmargin.files.text_files import RawText, read_text

HEADERS = ("auto", "yes", "no")


class CsvColumns(NamedTuple):
    """What the columns of a table are; ``names`` and ``label`` are None without names."""

    n: int  # columns of numbers
    names: list[str] | None = None
    label: str | None = None

    def state(self) -> dict[str, Any]:
        return self._asdict()

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> CsvColumns:
        """The columns of a model file; ValueError if they are none."""
        given = state if isinstance(state, dict) else {}
        n, names, label = map(given.get, cls._fields)
        texts = [label] if names is None or label is not None else []
        texts += names if isinstance(names, list) else [names]
        named = all(type(text) is str for text in texts)
        if type(n) is not int or not (named or names is label is None):
            raise ValueError("the model's columns are not valid: train it again.")
        return cls(n, names, label)


class CsvTable(NamedTuple):
    """Numbers of a file, and its classes as written (None if there are none)."""

    X: np.ndarray
    labels: list[str] | None
    lines: list[int]  # where the rows begin in the file, from 1
    path: str
    columns: CsvColumns

    def where(self, i: int) -> str:
        return f"{self.path}, line {self.lines[i]}"


def read_csv(
    path: str | os.PathLike | RawText,
    label: str | None = None,
    header: str = "auto",
    encoding: str = "utf-8",
    like: CsvColumns | None = None,
    truth: bool = True,
) -> CsvTable:
    """Read a table; every column except that of the classes holds numbers.

    ``label`` names the column of classes (default: the last). The first row has names if
    ``header`` is "yes", or "auto" and none of its cells, that of the class aside, is a
    number. ``like`` are the columns of the training data, when other data for the same
    model are read; then ``label`` and ``header`` are known, columns of other names are
    passed over, and without ``truth`` there need be no classes. gzip is fine, "-" is
    standard input. Errors are ValueErrors that name the file and the line.
    """
    one_of("header", header, HEADERS)
    text, name = read_text(path, encoding)
    rows = _rows(text.decode(), name)
    line, first = next(rows, (0, []))
    if not first:
        raise ValueError(f"{name} has no rows: all of it is blank.")
    if like is not None:
        has_names = like.names is not None
    else:
        has_names = header == "yes" or label is not None
        if header == "auto" and not has_names:
            has_names = len(first) > 1 and not any(map(_number, first[:-1]))
    where = f"{name}, line {line}"
    if like is None:
        columns, numbers, place = _learned(first, has_names, label, where)
    else:
        columns = like
        numbers, place = _found(like, first, where, truth)  # type: ignore[assignment]
    values, labels, lines = array("d"), [], []
    if not has_names:
        rows = _again((line, first), rows)
    for line, row in rows:
        where = f"{name}, line {line}"
        if len(row) != len(first):
            raise ValueError(
                f"{where}: it has {column_count(len(row))}, but the first row has "
                f"{len(first)}."
            )
        try:
            values.extend([_read(row[j]) for j in numbers])
        except ValueError:
            _complain(row, numbers, where, lines)
        if place is not None:
            if truth and not row[place]:
                raise ValueError(f"{where}: its class is empty.")
            labels.append(row[place])
        lines.append(line)
    if not lines:
        raise ValueError(f"{name} has names of columns, but no rows.")
    X = np.frombuffer(values, float).reshape(len(lines), len(numbers))
    for i in np.flatnonzero(~np.isfinite(X).all(axis=1))[:1].tolist():
        j = int(np.flatnonzero(~np.isfinite(X[i]))[0])
        raise ValueError(
            f"{name}, line {lines[i]}: column {numbers[j] + 1}, {X[i, j]:g}, is not a "
            "finite number; correct it or leave out the row."
        )
    return CsvTable(X, None if place is None else labels, lines, name, columns)


def _again(row, rows) -> Iterator[tuple[int, list[str]]]:
    yield row
    yield from rows


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """(number of the first line, cells without spaces around them) of every row."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(
                f"{name}, line {line}: the row cannot be read ({error}); check its quotes."
            ) from None
        cells = [cell.strip() for cell in row]
        if len(cells) > 1 or any(cells):
            yield line, cells


def _read(cell: str) -> float:
    """The number; 1_000, which Python reads as one, is none elsewhere."""
    if "_" in cell:
        raise ValueError
    return float(cell)


def _number(cell: str) -> bool:
    try:
        return not math.isnan(_read(cell))
    except ValueError:
        return not cell  # an empty cell is a number that is missing


def _learned(first, has_names, label, where) -> tuple[CsvColumns, list[int], int]:
    """(columns, places of numbers, place of the class) of a table to learn from."""
    width = len(first)
    if width < 2:
        raise ValueError(
            f"{where}: there is one column; a row has numbers and a class, separated by "
            "commas."
        )
    if not has_names:
        return CsvColumns(width - 1), list(range(width - 1)), width - 1
    twice = [name for name, n in Counter(first).items() if n > 1]
    if twice:
        raise ValueError(
            f"{where}: two columns have the name {short(twice[0])}; rename one, or say "
            "header='no' if these are no names."
        )
    label = first[-1] if label is None else label
    if label not in first:
        raise ValueError(
            f"{where}: there is no column {short(label)}; there are "
            f"{short(', '.join(first))}."
        )
    place = first.index(label)
    numbers = [j for j in range(width) if j != place]
    return CsvColumns(len(numbers), [first[j] for j in numbers], label), numbers, place


def _found(like: CsvColumns, first, where, truth) -> tuple[list[int], int | None]:
    """Where a table has the columns of the training data."""
    if like.names is None:
        if len(first) not in (like.n, like.n + 1):
            raise ValueError(
                f"{where}: it has {column_count(len(first))}, but the model knows "
                f"{column_count(like.n)} of numbers and one of classes behind them."
            )
        place = like.n if len(first) > like.n else None
        numbers = list(range(like.n))
    else:
        places = {name: j for j, name in reversed(list(enumerate(first)))}
        missing = [name for name in like.names if name not in places]
        if missing:
            raise ValueError(
                f"{where}: {column_count(len(missing))} of the training data are not "
                f"there, such as {short(missing[0])}; the first row must have the names."
            )
        place = places.get(like.label)
        numbers = [places[name] for name in like.names]
    if truth and place is None:
        column = "the last column" if like.label is None else short(like.label)
        raise ValueError(f"{where}: the classes, {column}, are missing.")
    return numbers, place


def _complain(row, numbers, where, before) -> None:
    """Say which cell of a row is not a number."""
    for j in numbers:
        try:
            _read(row[j])
        except ValueError:
            at = f"{where}: column {j + 1}"
            if not row[j]:
                raise ValueError(
                    f"{at} is empty; fill it in or leave out the row."
                ) from None
            hint = "" if before else "; if these are names of columns, say header='yes'"
            raise ValueError(f"{at}, {short(row[j])}, is not a number{hint}.") from None
