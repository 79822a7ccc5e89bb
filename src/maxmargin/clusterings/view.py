"""Clusters of mentions in a notebook."""

from __future__ import annotations

from collections import Counter
from typing import Any

from maxmargin.clusterings.documents import as_document, first_mentions, numbered
from maxmargin.clusterings.markup import marked_text
from maxmargin.views.view import View, about


def clusters(document: Any, found: Any, truth: Any = None) -> View:
    """A document with its mentions in the colours of their clusters.

    Every mention is followed by the number of its cluster; single mentions have no colour.
    With ``truth``, mentions are underlined whose nearest mention before them in the same
    cluster is of another true cluster.
    """
    document = as_document(document, "document")
    n = len(document.mentions)
    ids = numbered(first_mentions(found, n, "clusters").tolist())
    wrong: list[bool] = []
    says = _counted(ids)
    if truth is not None:
        gold = first_mentions(truth, n, "truth").tolist()
        wrong = _strangers(ids, gold)
        says += (
            f"; {sum(wrong)} mentions follow one of another true cluster (underlined)"
        )
    name = f"{document.name}: " if document.name else ""
    body = about(f"{name}{says}")
    body += marked_text(document.sentences, document.mentions, ids, wrong)
    return View(body, f"{name}{says}")


def _counted(ids: list[int]) -> str:
    sizes = list(Counter(ids).values())
    several = sum(size > 1 for size in sizes)
    return (
        f"{len(ids)} mentions, {several} clusters of several, "
        f"{len(sizes) - several} of one"
    )


def _strangers(ids: list[int], gold: list[int]) -> list[bool]:
    last: dict[int, int] = {}
    out = []
    for cluster, true in zip(ids, gold, strict=True):
        out.append(last.get(cluster, true) != true)
        last[cluster] = true
    return out
