"""Pictures of trees, and of true trees beside predicted ones. Needs matplotlib.

Functions draw into the ``ax`` that they are given, or make a figure that is large enough;
they save it if ``path`` is given and return it.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from maxmargin.plots.cells import PLAIN, finish
from maxmargin.plots.training import GREY, INK, ORANGE, _pyplot
from maxmargin.trees.metrics import score_brackets, wrong_brackets, wrong_tags
from maxmargin.trees.text import lay_out, levels_of, placed
from maxmargin.trees.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = 9  # of letters, in points; so are all lengths below
GAP, LEVEL, WORD = 9, 27, 16  # between words, from node to node, from tag to word
MARGIN, TITLE = 12, 18
LINE = "#B0B0B0"
WRONG = {"boxstyle": "round,pad=0.22", "fc": ORANGE, "ec": ORANGE}
MISSED = {"boxstyle": "round,pad=0.22", "fc": "white", "ec": ORANGE, "ls": (0, (3, 2))}


def plot_tree(
    tree: Tree,
    ax: Axes | None = None,
    path: str | os.PathLike | None = None,
    title: str | None = None,
) -> Figure:
    """A tree: words on one line, phrases above them in bold."""
    _check(tree, "tree")
    widths = _Widths()
    (ax,) = _panels(ax, [(tree, title)], widths)
    _draw(ax, tree, widths, title)
    return finish(ax.figure, False, path)


def plot_tree_errors(
    gold: Tree,
    predicted: Tree,
    ax: Axes | None = None,
    path: str | os.PathLike | None = None,
    title: str | None = None,
) -> Figure:
    """A true tree above the predicted one, with their differences marked.

    Wrong predicted phrases are white in a box; missed true phrases are in a dashed frame.
    Errors are those that `score_brackets` counts, so punctuation is ignored. Tags are
    compared word by word.

    Parameters
    ----------
    gold, predicted : Tree
        Over the same words.
    ax : pair of Axes or None
    path : file to save the figure to, or None
    title : str or None
        None counts the errors.
    """
    _check(gold, "gold")
    _check(predicted, "predicted")
    missed, wrong = wrong_brackets(gold, predicted)
    tags = wrong_tags(gold, predicted)
    scores = score_brackets([gold], [predicted])
    if title is None:
        title = (
            f"Predicted: {scores.counts.correct} of {scores.counts.predicted} brackets "
            f"right, {len(missed)} missed, F1 {100 * scores.f1:.0f}%"
        )
        title += "; boxes are wrong" if wrong or tags else ""
    widths = _Widths()
    true = "True; dashed frames were not found" if missed or tags else "True"
    above, below = _panels(ax, [(gold, true), (predicted, title)], widths)
    _draw(above, gold, widths, true, missed, tags, MISSED)
    _draw(below, predicted, widths, title, wrong, tags, WRONG)
    return finish(above.figure, False, path)


# drawing -----------------------------------------------------------------------------


class _Widths(dict):
    """Widths of texts in whole points, in bold, which is the wider face."""

    def __missing__(self, text: str) -> int:
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextPath

        bold = FontProperties(weight="bold")
        box = TextPath((0, 0), text.replace("$", r"\$"), SIZE, prop=bold).get_extents()
        self[text] = width = int(box.width) + 2
        return width


def _panels(ax, trees: list[tuple[Tree, str | None]], widths: _Widths) -> list:
    """The given Axes as a list, or those of a new figure that is large enough."""
    pyplot = _pyplot()
    if ax is not None:
        axes = list(ax) if hasattr(ax, "__len__") else [ax]
        if len(axes) != len(trees):
            raise ValueError(f"ax holds {len(axes)} Axes, but {len(trees)} are needed.")
        return axes
    sizes = [_size(tree, widths, title) for tree, title in trees]
    width, height = max(w for w, _ in sizes), sum(h for _, h in sizes)
    figure = pyplot.figure(figsize=(width / 72, height / 72))
    axes, top = [], height
    for own_width, own_height in sizes:
        box = (0, (top - own_height) / height, own_width / width, own_height / height)
        axes.append(figure.add_axes(box))
        top -= own_height
    return axes


def _size(tree: Tree, widths: _Widths, title: str | None) -> tuple[int, int]:
    wide = max(_width(tree, widths), widths[title] * 11 // SIZE if title else 0)
    high = WORD + LEVEL * (tree.height - 1) + SIZE + 2 * MARGIN
    return wide + 2 * MARGIN, high + (TITLE if title else 0)


def _width(tree: Tree, widths: _Widths) -> int:
    return lay_out(tree, widths.__getitem__, GAP)[id(tree)][0]


def _draw(
    ax,
    tree: Tree,
    widths: _Widths,
    title: str | None,
    marked: Collection[int] = (),
    marked_tags: Collection[int] = (),
    box: dict | None = None,
) -> None:
    """The tree in points; ``marked`` are numbers of phrases in the order of spans()."""
    from matplotlib.collections import LineCollection

    places = lay_out(tree, widths.__getitem__, GAP)
    levels = levels_of(tree, LEVEL, WORD)
    lines = []
    n_phrases = n_words = 0
    for node, _, x, ends in placed(tree, places):
        y = levels[id(node)]
        if node.is_preterminal:
            look = _look(n_words in marked_tags, box, {"color": GREY})
            ax.text(x, 0, node.children[0], color=INK, **_CENTRED)
            n_words += 1
        else:
            look = _look(n_phrases in marked, box, {"color": INK, "weight": "bold"})
            n_phrases += 1
            bar = y - 0.5 * LEVEL
            lines.append([(x, y), (x, bar)])
            lines.append([(ends[0], bar), (ends[-1], bar)])
            for child, end in zip(node.children, ends, strict=True):
                lines.append([(end, bar), (end, levels[id(child)])])
        ax.text(x, y, node.label, **look, **_CENTRED)
    ax.add_collection(LineCollection(lines, colors=LINE, linewidths=1, zorder=1))
    width, height = _size(tree, widths, title)
    ax.set_xlim(-MARGIN, width - MARGIN)
    ax.set_ylim(-MARGIN - SIZE / 2, height - MARGIN - SIZE / 2)
    ax.set_axis_off()
    if title:
        top = height - MARGIN - SIZE / 2
        ax.text(0, top - MARGIN, title, fontsize=11, va="top", color=INK, **PLAIN)


_CENTRED = {"ha": "center", "va": "center", "fontsize": SIZE, "zorder": 2, **PLAIN}
_PAPER = {"boxstyle": "square,pad=0.15", "fc": "white", "ec": "none"}


def _look(marked: bool, box: dict | None, usual: dict) -> dict:
    if not marked:
        return {**usual, "bbox": _PAPER}
    color = "white" if box["fc"] == ORANGE else ORANGE  # type: ignore[index]
    return {"color": color, "weight": "bold", "bbox": box}


def _check(tree, name: str) -> None:
    if not isinstance(tree, Tree):
        raise ValueError(f"{name} is of type {type(tree).__name__}, not a Tree.")
