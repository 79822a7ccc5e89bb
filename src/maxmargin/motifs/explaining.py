"""Why a sequence has the motif, or not: its best site, and what it is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.explain.explanation import Explanation, Part
from maxmargin.explain.joint import Joint
from maxmargin.motifs.composition import SIZES, background_size
from maxmargin.motifs.input import LETTERS


def explain(finder: Any, x: Any) -> Explanation:
    """The label of a sequence against the other one, at the best site."""
    batch, scores, places = finder._search([x])
    joint = Joint(batch, finder.coef_, namer(finder))
    nothing, site = np.zeros(1, np.int32), places[:1] + 1
    positive = scores[0] > 0
    one, other = (site, nothing) if positive else (nothing, site)
    labels = [str(z) for z in finder.classes_[[int(positive), int(not positive)]]]
    (where,) = finder.predict_sites([x])
    note = f"the best site: letters {where.start + 1} to {where.end}, {where.strand}"
    part = Part("label", *labels, joint.between(one, other))
    return Explanation(type(finder).__name__, [part], note)


def namer(finder: Any) -> Callable[[int], str]:
    """What the weights are called, by number."""
    motif, words = 4 * finder.width_, 4 * finder.width_ + background_size(finder.order)

    def name(j: int) -> str:
        if j < motif:
            return f"site, position {j // 4 + 1}: {LETTERS[j % 4]}"
        j, sizes = (j - motif, range(1, 99)) if j < words else (j - words, SIZES)
        for size in sizes:
            if j < 4**size:
                break
            j -= 4**size
        letters = "".join(LETTERS[j // 4**k % 4] for k in reversed(range(size)))
        if sizes is SIZES:
            return f"word {letters} anywhere"
        return f"background {letters[-1]}{f' after {letters[:-1]}' * (size > 1)}"

    return name


def named_weights(finder: Any) -> list[tuple[str, str, float]]:
    """(motif, background or words; feature; weight), the largest first."""
    name, w = namer(finder), np.asarray(finder.coef_, float)
    motif, words = 4 * finder.width_, 4 * finder.width_ + background_size(finder.order)
    places = np.flatnonzero(w)
    order = places[np.argsort(-np.abs(w[places]), kind="stable")].tolist()
    groups = np.searchsorted([motif, words], order, side="right")
    kinds = [("motif", "background", "words")[k] for k in groups]
    return [(kind, name(j), float(w[j])) for kind, j in zip(kinds, order, strict=True)]
