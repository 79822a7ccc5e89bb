"""Vectors in the format of SVM-light and LIBSVM, one per line.

    LABEL FEATNUM:FEATVAL FEATNUM:FEATVAL ... #comment

Labels are any text without spaces. Features are numbered from 1 and come in increasing
order; those that are not named are 0. A cell qid:N behind the label, as in files for
ranking, is passed over.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from maxmargin.core.tables.arrays import offsets
from maxmargin.files.messages import short
from maxmargin.files.number_pairs import Rows, rows_of
from maxmargin.files.text_files import RawText, newlines, read_raw, utf8

if TYPE_CHECKING:
    import scipy.sparse as sp

_FEATURE = re.compile(rb"\d+:[+-]?[\d.]+(?:[eE][+-]?\d+)?")


class Vectors(NamedTuple):
    """Rows of a file, and their labels as written ("" where a line has none)."""

    X: sp.csr_matrix
    labels: list[str]
    lines: list[int]  # numbers of the lines in the file, from 1
    path: str

    def where(self, i: int) -> str:
        return f"{self.path}, line {self.lines[i]}"


def read_svmlight(
    path: str | os.PathLike | RawText,
    n_features: int | None = None,
    encoding: str = "utf-8",
    empty_labels: bool = False,
) -> Vectors:
    """Read a file of vectors. Feature 1 of the file is column 0 of X.

    Set ``n_features`` to the width of the training data when you read other data for the
    same model; the default is the largest number. Lines may lack a label if
    ``empty_labels``: they begin with a feature. gzip is fine, "-" is standard input. Errors
    are ValueErrors that name the file and the line.
    """
    rows = rows_of_text(read_raw(path), encoding, empty_labels)
    if not rows.labels:
        raise ValueError(f"{rows.path} has no vectors: all of it is blank or comments.")
    X = rows.matrix(n_features, "labels")
    return Vectors(X, rows.labels, rows.lines, rows.path)


def join_rows(parts: list[Rows]) -> Rows:
    """Vectors one after the other."""
    return Rows(
        [label for part in parts for label in part.labels],
        [line for part in parts for line in part.lines],
        offsets(np.concatenate([np.diff(part.indptr) for part in parts])),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.values for part in parts]),
        parts[0].path,
    )


def rows_of_text(raw: RawText, encoding: str, empty_labels: bool = False) -> Rows:
    """The vectors of a text; there may be none."""
    text = newlines(utf8(raw, encoding)[0])
    labels, lines, bodies = [], [], []
    for i, line in enumerate(text.split(b"\n"), raw.above + 1):
        cells = line.partition(b"#")[0].split(None, 1)
        if not cells:
            continue
        label, body = b"", b" ".join(cells)
        if not _FEATURE.fullmatch(cells[0]):
            label, body = cells[0], cells[1] if len(cells) > 1 else b""
        elif not empty_labels:
            raise ValueError(
                f"{raw.path}, line {i}: it begins with the feature "
                f"{short(cells[0].decode())}; put the label before the features."
            )
        if body.startswith(b"qid:"):
            body = body.partition(b" ")[2]
        labels.append(label.decode())
        lines.append(i)
        bodies.append(body)
    return rows_of(labels, lines, bodies, raw.path)
