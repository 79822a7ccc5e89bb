"""Sequences in the format of SVM-hmm: numbered features, one token per line.

    TAG qid:EXNUM FEATNUM:FEATVAL FEATNUM:FEATVAL ... #comment

EXNUM is the number of the sequence; it grows from one sequence to the next. Features are
numbered from 1 and come in increasing order; those that are not named are 0.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.files.messages import kind_of, short
from maxmargin.files.number_pairs import Rows, number_text, rows_of
from maxmargin.files.text_files import RawText, read_text, write_text
from maxmargin.tags.files.writers import check_not_empty, plain_labels

_LINE = re.compile(rb"[ \t]*([^ \t]+)[ \t]*([^ \t]*)(.*)", re.DOTALL)


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
    text, name = read_text(path, encoding)
    if b"#" in text:
        text = b"\n".join([line.partition(b"#")[0] for line in text.split(b"\n")])
    tokens, qids = _tokens(text, name)
    if not qids:
        raise ValueError(f"{name} has no token: all of it is blank or comments.")
    width = tokens.width
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
    breaks = np.flatnonzero(np.diff(qids)) + 1
    start = np.concatenate([[0], breaks, [len(qids)]]).tolist()
    tags = b"\n".join(tokens.labels).decode().split("\n")
    X, y = [], []
    for a, b in pairwise(start):
        indptr = tokens.indptr[a : b + 1]
        here = slice(indptr[0], indptr[-1])
        parts = (
            tokens.values[here],
            tokens.indices[here],
            (indptr - indptr[0]).astype(np.int32),
        )
        X.append(sp.csr_array(parts, shape=(b - a, width)))
        y.append(tags[a:b])
    return X, y


def _tokens(text: bytes, path: str) -> tuple[Rows, list[int]]:
    """All lines that are tokens, and the numbers of their sequences."""
    tags, qids, lines, bodies = [], [], [], []
    for i, line in enumerate(text.split(b"\n"), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        tag, second, body = match.groups()
        try:
            qid = _qid(tag, second)
            if qids and qid < qids[-1]:
                known = "it was used before" if qid in qids else "numbers must grow"
                raise ValueError(
                    f"qid:{qid} comes after qid:{qids[-1]}; {known}, and the tokens of a "
                    f"sequence must stand together"
                )
        except ValueError as error:
            rows_of(tags, lines, bodies, path)  # a line before may be wrong, too
            raise ValueError(f"{path}, line {i}: {error}.") from None
        tags.append(tag)
        qids.append(qid)
        lines.append(i)
        bodies.append(body)
    return rows_of(tags, lines, bodies, path), qids


def _qid(tag: bytes, second: bytes) -> int:
    number = second[4:]
    if second[:4] != b"qid:" or not number.isdigit() or len(number) > 18:
        shown = short(second.decode()) if second else "the end of the line"
        raise ValueError(
            f"after the tag {short(tag.decode())} comes {shown}, but it must be "
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
            f" {name}:{number_text(number)}"
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
