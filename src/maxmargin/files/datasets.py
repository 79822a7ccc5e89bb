"""``Dataset`` of Hugging Face's `datasets`: inputs and outputs from its columns, and back.

Anything with ``features`` and dicts as rows is accepted; the library is not imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from maxmargin.files.messages import kind_of

HIDDEN = -1  # the number of a label that is not told, as test sets have it


def read_dataset(
    dataset: Any, inputs: str | Sequence[str] = "text", labels: str | None = "label"
) -> tuple[list, list | None]:
    """(X, y) from columns of a ``Dataset`` or ``IterableDataset``.

    Parameters
    ----------
    dataset : datasets.Dataset, one split
    inputs : name of a column, or names of several
        A column of texts or numbers is taken as it is. A column of lists is one of
        sentences: their tokens become rows, (token,), for templates and ready features;
        several such columns, as in ("tokens", "pos_tags"), are the columns of these rows.
    labels : name of the column of the outputs, or None: then y is None
        Numbers of a ``ClassLabel`` become its names, and -1 None: not known.
    """
    features = _features(dataset)
    names = [inputs] if isinstance(inputs, str) else list(inputs)
    if not names:
        raise ValueError("inputs is empty: name a column.")
    for name in names if labels is None else [*names, labels]:
        if name not in features:
            raise ValueError(
                f"the data set has no column {name!r}; it has {', '.join(features)}."
            )
    X = [_named(_column(dataset, name), features[name]) for name in names]
    y = None if labels is None else _column(dataset, labels)
    if not X[0]:
        raise ValueError("the data set has no rows: at least one is needed.")
    if y is not None:
        y = _named(y, features[labels])
    if not isinstance(X[0][0], (list, tuple)):
        if len(X) > 1:
            raise ValueError(
                f"inputs={inputs!r} are several columns, which must hold lists of tokens, "
                f"but {names[0]!r} does not."
            )
        return X[0], y
    rows = [_rows(i, cells, names) for i, cells in enumerate(zip(*X, strict=True))]
    for i, (row, found) in enumerate(zip(rows, y or [], strict=False)):
        if isinstance(found, (list, tuple)) and len(found) != len(row):
            raise ValueError(
                f"row {i} of the data set: {names[0]!r} has {len(row)} tokens, but "
                f"{labels!r} has {len(found)}: give as many."
            )
    return rows, y


def dataset_column(dataset: Any, y: Iterable, labels: str = "label") -> list:
    """Predictions as ``dataset.add_column`` takes them.

    Where the column ``labels`` has a ``ClassLabel``, names become its numbers: give
    ``feature=dataset.features[labels]`` to `add_column` too, and they are shown as names.
    """
    features = _features(dataset)
    if labels not in features:
        raise ValueError(
            f"the data set has no column {labels!r}; it has {', '.join(features)}."
        )
    found = [_plain(row) for row in y]
    n = getattr(dataset, "num_rows", len(found))
    if len(found) != n:
        raise ValueError(
            f"the data set has {n} rows, but y has {len(found)}: give one output for each."
        )
    known = _names(features[labels])
    if known is None:
        return found
    number = {name: k for k, name in enumerate(known)} | {None: HIDDEN}
    try:
        return [
            [number[z] for z in row] if isinstance(row, list) else number[row]
            for row in found
        ]
    except KeyError as error:
        raise ValueError(
            f"y holds {error.args[0]!r}, which is no label of column {labels!r}: it has "
            f"{', '.join(known)}."
        ) from None


def _features(dataset: Any) -> Mapping:
    if isinstance(dataset, Mapping) and dataset:  # a DatasetDict
        splits = ", ".join(map(str, dataset))
        raise ValueError(
            f"dataset is {kind_of(dataset)} with {splits}: choose one of these, as in "
            f"dataset[{next(iter(dataset))!r}]."
        )
    features = getattr(dataset, "features", None)
    if not isinstance(features, Mapping):
        raise ValueError(
            f"dataset is {kind_of(dataset)} without features: give a Dataset of Hugging "
            "Face's datasets."
        )
    return features


def _column(dataset: Any, name: str) -> list:
    if hasattr(dataset, "num_rows"):  # a Dataset reads one column alone
        return list(dataset[name])
    return [row[name] for row in dataset]


def _names(feature: Any) -> list[str] | None:
    """The names of a ``ClassLabel``, or of a list of them."""
    return getattr(getattr(feature, "feature", feature), "names", None)


def _named(values: list, feature: Any) -> list:
    names = _names(feature)
    if names is None:
        return values

    def name(z: Any) -> Any:
        return None if z is None or z == HIDDEN else names[z]

    return [
        list(map(name, value)) if isinstance(value, (list, tuple)) else name(value)
        for value in values
    ]


def _rows(i: int, cells: tuple, names: list[str]) -> list[tuple]:
    """A sentence: a tuple for every token."""
    for name, cell in zip(names, cells, strict=True):
        if not isinstance(cell, (list, tuple)):
            raise ValueError(
                f"row {i} of the data set: column {name!r} is {kind_of(cell)}, but it must "
                "be a list of tokens."
            )
        if len(cell) != len(cells[0]):
            raise ValueError(
                f"row {i} of the data set: {names[0]!r} has {len(cells[0])} tokens, but "
                f"{name!r} has {len(cell)}: give as many."
            )
        if None in cell:
            raise ValueError(
                f"row {i} of the data set: token {list(cell).index(None)} of {name!r} is "
                "missing."
            )
    return list(zip(*cells, strict=True))


def _plain(row: Any) -> Any:
    """An output without types of numpy, which is a list where it is a sequence."""
    row = row.tolist() if hasattr(row, "tolist") else row
    return list(row) if isinstance(row, (list, tuple)) else row
