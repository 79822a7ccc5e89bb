"""Word alignments in a notebook: two lines of words, and lines between them."""

from __future__ import annotations

from typing import Any

from maxmargin.matchings.input import check_pairs
from maxmargin.matchings.metrics import as_links, check_inside, wrong_links
from maxmargin.views.view import RIGHT, WRONG, View, about, escaped, svg

LETTER, GAP, HIGH = 7.8, 16, 110  # pixels
STYLES = {
    "predicted": f'stroke="{RIGHT}" stroke-width="2"',
    "right": f'stroke="{RIGHT}" stroke-width="2"',
    "wrong": f'stroke="{WRONG}" stroke-width="2" stroke-dasharray="6 3"',
    "missed": 'stroke="rgb(128 128 128)" stroke-width="1.4" stroke-dasharray="2 3"',
}


def links(pair: Any, predicted: Any, truth: Any = None) -> View:
    """A sentence pair and its links.

    With ``truth``: correct links are blue, wrong ones orange and dashed, missed sure ones
    grey and dotted.
    """
    source, target = check_pairs([pair], "pair").pairs[0]
    given = as_links(predicted, "predicted")
    found = {*given.sure, *given.possible}
    kinds = {"predicted": found}
    says = f"{len(found)} links"
    if truth is not None:
        gold = as_links(truth, "truth")
        missed, wrong = wrong_links(gold, found)
        kinds = {"missed": missed, "right": found - wrong, "wrong": wrong}
        counts = [f"{len(kinds[kind])} {kind}" for kind in ("right", "wrong", "missed")]
        says = f"{counts[0]} (blue), {counts[1]} (dashed), {counts[2]} (dotted)"
    check_inside(set().union(*kinds.values()), len(source), len(target))
    (above, width), (below, other) = _places(source), _places(target)
    parts = [
        f'<line x1="{above[i]:.0f}" y1="26" x2="{below[j]:.0f}" y2="{HIGH - 28}" {look}/>'
        for kind, look in STYLES.items()
        for i, j in sorted(kinds.get(kind, ()))
    ]
    for words, places, y in ((source, above, 18), (target, below, HIGH - 14)):
        parts += [
            f'<text x="{x:.0f}" y="{y}" text-anchor="middle">{escaped(word)}</text>'
            for word, x in zip(words, places, strict=True)
        ]
    text = " ".join(f"{source[i]}-{target[j]}" for i, j in sorted(found))
    picture = svg(max(width, other), HIGH, parts)
    return View(picture + about(says), text or says, picture)


def _places(words: list[str]) -> tuple[list[float], float]:
    """The middle of every word, and the width of all."""
    at, places = float(GAP), []
    for word in words:
        wide = LETTER * max(len(word), 2)
        places.append(at + wide / 2)
        at += wide + GAP
    return places, at
