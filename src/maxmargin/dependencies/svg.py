"""Arcs above a sentence as SVG: what notebooks and reports show."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from maxmargin.views.view import RIGHT, WRONG, escaped, svg

LETTER, GAP, LEVEL, MARGIN, LINE = 8, 18, 22, 12, 17  # pixels
LABEL = 7  # pixels of a letter of a label
SOFT = "rgb(128 128 128 / .8)"


def width_of(text: str, letter: int = LETTER) -> int:
    """Pixels of a text, about: letters of East Asia are twice as wide."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return letter * (len(text) + wide)


def levels_of(arcs: Sequence[tuple[int, int]]) -> list[int]:
    """How high each arc is drawn: above all that lie within its ends, from 1 on."""
    order = sorted(range(len(arcs)), key=lambda k: abs(arcs[k][0] - arcs[k][1]))
    levels = [0] * len(arcs)
    tops: dict[int, int] = {}  # between word g and g + 1
    for k in order:
        a, b = sorted(arcs[k])
        levels[k] = 1 + max((tops.get(g, 0) for g in range(a, b)), default=0)
        for g in range(a, b):
            tops[g] = levels[k]
    return levels


def arcs_svg(
    sentence: Sequence[tuple[str, str]],
    heads: Sequence[int],
    labels: Sequence[str | None],
    wrong: Collection[int] = (),
    missed: Sequence[tuple[int, int, str | None]] = (),
) -> str:
    """A sentence with its arcs above it.

    ``wrong`` are words (from 1) whose arcs are marked; ``missed`` are true arcs (head,
    word, label), dashed below the sentence.
    """
    places = _places(sentence, heads, labels, missed)
    real = [(h, m) for m, h in enumerate(heads, 1) if h]
    levels = dict(zip(real, levels_of(real), strict=True))
    below = [(h, m) for h, m, _ in missed if h]
    depths = dict(zip(below, levels_of(below), strict=True))
    top = MARGIN + LEVEL * (max(levels.values(), default=0) + 1) + LINE
    parts = []
    for m, (head, label) in enumerate(zip(heads, labels, strict=True), 1):
        colour = WRONG if m in wrong else SOFT
        height = LEVEL * (
            levels[head, m] if head else max(levels.values(), default=0) + 1
        )
        parts.append(_arc(places, head, m, label, top, -height, colour))
    bottom = top + 2 * LINE
    for head, m, label in missed:
        depth = LEVEL * (
            depths[head, m] if head else max(depths.values(), default=0) + 1
        )
        parts.append(_arc(places, head, m, label, bottom + 6, depth, RIGHT, True))
    for (word, tag), x in zip(sentence, places[1:], strict=True):
        parts.append(_text(word, x, top + LINE))
        parts.append(_text(tag, x, top + 2 * LINE, ' opacity=".65" font-size="11"'))
    deep = LEVEL * (max(depths.values(), default=0) + 1) + LINE if missed else 0
    width = places[-1] + width_of(sentence[-1][0]) // 2 if sentence else 0
    return svg(width + MARGIN + 30, bottom + deep + MARGIN, parts)


def _places(sentence, heads, labels, missed) -> list[int]:
    """The middle of every word; 0 for the root. Labels fit between neighbours."""
    room = [0] * (len(sentence) + 1)  # left of each word
    arcs = [
        (h, m, label) for m, (h, label) in enumerate(zip(heads, labels, strict=True), 1)
    ]
    for head, m, label in [*arcs, *missed]:
        if head and abs(head - m) == 1:
            word = max(head, m)
            room[word] = max(room[word], width_of(label or "", LABEL) + 10)
    places, x = [0], MARGIN
    for m, (word, tag) in enumerate(sentence, 1):
        half = max(width_of(word), width_of(tag), 14) // 2
        x += half
        if m > 1:
            x = max(x, places[-1] + room[m])
        places.append(x)
        x += half + GAP
    return places


def _arc(places, head, m, label, y, height, colour, dashed=False) -> str:
    """From the head to the word, whose end is the arrow; the root has a line."""
    end = places[m]
    begin = places[head] if head else end
    shift = 5 if head > m else -5
    begin, end = (begin - shift, end + shift) if head else (begin, end)
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    if head:
        bend = min(14, abs(begin - end) / 2)
        bend = bend if end > begin else -bend
        edge = y + height
        path = (
            f"M{begin} {y}C{begin} {edge} {begin} {edge} {begin + bend:.0f} {edge}"
            f"H{end - bend:.0f}C{end} {edge} {end} {edge} {end} {y}"
        )
    else:
        path = f"M{end} {y + height}V{y}"
    point = -5 if height < 0 else 5
    tip = f"M{end - 4} {y + point}L{end} {y}L{end + 4} {y + point}"
    look = f'fill="none" stroke="{colour}" stroke-width="1.4"{dash}'
    drawn = f'<path d="{path}{tip}" {look}/>'
    name = label if label is not None else ("" if head else "root")
    at = y + height + (-4 if height < 0 else 12)
    look = ' font-size="11"' + (f' style="fill:{colour}"' if colour != SOFT else "")
    return drawn + (_text(name, (begin + end) // 2, at, look) if name else "")


def _text(text: str, x: float, y: float, look: str = "") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle"{look}>{escaped(text)}</text>'


def pictures(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Drawings of (sentence, heads or (head, label)s) below each other."""
    found, wide, high = [], 0, 0
    for sentence, output in pairs:
        text = arcs_svg(sentence, *unpacked(output))
        start = text[: text.index(">")]
        width, height = (
            int(start.split(f'{name}="')[1].split('"')[0])
            for name in ("width", "height")
        )
        found.append(text.replace("<svg ", f'<svg y="{high}" ', 1))
        wide, high = max(wide, width), high + height
    return svg(wide, high, found)


def unpacked(output: Sequence) -> tuple[list[int], list[str | None]]:
    """(heads, labels) of an output."""
    rows = [row if isinstance(row, (tuple, list)) else (row, None) for row in output]
    return [int(h) for h, _ in rows], [label for _, label in rows]
