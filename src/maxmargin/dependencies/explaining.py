"""Why words have the heads that they have; and the weights of pairs of tags.

The runner-up of a word is the best tree in which its head, or its label, is another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.decode import decode
from maxmargin.dependencies.input import read_sentences
from maxmargin.dependencies.k_best import best_without
from maxmargin.dependencies.naming import Names, tag_weights
from maxmargin.explain.explanation import Explanation, Part
from maxmargin.explain.joint import Joint


def explain(parser: Any, x: Any) -> Explanation:
    """Every arc of the best tree, against the best tree without it."""
    (sentence,) = read_sentences([x])
    structure, w = parser._fitted(), parser._weights()
    batch = structure.encode([sentence])
    best = decode(batch, w)
    names, parts = Names(structure, batch, sentence), []
    names.add(best)
    joint = Joint(batch, w, names)
    for m, other in enumerate(best_without(batch, 0, w, best), 1):
        if other is None:
            continue
        names.add(other)
        said = [_said(structure, sentence, y[m - 1]) for y in (best, other)]
        parts.append(
            Part(f"{m} {sentence[m - 1][0]!r}", *said, joint.between(best, other))
        )
    return Explanation(type(parser).__name__, parts, "the head of every word")


def _said(structure: Any, sentence: list, code: Any) -> str:
    n_labels = max(len(structure.labels), 1)
    head, label = divmod(int(code), n_labels)
    word = f"{head} {sentence[head - 1][0]!r}" if head else "root"
    return f"{word} ({structure.labels[label]})" if structure.labels else word


def named_weights(parser: Any, top: int | None = None) -> list[tuple[str, str, float]]:
    """(group, feature, weight) of the features that consist of tags, the largest first."""
    w = np.asarray(parser._weights(), float)
    rows = [row for row in tag_weights(parser._fitted(), w) if row[2]]
    rows.sort(key=lambda row: -abs(row[2]))
    if top is None:
        return rows
    groups = dict.fromkeys(group for group, _, _ in rows)
    return [row for g in groups for row in [r for r in rows if r[0] == g][:top]]
