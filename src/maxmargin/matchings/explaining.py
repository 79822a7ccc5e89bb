"""Why two words are linked: against the best matching without the link."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.completion import complete_all
from maxmargin.core.decode import decode
from maxmargin.explain.explained import rows_of
from maxmargin.explain.explanation import Explanation, Part
from maxmargin.explain.joint import Joint
from maxmargin.matchings.input import check_pairs
from maxmargin.matchings.links import partly_linked, to_links
from maxmargin.matchings.titles import title_of


def explain(aligner: Any, x: Any) -> Explanation:
    """Every predicted link against the best matching that does not have it."""
    source, target = check_pairs([x]).pairs[0]
    batch = aligner._fitted().encode([x])
    w = aligner.coef_
    best = decode(batch, w, 1)
    names, parts = feature_titles(aligner), []
    joint = Joint(batch, w, names.__getitem__)
    links = to_links(best, batch.source_most)
    for i, j in links:
        free = np.ones(len(batch.x), bool)
        free[i * len(target) + j] = False  # known: there is no link
        other = complete_all(partly_linked(batch, free), w, 1)
        new = set(to_links(other, batch.source_most)) - set(links)
        texts = [f"{source[a]} with {target[b]}" for a, b in sorted(new)]
        said = ", ".join(texts) if texts else "no link"
        name = f"{source[i]} with {target[j]}"
        parts.append(Part(name, "linked", said, joint.between(best, other)))
    note = "links, and the best matching without each"
    return Explanation(type(aligner).__name__, parts, note)


def named_weights(aligner: Any) -> list[tuple[str, str, float]]:
    """("", feature, weight), the largest first."""
    return rows_of(aligner.coef_, [""], feature_titles(aligner))


def feature_titles(aligner: Any) -> list[str]:
    """The features by what they are."""
    return list(map(title_of, aligner.feature_names_))
