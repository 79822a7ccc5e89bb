"""Why a sample has the labels that it has, and not the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.classes.explaining import feature_titles, named_weights
from maxmargin.core.completion import complete_all
from maxmargin.core.partial import partly_known
from maxmargin.explain.explanation import Explanation, Part, ranked, taken
from maxmargin.explain.rows import CONSTANT, one_row

__all__ = ["explain", "named_weights"]


def explain(model: Any, x: Any) -> Explanation:
    """Every label against the best set that has it the other way."""
    columns, values = row = one_row(model._check_input, x)
    names, labels = feature_titles(model), list(map(str, model.classes_))
    best, others = _sets(model, row)
    parts = []
    for k, (label, other) in enumerate(zip(labels, others, strict=True)):
        apart = best.astype(float) - other
        weights = apart @ model.coef_[:, columns]
        pairs = zip(columns.tolist(), values.tolist(), weights.tolist(), strict=True)
        rows = [(names[j], value, weight) for j, value, weight in pairs]
        rows.append((CONSTANT, 1.0, float(apart @ model.intercept_)))
        if model.edge_coef_ is not None:
            states = _states(model, best), _states(model, other)
            rows += taken(*states, _namer(model), lambda s: model.edge_coef_[s])
        said = (label, f"not {label}") if best[k] else (f"not {label}", label)
        parts.append(Part(label, *said, ranked(rows)))
    note = "every label, and the best set that has it the other way"
    return Explanation(type(model).__name__, parts, note)


def _sets(model: Any, row: tuple) -> tuple[np.ndarray, np.ndarray]:
    """(the best set as 0 and 1, for every label the best set with it the other way)."""
    columns, values = row
    n = len(model.classes_)
    if model.edge_coef_ is None:
        best = model.coef_[:, columns] @ values + model.intercept_ > 0
        return best, best ^ np.eye(n, dtype=bool)
    x = np.zeros((n, model.coef_.shape[1]))
    x[:, columns] = values
    batch, w = model._searched(x)
    best = model._found(x[:1])[0] > 0
    known = np.eye(n, dtype=bool)
    flipped = np.where(known, ~best, best).astype(np.int32)
    batch = partly_known(batch._replace(y=flipped.ravel()), known.ravel())
    found = complete_all(batch, w, model._threads())
    return best, found.reshape(n, n) > 0


def _states(model: Any, marks: np.ndarray) -> list[tuple[int, int, int]]:
    """Of every edge, whether each of its labels is there."""
    pairs = enumerate(model.structure_.edges.tolist())
    return [(e, int(marks[a]), int(marks[b])) for e, (a, b) in pairs]


def _namer(model: Any) -> Callable[[tuple[int, int, int]], str]:
    """How the states of edges are called."""
    labels = list(map(str, model.classes_))

    def said(state: tuple[int, int, int]) -> str:
        e, *there = state
        ends = [labels[k] for k in model.structure_.edges[e].tolist()]
        if there[0] == there[1]:
            return " and ".join(ends) if there[0] else f"neither {' nor '.join(ends)}"
        return " without ".join(ends if there[0] else ends[::-1])

    return said
