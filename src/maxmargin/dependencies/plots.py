"""Pictures of dependency trees, alone or beside the truth. Needs matplotlib."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from maxmargin.dependencies.input import read_sentences, read_trees
from maxmargin.dependencies.svg import GAP, levels_of, unpacked, width_of
from maxmargin.plots.cells import PLAIN, finish
from maxmargin.plots.training import BLUE, GREY, INK, ORANGE, _pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = 9  # of letters, in points
LEVEL, ROOM = 16, 44  # points: from level to level, for words and tags
SCALE = 0.75  # points per pixel of the drawing as SVG


def plot_dependencies(
    sentence: Any,
    found: Any,
    truth: Any = None,
    ax: Axes | None = None,
    path: str | os.PathLike | None = None,
    title: str | None = None,
) -> Figure:
    """A sentence with its arcs above it; wrong ones in orange, true ones below.

    Parameters
    ----------
    sentence : list of (word, tag)
    found, truth : a head for every word, 0 for the root, or (head, label); truth may be
        None
    ax : Axes or None
    path : file to save the figure to, or None
    title : str or None
        None counts the wrong words, if the truth is given.
    """
    (sentence,) = read_sentences([sentence], "sentence")
    n = len(sentence)
    read_trees([found], [n])
    arcs = _arcs(found)
    missed: list[tuple[int, int, str | None]] = []
    if truth is not None:
        read_trees([truth], [n])
        missed = [arc for arc in _arcs(truth) if arc not in arcs]
        if title is None:
            title = f"{len(missed)} of {n} words are attached wrongly"
    wrong = {m for _, m, _ in missed}
    above, below = (
        levels_of([(h, m) for h, m, _ in rows if h]) for rows in (arcs, missed)
    )
    high, deep = max(above, default=0) + 1, (max(below, default=0) + 1) * bool(missed)
    places = _places(sentence, [*arcs, *missed])
    if ax is None:
        width = (places[-1] + 60) / 72
        height = (LEVEL * (high + deep) + ROOM + 30) / 72
        ax = _pyplot().figure(figsize=(width, height)).add_axes((0, 0, 1, 1))
    _draw(ax, arcs, places, dict.fromkeys(wrong, ORANGE), 1, high)
    _draw(ax, missed, places, dict.fromkeys(wrong, BLUE), -1, deep)
    for (word, tag), x in zip(sentence, places[1:], strict=True):
        ax.text(x, -10, word, color=INK, **_CENTRED)
        ax.text(x, -22, tag, color=GREY, **_CENTRED)
    ax.set_xlim(-10, places[-1] + 50)
    ax.set_ylim(-ROOM - LEVEL * deep, LEVEL * high + 24)
    ax.set_axis_off()
    if title:
        ax.set_title(title, fontsize=11, loc="left", x=0.02, y=0.96, va="top", **PLAIN)
    return finish(ax.figure, False, path)


_CENTRED = {"ha": "center", "va": "center", "fontsize": SIZE, **PLAIN}


def _arcs(output: Any) -> list[tuple[int, int, str | None]]:
    rows = zip(*unpacked(output), strict=True)
    return [(head, m, label) for m, (head, label) in enumerate(rows, 1)]


def _places(sentence, arcs) -> list[float]:
    """The middle of every word; 0 for the root."""
    room = [0.0] * (len(sentence) + 1)
    for head, m, label in arcs:
        if head and abs(head - m) == 1:
            k = max(head, m)
            room[k] = max(room[k], 6.0 * len(label or "") + 6)
    places, x = [0.0], 20.0
    for m, (word, tag) in enumerate(sentence, 1):
        half = SCALE * max(width_of(word), width_of(tag), 14) / 2
        x = max(x + half, places[-1] + room[m] if m > 1 else 0.0)
        places.append(x)
        x += half + SCALE * GAP
    return places


def _draw(ax, arcs, places, colours, side: int, highest: int) -> None:
    levels = iter(levels_of([(h, m) for h, m, _ in arcs if h]))
    base = 0 if side > 0 else -32
    for head, m, label in arcs:
        top = base + side * LEVEL * (next(levels) if head else highest)
        end, colour = places[m], colours.get(m, GREY)
        style = "-" if side > 0 else "--"
        begin = end
        if head:
            shift = 3 if head > m else -3
            begin, end = places[head] - shift, end + shift
            bend = min(8.0, abs(begin - end) / 2) * (1 if end > begin else -1)
            xs = [
                begin,
                begin + bend / 3,
                begin + bend,
                end - bend,
                end - bend / 3,
                end,
            ]
            near = top - side * 3
            ax.plot(xs, [base, near, top, top, near, base], style, color=colour, lw=1)
        else:
            ax.plot([end, end], [top, base], style, color=colour, lw=1)
        ax.plot(
            [end], [base + side], marker="v" if side > 0 else "^", ms=4, color=colour
        )
        name = label if label is not None else ("" if head else "root")
        if name:
            at = top + side * 5
            ax.text(
                (begin + end) / 2, at, name, color=colour, **_CENTRED | {"fontsize": 7}
            )
