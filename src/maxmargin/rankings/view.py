"""Rankings in a notebook: the best documents of every query."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.checks import whole
from maxmargin.rankings.queries import check_grades, group
from maxmargin.views.view import RIGHT, View, about, escaped

QUERIES = 20  # in a view


def ranking(
    scores: Any, qid: Any, grades: Any = None, names: Any = None, top: int = 5
) -> View:
    """The ``top`` documents of every query by score, with their grades if these are known.

    Parameters
    ----------
    scores : a score per document, as ``TopKRanker.predict`` returns them
    qid : the query of every document
    grades : how relevant they are, or None
    names : what to call them, or None for their rows
    """
    scores = np.asarray(scores, float)
    top = whole("top", top)
    queries = group(qid, len(scores))
    known = None if grades is None else check_grades(grades, len(scores))
    names = list(range(len(scores))) if names is None else list(names)
    if len(names) != len(scores):
        raise ValueError(f"there are {len(scores)} scores, but {len(names)} names.")
    tables = []
    for query, rows in zip(queries.names[:QUERIES], queries, strict=False):
        best = rows[np.argsort(-scores[rows], kind="stable")][:top]
        tables.append(_table(query, best, scores, known, names))
    n = len(queries.names)
    if n > QUERIES:
        tables.append(about(f"The first {QUERIES} of {n:,} queries."))
    return View("".join(tables), f"{len(scores):,} documents of {n:,} queries")


def _table(query, rows, scores, grades, names) -> str:
    head = "<th>place</th><th>document</th><th>score</th>"
    head += "" if grades is None else "<th>grade</th>"
    out = [f"<tr>{head}</tr>"]
    for place, row in enumerate(rows.tolist(), 1):
        cells = [place, names[row], f"{scores[row]:.3g}"]
        line = "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
        if grades is not None:
            fill = f' style="background:{RIGHT}55"' if grades[row] > 0 else ""
            line += f"<td{fill}>{grades[row]:g}</td>"
        out.append(f"<tr>{line}</tr>")
    return f"{about(f'query {query}')}<table>{''.join(out)}</table>"
