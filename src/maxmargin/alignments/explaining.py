"""Why two sequences are aligned as they are: against the second best alignment."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from maxmargin.alignments.input import matched_pairs
from maxmargin.alignments.k_best import k_best
from maxmargin.alignments.names import named_weights as by_term
from maxmargin.alignments.names import symbols_of
from maxmargin.explain.explanation import Explanation, Part
from maxmargin.explain.joint import Joint


def explain(aligner: Any, x: Any) -> Explanation:
    """The best alignment of a pair against the second best."""
    batch = aligner._fitted().encode([x])
    labels, scores = k_best(batch, aligner.coef_, 2, aligner._threads())
    joint, parts = Joint(batch, aligner.coef_, namer(aligner)), []
    if np.isfinite(scores[1, 0]):
        pairs = [set(matched_pairs(row)) for row in labels]
        said = [_said(a - b) for a, b in (pairs, pairs[::-1])]
        features = joint.between(labels[0], labels[1])
        parts.append(Part("alignment", *said, features))
    note = "the best alignment, and the second best; pairs are counted from 1"
    return Explanation(type(aligner).__name__, parts, note)


def _said(pairs: set) -> str:
    texts = [f"{i + 1} with {j + 1}" for i, j in sorted(pairs)]
    more = f" and {len(texts) - 8} more" if len(texts) > 8 else ""
    return ", ".join(texts[:8]) + more if texts else "no more matches"


def namer(aligner: Any) -> Callable[[int], str]:
    """What the weights are called, by number."""
    model, found = aligner.model_, {}
    for name, term in zip(model.names, model.terms, strict=True):
        places = model.places(name)
        sides = [symbols_of(model, view, side) for side, view in enumerate(term[:2])]
        if None in sides:
            found |= dict.fromkeys(places.ravel().tolist(), name)
            continue
        cells = zip(places.ravel().tolist(), product(*sides), strict=True)
        term_name = f" ({name})" if len(model.names) > 1 else ""
        found |= {j: f"{a} with {b}{term_name}" for j, (a, b) in cells}
    for places in model.gap_places.values():
        if isinstance(places, dict):
            found[places["extend"]] = "gap, each position"
            found[places["open"]] = "gap opened"
    return lambda j: found.get(j, "gap")


def named_weights(aligner: Any) -> list[tuple[str, str, float]]:
    """(term, symbols, weight) of terms whose symbols have names, the largest first."""
    rows = [(g, name.replace(" ", " with "), w) for g, name, w in by_term(aligner)]
    return sorted(rows, key=lambda row: -abs(row[2]))
