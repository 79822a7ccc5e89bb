"""Names of the weights of an aligner."""

from __future__ import annotations

import itertools
from typing import Any


def named_weights(model: Any) -> list[tuple[str, str, float]]:
    """(term, symbols, weight) of terms whose symbols have names, the largest first."""
    named = []
    for name, term in zip(model.model_.names, model.model_.terms, strict=True):
        sides = [symbols_of(model.model_, view, k) for k, view in enumerate(term[:2])]
        if None in sides:
            continue
        table = model.term_weights(name)
        for (i, a), (j, b) in itertools.product(*map(enumerate, sides)):
            if not (term.tied and j > i) and table[i, j] != 0:
                named.append((name, f"{a} {b}", float(table[i, j])))
    return sorted(named, key=lambda row: -row[2])


def symbols_of(model: Any, view: Any, side: int) -> list[str] | None:
    """Names of the symbols of a view; None for windows and vectors."""
    if view.width > 1 or model.is_dense(view):
        return None
    alphabets = [model.alphabets[t][side] if t != "1" else ("",) for t in view.tracks]
    return ["".join(symbols) for symbols in itertools.product(*alphabets)]
