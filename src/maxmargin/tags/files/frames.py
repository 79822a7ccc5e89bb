"""Tokens in data frames of pandas: a row per token."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.core.listed import listed
from maxmargin.core.objects import is_frame
from maxmargin.files.messages import kind_of
from maxmargin.tags.files.columns import Columns, Meaning, columns_from

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]


def read_frame(
    frame: pd.DataFrame,
    sentence: Any = "sentence",
    label: Any = "label",
    columns: Sequence | None = None,
) -> tuple[Columns, list[list] | None]:
    """(X, y) of a table with a row per token.

    Parameters
    ----------
    frame : pandas.DataFrame
    sentence : name of the column that says which sentence a token is in
        Rows of one sentence stand together.
    label : name of the column of the labels, or None: then y is None
    columns : names of the columns that templates read, or None for all others
        The words first, then parts of speech if there are some, as ready features have it.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sentence": [1, 1, 2], "word": ["the", "dog", "bark"],
    ...                       "label": ["D", "N", "V"]})
    >>> X, y = read_frame(frame)
    >>> X.names, X.strings("word"), y
    (('word',), [['the', 'dog'], ['bark']], [['D', 'N'], ['V']])
    """
    start = _starts(frame, sentence)
    given = [sentence] if label is None else [sentence, label]
    if columns is None:
        columns = [name for name in frame.columns if name not in given]
    if isinstance(columns, str) or not len(columns):
        raise ValueError(
            f"columns={columns!r} must be a list of names of columns, at least that of "
            "the words."
        )
    cells = [list(map(str, _values(frame, name))) for name in columns]
    rows = list(zip(*cells, strict=True))
    X = columns_from([rows[a:b] for a, b in pairwise(start)])
    X = X._replace(meaning=named(columns))
    if label is None:
        return X, None
    labels = _values(frame, label)
    return X, [labels[a:b] for a, b in pairwise(start)]


def frame_column(
    frame: pd.DataFrame, y: Sequence[Sequence], sentence: Any = "sentence"
) -> pd.Series:
    """Label sequences as a column of the frame that X was read from.

    ``frame.assign(predicted=frame_column(frame, tagger.predict(X)))`` adds it.
    """
    sizes = np.diff(_starts(frame, sentence)).tolist()
    whole = f"the frame has {len(sizes)} sentences"
    y = fitting_labels(y, sizes, whole, "sentence {} of the frame")
    pandas = importlib.import_module("pandas")
    return pandas.Series([z for labels in y for z in labels], index=frame.index)


def fitting_labels(y: Any, sizes: list[int], whole: str, one: str) -> list:
    """Label sequences as a list, with a label for each of so many tokens."""
    y = listed(y, "y must be a list of label sequences, as predict returns them.")
    if len(y) != len(sizes):
        raise ValueError(
            f"{whole}, but y has {len(y)} label sequences: give one for each."
        )
    for i, (labels, n) in enumerate(zip(y, sizes, strict=True)):
        if len(labels) != n:
            raise ValueError(
                f"{one.format(i)} has {n} tokens, but y[{i}] has {len(labels)} labels: "
                "give one label per token."
            )
    return y


def named(columns: Sequence) -> Meaning:
    """What columns mean whose first one has words, the second one parts of speech."""
    return Meaning(tuple(map(str, columns)), tagged=1 if len(columns) > 1 else None)


def tokens_of(frames: Sequence[pd.DataFrame]) -> list:
    """Frames, one per sentence, as lists of dicts; tables of numbers stay what they are."""
    _check_alike(frames)
    if all(dtype.kind in "biuf" for frame in frames for dtype in frame.dtypes):
        return list(frames)
    found = []
    for i, frame in enumerate(frames):
        names = list(map(str, frame.columns))
        cells = [_values(frame, name, f"sequence {i}") for name in frame.columns]
        found.append([dict(zip(names, row, strict=True)) for row in zip(*cells)])  # noqa: B905
    return found


def columns_of(frames: Sequence[pd.DataFrame]) -> Columns:
    """Frames, one per sentence, as columns with their names."""
    _check_alike(frames)
    rows = []
    for i, frame in enumerate(frames):
        cells = [
            map(str, _values(frame, name, f"sequence {i}")) for name in frame.columns
        ]
        rows.append(list(zip(*cells, strict=True)))
    return columns_from(rows)._replace(meaning=named(frames[0].columns))


def _check_alike(frames: Sequence) -> None:
    for i, frame in enumerate(frames):
        if not is_frame(frame):
            raise ValueError(
                f"sequence {i} is {kind_of(frame)}, but others are data frames: give all "
                "sequences in one form."
            )
        if list(frame.columns) != list(frames[0].columns):
            raise ValueError(
                f"sequence {i} has the columns {_names(frame)}, but sequence 0 has "
                f"{_names(frames[0])}: all frames need the same columns."
            )


def _names(frame: Any) -> str:
    return ", ".join(map(str, frame.columns)) or "none"


def _starts(frame: Any, sentence: Any) -> list[int]:
    """Where sentences begin, and where the last one ends."""
    if not is_frame(frame):
        raise ValueError(f"frame is {kind_of(frame)}: give a pandas.DataFrame.")
    if not len(frame):
        raise ValueError("the frame has no rows: at least one token is needed.")
    numbers = _values(frame, sentence)
    start, seen = [0], {numbers[0]}
    for t in range(1, len(numbers)):
        if numbers[t] == numbers[t - 1]:
            continue
        if numbers[t] in seen:
            raise ValueError(
                f"row {t} is of sentence {numbers[t]!r} again, after others: rows of one "
                f"sentence must stand together, as after frame.sort_values({sentence!r}, "
                'kind="stable").'
            )
        seen.add(numbers[t])
        start.append(t)
    return [*start, len(numbers)]


def _values(frame: Any, name: Any, where: str = "the frame") -> list:
    """A column as a list, in which nothing is missing."""
    if name not in frame.columns:
        raise ValueError(f"{where} has no column {name!r}; it has {_names(frame)}.")
    column = frame[name]
    if is_frame(column):
        raise ValueError(f"{where} has several columns called {name!r}: rename them.")
    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise ValueError(
            f"{where} has no value in row {missing[0]} of column {name!r}: fill it in. "
            "(pandas.read_csv takes words such as NA and null for missing values, unless "
            "keep_default_na=False; where a sentence is named at its first token only, "
            "use ffill().)"
        )
    return column.tolist()
