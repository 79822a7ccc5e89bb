"""Why a sample got its class, or its set of nodes; and the weights in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.explain.explained import rows_of, titles
from maxmargin.explain.explanation import Explanation, Part
from maxmargin.explain.rows import differences, one_row


def explain(model: Any, x: Any) -> Explanation:
    """The class against the one with the second largest score; nodes in or out of a set."""
    row = one_row(model._check_input, x)
    names = feature_titles(model)
    if getattr(model, "kind_", "") == "sets":
        return _nodes(model, row, names)
    n = len(model.classes_)
    lines = model.structure_.marks() if hasattr(model, "nodes_") else np.eye(n)
    table, constants = lines @ model.coef_, lines @ model.intercept_
    scores = table[:, row[0]] @ row[1] + constants
    a, b = np.argsort(-scores, kind="stable")[:2].tolist()
    found = differences(row, table[a] - table[b], constants[a] - constants[b], names)
    part = Part("class", str(model.classes_[a]), str(model.classes_[b]), found)
    return Explanation(type(model).__name__, [part])


def _nodes(model: Any, row: Any, names: list[str]) -> Explanation:
    """Every node of the best set, and every other one that could be in it."""
    scores = model.coef_[:, row[0]] @ row[1] + model.intercept_
    best = model.structure_.best_sets(scores[None])[0]
    far = 1.0 + 2.0 * np.abs(scores).sum()
    parts = []
    for v, node in enumerate(map(str, model.nodes_)):
        forced = scores.copy()
        forced[v] += far * (1 - 2 * best[v])
        other = model.structure_.best_sets(forced[None])[0]
        apart = best.astype(float) - other
        found = differences(row, apart @ model.coef_, apart @ model.intercept_, names)
        said = (node, f"not {node}") if best[v] else (f"not {node}", node)
        parts.append(Part(node, *said, found))
    note = "every node, and the best set that has it the other way"
    return Explanation(type(model).__name__, parts, note)


def feature_titles(model: Any) -> list[str]:
    """Names of the columns of X, or their numbers."""
    return titles(getattr(model, "feature_names_in_", None), model.coef_.shape[-1])


def named_weights(model: Any) -> list[tuple[str, str, float]]:
    """(class or node, feature, weight), the largest first."""
    groups = list(map(str, getattr(model, "nodes_", model.classes_)))
    return rows_of(model.coef_, groups, feature_titles(model))
