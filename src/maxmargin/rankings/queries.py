"""Documents and the queries that they answer, as estimators and metrics take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

MAX_GRADE = 60  # 2^grade is a gain
COLUMN = "qid"  # of a DataFrame


class Documents(NamedTuple):
    """Rows of features with the queries of the rows: X and qid in one."""

    X: Any
    qid: Any

    @property
    def shape(self) -> tuple[int, int]:
        return np.shape(self.X)

    def select(self, chosen) -> Documents:
        return Documents(self.X[chosen], np.asarray(self.qid)[chosen])


class Grouping(NamedTuple):
    """Which documents belong together: those of query i are order[first[i] : first[i + 1]].

    Queries are in the order in which they first appear, documents as they stand.
    """

    names: np.ndarray
    order: np.ndarray
    first: np.ndarray

    def __iter__(self) -> Iterator[np.ndarray]:  # type: ignore[override]
        return iter(np.split(self.order, self.first[1:-1]))


def unpack(X, qid) -> tuple[Any, Any]:
    """(X, qid), where X may be Documents, or a DataFrame with a column "qid".

    That column is never a feature, also where qid is given beside it.
    """
    if isinstance(X, Documents):
        return X.X, X.qid if qid is None else qid
    if hasattr(X, "iloc") and COLUMN in getattr(X, "columns", ()):
        column = X[COLUMN]
        if getattr(column, "ndim", 1) != 1:
            raise ValueError(f"X has several columns {COLUMN!r}: keep one of them.")
        qid = column.to_numpy() if qid is None else qid
        return X.drop(columns=COLUMN), qid
    return X, qid


def group(qid, n: int) -> Grouping:
    """The documents of every query; they need not stand together."""
    if qid is None:
        raise ValueError(
            "qid is missing: give the query of every document, as in fit(X, y, qid), or "
            "as a column 'qid' of a DataFrame X."
        )
    try:
        names = np.asarray(qid)
    except ValueError:
        names = np.zeros((0, 0))
    if names.shape != (n,):
        raise ValueError(
            f"qid has shape {names.shape}, but there are {n} documents: give one query "
            "for each."
        )
    bad = _bad_name(names)
    if bad is not None:
        raise ValueError(
            f"qid[{bad}] is {names[bad]!r}: queries are named by whole numbers or texts."
        )
    unique, at, number = np.unique(names, return_index=True, return_inverse=True)
    rank = np.empty(len(unique), np.int64)
    by_appearance = np.argsort(at, kind="stable")
    rank[by_appearance] = np.arange(len(unique))
    number = rank[number]
    first = np.zeros(len(unique) + 1, np.int64)
    np.cumsum(np.bincount(number, minlength=len(unique)), out=first[1:])
    order = np.argsort(number, kind="stable")
    return Grouping(unique[by_appearance], order, first)


def _bad_name(names) -> int | None:
    """The first that names no query."""
    if names.dtype.kind in "iuUS":
        return None
    if names.dtype.kind == "f":
        bad = np.flatnonzero(~np.isfinite(names) | (names != np.round(names)))
        return int(bad[0]) if len(bad) else None
    kinds = {str} if len(names) and isinstance(names[0], str) else {int}
    for i, name in enumerate(names):
        if type(name) not in kinds:
            return i
    return None


def check_grades(y, n: int) -> np.ndarray:
    """Grades as floats: one per document, finite; negative ones only where none gains."""
    if y is None:
        raise ValueError("y is missing: give the grade of every document.")
    try:
        grades = np.asarray(y)
        if grades.dtype.kind not in "biufO":
            raise TypeError
        grades = grades.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            "y holds something that is not a number: give the grade of every document, "
            "0 for those that are not relevant."
        ) from None
    if grades.shape != (n,):
        raise ValueError(
            f"y has shape {grades.shape}, but X has {n} documents: give one grade for each."
        )
    bad = np.flatnonzero(~np.isfinite(grades) | (np.abs(grades) > MAX_GRADE))
    if len(bad):
        raise ValueError(
            f"y[{bad[0]}] is {grades[bad[0]]}: grades are finite numbers of at most "
            f"{MAX_GRADE}, such as 0, 1 and 2."
        )
    return grades


def gains(grades) -> np.ndarray:
    """2^grade - 1, and 0 for grades below 0."""
    return np.exp2(np.maximum(grades, 0.0)) - 1.0
