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

from maxmargin.files.messages import short
from maxmargin.files.text_files import RawText, read_text
from maxmargin.tags.files.svmhmm import _pairs

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

    ``n_features`` is the width of the training data when other data for the same model
    are read; by default the largest number says it. Lines may lack a label if
    ``empty_labels``: they begin with a feature. gzip is fine, "-" is standard input.
    Errors are ValueErrors that name the file and the line.
    """
    text, name = read_text(path, encoding)
    labels, lines, counts = [], [], [0]
    features: list[int] = []
    values: list[float] = []
    for i, line in enumerate(text.split(b"\n"), 1):
        cells = line.partition(b"#")[0].split()
        if not cells:
            continue
        where = f"{name}, line {i}"
        label = b""
        if not _FEATURE.fullmatch(cells[0]):
            label = cells.pop(0)
        elif not empty_labels:
            raise ValueError(
                f"{where}: it begins with the feature {short(cells[0].decode())}; put the "
                "label before the features."
            )
        if cells and cells[0].startswith(b"qid:"):
            cells.pop(0)
        try:
            found = _pairs(cells)
        except ValueError as error:
            raise ValueError(f"{where}: {error}.") from None
        labels.append(label.decode())
        lines.append(i)
        features.extend(feature for feature, _ in found)
        values.extend(value for _, value in found)
        counts.append(len(features))
    if not labels:
        raise ValueError(f"{name} has no vectors: all of it is blank or comments.")
    columns = np.array(features, np.int64)
    width = int(columns.max(initial=0))
    if n_features is None:
        if width == 0:
            raise ValueError(f"{name} has no features at all: labels only.")
        n_features = width
    elif width > n_features:
        row = int(np.searchsorted(counts, int(columns.argmax()), side="right")) - 1
        raise ValueError(
            f"{name}, line {lines[row]}: there is a feature {width}, but the model knows "
            f"only {n_features}."
        )
    parts = (
        np.array(values, float),
        (columns - 1).astype(np.int32),
        np.array(counts, np.int64),
    )
    import scipy.sparse as sp  # not at the top: importing maxmargin.files is quick

    X = sp.csr_matrix(parts, shape=(len(labels), n_features))
    return Vectors(X, labels, lines, name)
