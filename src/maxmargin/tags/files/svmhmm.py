"""Sequences in the format of SVM-hmm: numbered features, one token per line.

    TAG qid:EXNUM FEATNUM:FEATVAL FEATNUM:FEATVAL ... #comment

EXNUM is the number of the sequence; it grows from one sequence to the next. Features are
numbered from 1 and come in increasing order; those that are not named are 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import compress, pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin.files.messages import kind_of, short
from maxmargin.files.number_pairs import all_pairs, pairs_of
from maxmargin.files.text_files import RawText, read_text, write_text
from maxmargin.tags.files.reader import cell_counts
from maxmargin.tags.files.writers import check_not_empty, plain_labels


class _Tokens(NamedTuple):
    """All lines that are tokens, as flat arrays; features still count from 1."""

    tags: list[bytes]
    qids: np.ndarray  # int64, one per token
    indptr: np.ndarray  # int64
    features: np.ndarray  # int64
    values: np.ndarray  # float64


def read_svmhmm(
    path: str | os.PathLike | RawText,
    n_features: int | None = None,
    encoding: str = "utf-8",
) -> tuple[list, list[list[str]]]:
    """Read a file of SVM-hmm: a list of sparse matrices and a list of tag lists.

    Feature 1 of the file is column 0 of the matrices. All of them have as many columns
    as the largest feature number says, or `n_features`: give the width of the training
    data when reading other data for the same model. Tags are strings.

    Blank lines, comments (from # to the end of the line) and gzip are fine; "-" is
    standard input. Errors are ValueErrors that name the file and the line.
    """
    import scipy.sparse as sp

    text, name = read_text(path, encoding)
    if b"#" in text:
        text = b"\n".join([line.partition(b"#")[0] for line in text.split(b"\n")])
    tokens = _fast(text) or _careful(text, name)
    if not tokens.tags:
        raise ValueError(f"{name} has no token: all of it is blank or comments.")
    width = int(tokens.features.max(initial=0))
    if n_features is not None:
        if not isinstance(n_features, (int, np.integer)) or n_features < 1:
            raise ValueError(
                f"n_features={n_features!r} is not possible: it must be a whole number "
                f">= 1."
            )
        if width > n_features:
            raise ValueError(
                f"{name} has a feature {width}, but n_features={n_features} says that "
                f"there are fewer."
            )
        width = n_features
    breaks = np.flatnonzero(np.diff(tokens.qids)) + 1
    start = np.concatenate([[0], breaks, [len(tokens.tags)]]).tolist()
    tags = b"\n".join(tokens.tags).decode().split("\n")
    columns = (tokens.features - 1).astype(np.int32)
    X, y = [], []
    for a, b in pairwise(start):
        indptr = tokens.indptr[a : b + 1]
        here = slice(indptr[0], indptr[-1])
        parts = (
            tokens.values[here],
            columns[here],
            (indptr - indptr[0]).astype(np.int32),
        )
        X.append(sp.csr_array(parts, shape=(b - a, width)))
        y.append(tags[a:b])
    return X, y


def _fast(text: bytes) -> _Tokens | None:
    """All tokens, without Python code per feature; None if anything is unusual."""
    if b"\v" in text or b"\f" in text:
        return None
    widths = cell_counts(text)
    widths = widths[widths > 0]
    if len(widths) == 0 or widths.min() < 2:
        return None
    cells = text.split()
    first = np.cumsum(widths) - widths
    is_feature = np.ones(len(cells), bool)
    is_feature[first] = is_feature[first + 1] = False
    tags = [cells[i] for i in first.tolist()]
    qids = [cells[i] for i in (first + 1).tolist()]
    if not all(q[:4] == b"qid:" and q[4:].isdigit() for q in qids):
        return None
    pairs = b" ".join(compress(cells, is_feature.tolist()))
    indptr = np.concatenate([[0], np.cumsum(widths - 2)])
    try:
        number = np.array([int(q[4:]) for q in qids], np.int64)
    except (ValueError, OverflowError):
        return None
    found = all_pairs(pairs, indptr)
    if found is None or (np.diff(number) < 0).any():
        return None
    return _Tokens(tags, number, indptr, *found)


def _careful(text: bytes, path: str) -> _Tokens:
    """The same line by line, with an error that says what is wrong where."""
    tags, qids, counts, features, values = [], [], [], [], []
    for i, line in enumerate(text.split(b"\n"), 1):
        cells = [cell for cell in re.split(rb"[ \t]+", line) if cell]
        if not cells:
            continue
        try:
            qid = _qid(cells)
            if qids and qid < qids[-1]:
                known = "it was used before" if qid in qids else "numbers must grow"
                raise ValueError(
                    f"qid:{qid} comes after qid:{qids[-1]}; {known}, and the tokens of a "
                    f"sequence must stand together"
                )
            found = pairs_of(cells[2:])
        except ValueError as error:
            raise ValueError(f"{path}, line {i}: {error}.") from None
        tags.append(cells[0])
        qids.append(qid)
        counts.append(len(found))
        features.extend(feature for feature, _ in found)
        values.extend(value for _, value in found)
    return _Tokens(
        tags,
        np.array(qids, np.int64),
        np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]),
        np.array(features, np.int64),
        np.array(values, np.float64),
    )


def _qid(cells: list[bytes]) -> int:
    second = cells[1] if len(cells) > 1 else b""
    number = second[4:]
    if second[:4] != b"qid:" or not number.isdigit() or len(number) > 18:
        shown = short(second.decode()) if second else "the end of the line"
        raise ValueError(
            f"after the tag {short(cells[0].decode())} comes {shown}, but it must be "
            f"qid: and the number of the sequence, such as qid:1"
        )
    return int(number)


def write_svmhmm(
    path: str | os.PathLike,
    X: Sequence[Any],
    y: Sequence[Sequence[Any]],
    encoding: str = "utf-8",
) -> None:
    """Write tables or sparse matrices, one row per token, and their tags for SVM-hmm.

    Column 0 becomes feature 1, zeros are left out, values are written so that they are
    read back exactly. Sequence i gets qid i + 1. SVM-hmm itself wants tags that are whole
    numbers from 1 on; `read_svmhmm` takes any. A path that ends in .gz is compressed.
    """
    tables, tags = list(X), list(y)
    if len(tables) != len(tags):
        raise ValueError(f"X has {len(tables)} sequences, but y has {len(tags)}.")
    flat = plain_labels(tags)
    rows: list[str] = []
    width = None
    start = [0]
    for i, (table, labels) in enumerate(zip(tables, tags, strict=True)):
        matrix = _matrix(table, i)
        if width is None:
            width = matrix.shape[1]
        if matrix.shape[1] != width:
            raise ValueError(
                f"sequence {i} has {matrix.shape[1]} columns, but sequence 0 has {width}."
            )
        if matrix.shape[0] != len(labels):
            raise ValueError(
                f"sequence {i} has {matrix.shape[0]} tokens but {len(labels)} tags."
            )
        names, numbers = (matrix.indices + 1).tolist(), matrix.data.tolist()
        pairs = [
            f" {name}:{_number(number)}"
            for name, number in zip(names, numbers, strict=True)
        ]
        qid = f" qid:{i + 1}"
        rows.extend(
            qid + "".join(pairs[a:b]) for a, b in pairwise(matrix.indptr.tolist())
        )
        start.append(len(rows))
    check_not_empty(np.array(start))
    for tag in dict.fromkeys(flat):
        if not tag or re.search(r"[#\s]", tag):
            raise ValueError(
                f"The tag {tag!r} cannot be written: tags must not be empty and must "
                f"not contain white space or #, which starts a comment."
            )
    rows = [tag + row for tag, row in zip(flat, rows, strict=True)]
    rows.append("")
    write_text(path, "\n".join(rows), encoding)


def _matrix(table: Any, i: int):
    """The table of sequence i as a CSR array, sorted, without zeros."""
    import scipy.sparse as sp

    try:
        matrix = sp.csr_array(table, dtype=np.float64, copy=True)
        if matrix.ndim != 2:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(
            f"sequence {i} is {kind_of(table)}, but it must be a table of numbers or a "
            f"sparse matrix with one row per token."
        ) from None
    matrix.sum_duplicates()
    if not np.isfinite(matrix.data).all():
        at = int(np.flatnonzero(~np.isfinite(matrix.data))[0])
        token = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise ValueError(
            f"sequence {i}, token {token}: column {matrix.indices[at]} is "
            f"{matrix.data[at]}; values must be finite."
        )
    matrix.eliminate_zeros()
    return matrix


def _number(value: float) -> str:
    """The shortest text that is read back as the same number."""
    return repr(value).removesuffix(".0")
