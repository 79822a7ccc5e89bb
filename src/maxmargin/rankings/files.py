"""Documents for ranking: LETOR and SVM-light with qid, one document per line.

    GRADE qid:QUERY FEATNUM:FEATVAL FEATNUM:FEATVAL ... #comment

Grades are numbers. Features are numbered from 1 and come in increasing order; those that
are not named are 0. The documents of a query stand together. Comments, which in LETOR name
the document, are kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.files.messages import short
from maxmargin.files.number_pairs import pairs_of
from maxmargin.files.text_files import RawText, read_text, write_raw

if TYPE_CHECKING:
    import scipy.sparse as sp

# Lines whose numbers can be read all at once, if they are numbers.
_PLAIN = re.compile(rb"\s*[^\s:]+\s+qid:\d{1,15}(?:\s+\d{1,9}:[^\s:]+)*\s*")
_GRADE = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


class LetorFile(NamedTuple):
    """Rows of a file: features, grades, queries, comments."""

    X: sp.csr_matrix
    y: np.ndarray
    qid: np.ndarray  # whole numbers if all queries are, else texts
    comments: list[str]
    lines: np.ndarray  # numbers of the lines in the file, from 1
    path: str

    def where(self, i: int) -> str:
        return f"{self.path}, line {self.lines[i]}"


def read_letor(
    path: str | os.PathLike | RawText,
    n_features: int | None = None,
    encoding: str = "utf-8",
) -> LetorFile:
    """Read documents with grades and queries. Feature 1 of the file is column 0 of X.

    ``n_features`` is the width of the training data when other data for the same model
    are read; by default the largest number says it. gzip is fine, "-" is standard input.
    Errors are ValueErrors that name the file and the line.
    """
    text, name = read_text(path, encoding)
    rows, comments, lines = [], [], []
    for i, line in enumerate(text.split(b"\n"), 1):
        row, mark, comment = line.partition(b"#")
        if row.strip():
            rows.append(row)
            comments.append(comment.strip().decode() if mark else "")
            lines.append(i)
    if not rows:
        raise ValueError(f"{name} has no documents: all of it is blank or comments.")
    found = _read_at_once(rows)
    if found is None:
        found = _read_by_line(rows, lines, name)
    y, qid, counts, columns, values = found
    _check_together(qid, lines, name)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    width = int(columns.max(initial=0))
    if n_features is None:
        n_features = width
        if width == 0:
            raise ValueError(f"{name} has no features at all: grades and queries only.")
    elif width > n_features:
        row = int(np.searchsorted(indptr, int(columns.argmax()), side="right")) - 1
        raise ValueError(
            f"{name}, line {lines[row]}: there is a feature {width}, but the model knows "
            f"only {n_features}."
        )
    import scipy.sparse as sp  # not at the top: importing maxmargin.files is quick

    X = sp.csr_matrix((values, columns - 1, indptr), shape=(len(rows), n_features))
    return LetorFile(X, y, qid, comments, np.array(lines), name)


def _read_at_once(rows: list[bytes]):
    """(grades, queries, features per row, features, values), or None if one is odd."""
    if not all(map(_PLAIN.fullmatch, rows)):
        return None
    colons = np.array([row.count(b":") for row in rows])
    cells = b" ".join(rows).replace(b"qid:", b"").replace(b":", b" ").split()
    try:
        numbers = np.array(cells, np.float64)
    except ValueError:
        return None
    size = 2 * colons  # grade, query, and two numbers per feature
    at = np.concatenate([[0], np.cumsum(size)[:-1]])
    y, qid = numbers[at], numbers[at + 1].astype(np.int64)
    rest = np.ones(len(numbers), bool)
    rest[at] = rest[at + 1] = False
    columns, values = numbers[rest].reshape(-1, 2).T
    columns, values = columns.astype(np.int64), np.ascontiguousarray(values)
    counts = colons - 1
    begins = np.zeros(len(columns), bool)
    begins[(np.cumsum(counts) - counts)[counts > 0]] = True
    rises = np.diff(columns, prepend=0) > 0
    # float() reads what files must not hold, such as nan and 1_0; then say where
    odd = b"_" in b"".join(rows) or not (
        np.isfinite(values).all() and np.isfinite(y).all()
    )
    if odd or not (rises | begins).all() or columns.min(initial=1) < 1:
        return None
    return y, qid, counts, columns, values


def _read_by_line(rows: list[bytes], lines: Sequence[int], name: str):
    """The same line by line, with a sentence about the first one that is wrong."""
    y, names, counts = [], [], []
    columns: list[int] = []
    values: list[float] = []
    for row, line in zip(rows, lines, strict=True):
        where, cells = f"{name}, line {line}", row.split()
        if not _GRADE.fullmatch(cells[0]):
            raise ValueError(
                f"{where}: {short(cells[0].decode())} is not a grade; lines are written as "
                "GRADE qid:QUERY 1:0.5 2:0.1 ..."
            )
        if len(cells) < 2 or not cells[1].startswith(b"qid:") or len(cells[1]) == 4:
            raise ValueError(
                f"{where}: there is no qid:QUERY behind the grade; it says to which query "
                "the document belongs."
            )
        try:
            found = pairs_of(cells[2:])
        except ValueError as error:
            raise ValueError(f"{where}: {error}.") from None
        y.append(float(cells[0]))
        names.append(cells[1][4:].decode())
        counts.append(len(found))
        columns += [feature for feature, _ in found]
        values += [value for _, value in found]
    qid = np.array(names)
    if all(text.isascii() and text.isdigit() and len(text) < 19 for text in names):
        qid = qid.astype(np.int64)
    return np.array(y), qid, counts, np.array(columns, np.int64), np.array(values)


def _check_together(qid, lines, name) -> None:
    """Name the line where a query comes back: then another file was joined, or sorted."""
    begins = np.flatnonzero(np.append(True, qid[1:] != qid[:-1]))
    _, once = np.unique(qid[begins], return_index=True)
    if len(once) < len(begins):
        again = begins[np.setdiff1d(np.arange(len(begins)), once)[0]]
        raise ValueError(
            f"{name}, line {lines[again]}: the query {qid[again]} comes again after "
            "another one; put its documents together."
        )


def write_letor(
    path: str | os.PathLike, X, y, qid, comments: Iterable[str] | None = None
) -> None:
    """Write documents as `read_letor` reads them; gzip if the name ends in .gz."""
    import scipy.sparse as sp

    from maxmargin.rankings.queries import check_grades, group

    X = sp.csr_matrix(X)
    grades, groups = check_grades(y, X.shape[0]), group(qid, X.shape[0])
    notes = [""] * X.shape[0] if comments is None else list(comments)
    if len(notes) != X.shape[0]:
        raise ValueError(f"there are {len(notes)} comments for {X.shape[0]} documents.")
    out = []
    for query, rows in zip(groups.names.tolist(), groups, strict=True):
        shown = f"{query:.0f}" if isinstance(query, float) else str(query)
        if not shown or re.search(r"[\s#]", shown):
            raise ValueError(
                f"the query {shown!r} cannot be written: its name has spaces or a #."
            )
        for i in rows.tolist():
            a, b = X.indptr[i], X.indptr[i + 1]
            order = np.argsort(X.indices[a:b], kind="stable") + a
            cells = [f"{X.indices[j] + 1}:{_number(X.data[j])}" for j in order]
            note = f"#{' '.join(notes[i].split())}" if notes[i] else ""
            out.append(
                " ".join([_number(grades[i]), f"qid:{shown}", *cells, note]).strip()
            )
    write_raw(path, "".join(f"{line}\n" for line in out).encode())


def write_scores(path: str | os.PathLike, scores: Iterable[Any]) -> None:
    """One score per line, in the order of the documents."""
    write_raw(path, "".join(f"{_number(s)}\n" for s in scores).encode())


def _number(value) -> str:
    """The shortest text that reads back as the same number."""
    return repr(float(value)).removesuffix(".0")
