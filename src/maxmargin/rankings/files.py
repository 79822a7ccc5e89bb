"""Documents for ranking: LETOR and SVM-light with qid, one document per line.

    GRADE qid:QUERY FEATNUM:FEATVAL FEATNUM:FEATVAL ... #comment

Grades are numbers. Features are numbered from 1 and come in increasing order; those that
are not named are 0. The documents of a query stand together. Comments, which in LETOR name
the document, are kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.files.messages import short
from maxmargin.files.number_pairs import number_text, rows_of
from maxmargin.files.text_files import RawText, read_text, write_raw
from maxmargin.rankings.queries import check_grades, group

if TYPE_CHECKING:
    import scipy.sparse as sp

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

    Set ``n_features`` to the width of the training data when you read other data for the
    same model; the default is the largest number. gzip is fine, "-" is standard input.
    Errors are ValueErrors that name the file and the line.
    """
    text, name = read_text(path, encoding)
    heads, bodies, comments, lines = [], [], [], []
    for i, line in enumerate(text.split(b"\n"), 1):
        row, mark, comment = line.partition(b"#")
        cells = row.split(None, 2)
        if not cells:
            continue
        try:
            heads.append(_head(cells, f"{name}, line {i}"))
        except ValueError:
            rows_of(heads, lines, bodies, name)  # a line before may be wrong, too
            raise
        bodies.append(cells[2] if len(cells) > 2 else b"")
        comments.append(comment.strip().decode() if mark else "")
        lines.append(i)
    if not heads:
        raise ValueError(f"{name} has no documents: all of it is blank or comments.")
    rows = rows_of(heads, lines, bodies, name)
    y, names = zip(*heads, strict=True)
    qid = np.array(names)
    if all(text.isascii() and text.isdigit() and len(text) < 19 for text in set(names)):
        qid = qid.astype(np.int64)
    _check_together(qid, lines, name)
    X = rows.matrix(n_features, "grades and queries")
    return LetorFile(X, np.array(y), qid, comments, np.array(lines), name)


def _head(cells: list[bytes], where: str) -> tuple[float, str]:
    """The grade and the query of a line."""
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
    return float(cells[0]), cells[1][4:].decode()


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
    path: str | os.PathLike,
    X: Any,
    y: Any,
    qid: Any,
    comments: Iterable[str] | None = None,
) -> None:
    """Write documents as `read_letor` reads them; gzip if the name ends in .gz."""
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
            cells = [f"{X.indices[j] + 1}:{number_text(X.data[j])}" for j in order]
            note = f"#{' '.join(notes[i].split())}" if notes[i] else ""
            out.append(
                " ".join([number_text(grades[i]), f"qid:{shown}", *cells, note]).strip()
            )
    write_raw(path, "".join(f"{line}\n" for line in out).encode())


def write_scores(path: str | os.PathLike, scores: Iterable[Any]) -> None:
    """One score per line, in the order of the documents."""
    write_raw(path, "".join(f"{number_text(s)}\n" for s in scores).encode())
