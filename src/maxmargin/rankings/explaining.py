"""Why the documents of a query stand in the order in which they stand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.explain.explained import rows_of, titles
from maxmargin.explain.explanation import Explanation, Part
from maxmargin.explain.rows import differences
from maxmargin.fitting.tables import read_new
from maxmargin.rankings.queries import group, unpack


def explain(model: Any, x: Any, qid: Any = None) -> Explanation:
    """Every document of one query, against the one that follows it."""
    x, qid = unpack(x, qid)
    table = read_new(model, x)
    if qid is not None:
        queries = group(qid, table.shape[0]).names.tolist()
        if len(queries) > 1:
            raise ValueError(
                f"x has documents of {len(queries)} queries, such as {queries[0]!r} and "
                f"{queries[1]!r}, but one query is explained: give the documents of one."
            )
    scores = model.predict(x)
    table = np.asarray(table.toarray() if hasattr(table, "toarray") else table, float)
    order = np.argsort(-scores, kind="stable").tolist()
    names, parts = feature_titles(model), []
    for place, (a, b) in enumerate(pairwise(order), 1):
        apart = table[a] - table[b]
        columns = np.flatnonzero(apart)
        found = differences((columns, apart[columns]), model.coef_, 0.0, names)
        said = f"document {a + 1}", f"document {b + 1}"
        parts.append(Part(f"place {place}", *said, found))
    note = "every document, and the one that follows it; values are their differences"
    return Explanation(type(model).__name__, parts, note)


def feature_titles(model: Any) -> list[str]:
    """Names of the columns of X, or their numbers."""
    return titles(getattr(model, "feature_names_in_", None), len(model.coef_))


def named_weights(model: Any) -> list[tuple[str, str, float]]:
    """("", feature, weight), the largest first."""
    return rows_of(model.coef_, [""], feature_titles(model))
