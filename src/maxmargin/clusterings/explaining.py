"""Why mentions are in one cluster: the links of every mention to those before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from maxmargin.clusterings.documents import MentionDocument, as_document
from maxmargin.clusterings.pairs import pair_index
from maxmargin.core.decode import decode
from maxmargin.explain.explained import rows_of, titles
from maxmargin.explain.explanation import Explanation, Part, ranked


def explain(model: Any, x: Any) -> Explanation:
    """Every mention: linked rather than apart, or apart rather than by its best link.

    With ``method="correlation"``, in its cluster rather than in the best other one.
    """
    batch = model._batch([x])
    labels = decode(batch, model._weights(), model._threads())
    pairs = _Pairs(model, batch)
    choose = _links if model.method == "forest" else _moves
    said, names = _mentions(x, len(labels)), feature_titles(model)
    parts = []
    for v, (one, other) in enumerate(choose(labels.tolist(), pairs)):
        if not one and not other:  # the only mention, or the window holds no other
            continue
        rows = [*pairs.rows(v, one, 1.0, names), *pairs.rows(v, other, -1.0, names)]
        texts = (_with(said, mentions) for mentions in (one, other))
        parts.append(Part(said[v], *texts, ranked(rows)))
    note = "every mention, and the best other place for it"
    return Explanation(type(model).__name__, parts, note)


class _Pairs:
    """Features and scores of the pairs of one document."""

    def __init__(self, model: Any, batch: Any):
        self.table, self.w = batch.pairs, model._weights()
        self.n = int(batch.start[1])

    def entries(self, u: int, v: int) -> tuple[np.ndarray, np.ndarray]:
        """(features, values) of a pair."""
        p, (u, v) = self.table, sorted((u, v))
        at = pair_index.py_func(self.n, p.window, u, v)
        codes = p.codes[p.pair_start[0] + at]
        rows = [p.row_start[0] + code for code in np.atleast_1d(codes).tolist()]
        cuts = [slice(p.indptr[r], p.indptr[r + 1]) for r in rows]
        indices = np.concatenate([p.indices[cut] for cut in cuts])
        return indices, np.concatenate([p.values[cut] for cut in cuts])

    def score(self, u: int, v: int) -> float:
        indices, values = self.entries(u, v)
        return float(self.w[indices] @ values)

    def near(self, v: int) -> list[int]:
        """Mentions that may be linked to v."""
        low, high = v - self.table.window, v + self.table.window
        return [u for u in range(self.n) if u != v and low <= u <= high]

    def rows(self, v: int, others: list[int], sign: float, names: list) -> Iterator:
        for u in others:
            indices, values = self.entries(u, v)
            for j, value in zip(indices.tolist(), values.tolist(), strict=True):
                name = names[j] if sign > 0 else f"{names[j]} (runner-up)"
                yield name, value, sign * float(self.w[j])


def _links(parents: list[int], pairs: _Pairs) -> Iterator[tuple[list, list]]:
    """(the link of each mention, the link that it would have instead)."""
    for v, parent in enumerate(parents):
        if parent != v:
            yield [parent], []
            continue
        before = [u for u in pairs.near(v) if u < v]
        best = max(before, key=lambda u: pairs.score(u, v), default=None)
        yield [], [] if best is None else [best]


def _moves(clusters: list[int], pairs: _Pairs) -> Iterator[tuple[list, list]]:
    """(the others of the cluster of each mention, those of the best other cluster)."""
    for v, own in enumerate(clusters):
        groups: dict[int, list[int]] = {-1: []}  # alone
        for u, c in enumerate(clusters):
            if u != v:
                groups.setdefault(c, []).append(u)
        here = groups.pop(own, [])
        if not here:
            groups.pop(-1)
        gains = {c: sum(pairs.score(u, v) for u in us) for c, us in groups.items()}
        best = max(gains, key=gains.__getitem__, default=None)
        yield here, [] if best is None else groups[best]


def _with(said: list[str], mentions: list[int]) -> str:
    return f"with {', '.join(said[u] for u in mentions)}" if mentions else "apart"


def _mentions(x: Any, n: int) -> list[str]:
    """The words of the mentions with their numbers, or their numbers alone."""
    if not isinstance(x, (MentionDocument, dict)):
        return [f"mention {v + 1}" for v in range(n)]
    document = as_document(x, "x")
    words = (document.sentences[m.sentence] for m in document.mentions)
    spans = zip(document.mentions, words, strict=True)
    return [
        f"{' '.join(row[m.first : m.last + 1])} ({v})"
        for v, (m, row) in enumerate(spans, 1)
    ]


def feature_titles(model: Any) -> list[str]:
    """The features in words, the constant one last."""
    features = model.structure_.inputs.features
    found = titles(None if features is None else features.titles(), len(model.coef_))
    return [*found, "(intercept)"]


def named_weights(model: Any) -> list[tuple[str, str, float]]:
    """("", feature, weight), the largest first."""
    return rows_of(model.coef_, [""], feature_titles(model))
