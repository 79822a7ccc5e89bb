"""The explanations of all families: a file ``explaining.py`` in each, found by estimator.

It has ``explain(model, x)``, which returns an `Explanation`, and ``named_weights(model)``,
which returns rows (group, feature, weight). A family names it under ``explains``.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.explain.explanation import Explanation
from maxmargin.families import places
from maxmargin.fitting.structural import StructuralSVM


def explained(model: Any, x: Any, options: dict[str, Any]) -> Explanation:
    """``model.explain``."""
    check_is_fitted(model)
    return known_family(model).explain(model, x, **options)


def family_of(model: Any) -> Any:
    """The module ``explaining`` of a model's family, or None."""
    table = places("explains")
    for cls in type(model).__mro__:
        if cls.__name__ in table:
            return importlib.import_module(table[cls.__name__])
    if isinstance(model, StructuralSVM):  # a problem or a structure of a user's own
        return importlib.import_module("maxmargin.explain.problems")
    return None


def known_family(model: Any) -> Any:
    """The same; TypeError where there is none."""
    found = family_of(model)
    if found is None:
        raise TypeError(
            f"{type(model).__name__} has no features with names of their own, which "
            "explanations and tables of weights need."
        )
    return found


def titles(names: Any, n: int, word: str = "feature") -> list[str]:
    """Names of n features, or their numbers, counted from 1 as reports do."""
    if names is None:
        return [f"{word} {j + 1}" for j in range(n)]
    return list(map(str, names))


def rows_of(table: Any, groups: Any, names: list[str]) -> list[tuple[str, str, float]]:
    """(group, feature, weight) of the weights that are not zero, the largest first."""
    table = np.atleast_2d(np.asarray(table, float))
    rows, columns = np.nonzero(table)
    weights = table[rows, columns]
    order = np.lexsort((columns, rows, -np.abs(weights)))
    found = zip(rows[order].tolist(), columns[order].tolist(), strict=True)
    return [(groups[k], names[j], float(table[k, j])) for k, j in found]
