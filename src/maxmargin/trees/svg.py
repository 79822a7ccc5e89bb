"""A tree as SVG, words on one line: what notebooks show."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from maxmargin.trees.text import lay_out, levels_of, placed
from maxmargin.views.view import WRONG, escaped, svg

if TYPE_CHECKING:
    from maxmargin.trees.tree import Tree

LETTER, GAP, LEVEL, WORD, MARGIN = 8, 12, 32, 19, 14  # pixels
LINE = 'stroke="rgb(128 128 128 / .7)" fill="none"'


def width_of(text: str) -> int:
    """Pixels of a text, about: letters of East Asia are twice as wide."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return LETTER * (len(text) + wide) + 2


def tree_svg(
    tree: Tree,
    marked: Collection[int] = (),
    marked_tags: Collection[int] = (),
    found: bool = True,
) -> str:
    """The tree; ``marked`` are places in ``spans()``, ``marked_tags`` numbers of words.

    They are boxed, or with ``found=False`` in a dashed frame.
    """
    places = lay_out(tree, width_of, GAP)
    levels = levels_of(tree, LEVEL, WORD)
    bottom = MARGIN + levels[id(tree)]
    lines: list[str] = []
    texts: list[str] = []
    n_phrases = n_words = 0
    for node, _, centre, columns in placed(tree, places):
        x, y = MARGIN + centre, bottom - levels[id(node)]
        if node.is_preterminal:
            texts.append(_text(node.children[0], x, bottom))
            texts.append(_label(node.label, x, y, n_words in marked_tags, found, False))
            n_words += 1
            continue
        texts.append(_label(node.label, x, y, n_phrases in marked, found, True))
        n_phrases += 1
        ends = [MARGIN + column for column in columns]
        bar = y + LEVEL // 2
        lines.append(f"M{x} {y + 6}V{bar}M{ends[0]} {bar}H{ends[-1]}")
        for child, end in zip(node.children, ends, strict=True):
            lines.append(f"M{end} {bar}V{bottom - levels[id(child)] - 12}")
    path = f'<path d="{"".join(lines)}" {LINE}/>' if lines else ""
    width = places[id(tree)][0] + 2 * MARGIN
    return svg(width, bottom + MARGIN, [path, *texts])


def trees_svg(trees: Iterable[Tree]) -> str:
    """Trees below each other."""
    found, wide, high = [], 0, 0
    for tree in trees:
        text = tree_svg(tree)
        width, height = re.search(r'width="(\d+)" height="(\d+)"', text).groups()
        found.append(text.replace("<svg ", f'<svg y="{high}" ', 1))
        wide, high = max(wide, int(width)), high + int(height)
    return svg(wide, high, found)


def _text(text: str, x: int, y: int, look: str = "") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="middle"{look}>{escaped(text)}</text>'


def _label(label: str, x: int, y: int, marked: bool, found: bool, bold: bool) -> str:
    look = ' font-weight="600"' if bold else ' opacity=".75"'
    if not marked:
        return _text(label, x, y, look)
    wide = width_of(label) + 4
    fill = WRONG if found else "none"
    dash = "" if found else ' stroke-dasharray="3 2"'
    box = (
        f'<rect x="{x - wide / 2}" y="{y - 14}" width="{wide}" height="19" rx="4" '
        f'fill="{fill}" stroke="{WRONG}"{dash}/>'
    )
    style = ' font-weight="600"' + (' style="fill:white"' if found else "")
    return box + _text(label, x, y, style)
