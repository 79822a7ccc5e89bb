"""Documents with mentions in JSON lines, one document per line.

    {"doc": "emma", "sentences": [["Emma", "saw", "her", "friend"]],
     "mentions": [[0, 0, 0, 1, "PER", "PROP"], [0, 2, 2, 1, "PER", "PRON"],
                  [0, 2, 3, 2, "PER", "NOM"]]}

A mention is [sentence, first word, last word, cluster, type, form], all counted from 0 and
the last word included; type and form may be left out, and so may the cluster (null). In its
place a document may have "clusters": groups of mentions by number.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from maxmargin.clusterings.documents import (
    MentionDocument,
    as_document,
    check_spans,
    first_mentions,
    numbered,
)
from maxmargin.files.text_files import (
    RawText,
    encode_text,
    json_values,
    read_text,
    write_raw,
)


class Mentions(NamedTuple):
    """Documents and, for each, an id per mention; y is None if the file has none."""

    X: list[MentionDocument]
    y: list[list[Any]] | None
    path: str


def read_mentions(
    path: str | os.PathLike | RawText, truth: bool = True, encoding: str = "utf-8"
) -> Mentions:
    """Read JSON lines (perhaps gzip). ``truth``: every mention must have a cluster."""
    text, name = read_text(path, encoding)
    X, y = [], []
    for _, where, value in json_values(text, name):
        if not isinstance(value, dict):
            raise ValueError(
                f"{where} is not a JSON object with sentences and mentions."
            )
        if value.get("doc"):
            where += f" (document {value['doc']})"
        X.append(as_document(value, where))
        if truth:
            y.append(_clusters(value, len(X[-1].mentions), where))
            check_spans(X[-1], y[-1], where)
    if not X:
        raise ValueError(f"{name} has no documents: give one per line.")
    return Mentions(X, y if truth else None, name)


def _clusters(value, n: int, where: str) -> list[int]:
    groups = value.get("clusters")
    if groups is None:
        groups = [m[3] if len(m) > 3 else None for m in value["mentions"]]
        for k, cluster in enumerate(groups):
            if cluster is None:
                raise ValueError(
                    f"{where}: mention {k} has no cluster, its fourth value; without "
                    "clusters, documents can only be predicted."
                )
    elif not isinstance(groups, list) or not all(isinstance(g, list) for g in groups):
        raise ValueError(f'{where}: "clusters" is not a list of lists of mentions.')
    elif not groups:
        return list(range(n))
    return numbered(first_mentions(groups, n, where).tolist())


def write_mentions(
    path: str | os.PathLike, X: Any, clusters: Any = None, encoding: str = "utf-8"
) -> None:
    """Write documents with their clusters (an id per mention), or without."""
    X = [as_document(x, f"X[{i}]") for i, x in enumerate(X)]
    lines = []
    for i, x in enumerate(X):
        value = document_json(
            x, None if clusters is None else clusters[i], f"clusters[{i}]"
        )
        lines.append(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    text = "".join(f"{line}\n" for line in lines)
    write_raw(path, encode_text(text, path, encoding))


def document_json(
    x: MentionDocument, clusters: Any = None, where: str = "clusters"
) -> dict[str, Any]:
    """A document as its line has it."""
    n = len(x.mentions)
    ids: list = [None] * n
    if clusters is not None:
        ids = numbered(first_mentions(clusters, n, where).tolist())
    rows = [
        [m.sentence, m.first, m.last, c, m.type, m.form]
        for m, c in zip(x.mentions, ids, strict=True)
    ]
    return {"doc": x.name, "sentences": x.sentences, "mentions": rows}
