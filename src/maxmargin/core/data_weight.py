"""What C=None means: the family's own rule. ``C_`` of a fitted model is the value used.

A family whose default is a number has that number as its rule. Others declare
``_C_by_objective`` (what is not listed has C = 1) or compute C from the training data and
hand it over as ``Encoded.C``.
"""

from __future__ import annotations

import inspect
from typing import Any


def C_of(model: Any, encoded: Any = None) -> float:
    """The C to train with: the parameter, else what the rule says."""
    if model.C is not None:
        return float(model.C)
    found = getattr(encoded, "C", None)
    return float(
        C_without_data(type(model), model.objective) if found is None else found
    )


def C_without_data(family: type, objective: str) -> float:
    """The rule of a family as far as it does not depend on the data."""
    default = inspect.signature(family.__init__).parameters["C"].default
    if default is not None:
        return default
    return getattr(family, "_C_by_objective", {}).get(objective, 1.0)
