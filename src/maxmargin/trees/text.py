"""A tree as text art, root above and words on one line below."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from maxmargin.trees.tree import Tree

# down, across, first child, last child, node above, child below, both
BOX = "│─┌┐┴┬┼"
ASCII = "|_,.|.|"
GAP = 1  # columns between neighbours


def draw(tree: Tree, ascii: bool = False) -> str:
    """The tree as text art, root above, all words on the lowest line.

    >>> from maxmargin.trees import Tree
    >>> print(Tree.parse("(S (NP (PRP We)) (VP (VBP try)))").draw())
       S
     ┌─┴─┐
     NP  VP
     │   │
    PRP VBP
     │   │
     We try
    """
    down, across, first, last, above, below, both = ASCII if ascii else BOX
    places = lay_out(tree, len, GAP)
    bottom = 2 * tree.height
    rows = [""] * (bottom + 1)

    def write(row: int, column: int, text: str) -> None:
        rows[row] += " " * (column - len(rows[row])) + text

    for node, depth, centre, ends in placed(tree, places):  # so that rows only grow
        write(2 * depth, centre - half(len(node.label)), node.label)
        if node.is_preterminal:
            word = node.children[0]
            for row in range(2 * depth + 1, bottom):
                write(row, centre, down)
            write(bottom, centre - half(len(word)), word)
            continue
        line = [across] * (ends[-1] - ends[0] + 1)
        for end in ends:
            line[end - ends[0]] = below
        line[0], line[-1] = first, last
        line[centre - ends[0]] = both if centre in ends else above
        write(2 * depth + 1, ends[0], down if len(ends) == 1 else "".join(line))
    return "\n".join(rows)


def levels_of(tree: Tree, level: int, word: int) -> dict[int, int]:
    """How high nodes stand, by id: tags just above words, phrases one level above."""
    levels: dict[int, int] = {}

    def place(node, below):
        levels[id(node)] = height = max(below) + level if below else word
        return height

    tree.fold(place)
    return levels


def lay_out(
    tree: Tree, width: Callable[[str], int], gap: int
) -> dict[int, tuple[int, int, list[int]]]:
    """For every node, by id: width, column of its centre, and offsets of its children.

    Children stand side by side and a node in the middle above them; columns count from
    the left end of the node's own block. ``width`` measures a text.
    """
    places: dict[int, tuple[int, int, list[int]]] = {}

    def place(node, below):
        own = width(node.label)
        if not below:
            widest = max(own, width(node.children[0]))
            places[id(node)] = (widest, half(widest), [])
            return node
        offsets, at = [], 0
        for child in below:
            offsets.append(at)
            at += places[id(child)][0] + gap
        centre = offsets[-1] + places[id(below[-1])][1] + places[id(below[0])][1]
        centre //= 2
        shift = max(0, half(own) - centre)  # a label wider than all below it
        offsets, centre = [offset + shift for offset in offsets], centre + shift
        end = centre - half(own) + own
        places[id(node)] = (max(at - gap + shift, end), centre, offsets)
        return node

    tree.fold(place)
    return places


def placed(
    tree: Tree, places: dict[int, tuple[int, int, list[int]]]
) -> Iterator[tuple[Tree, int, int, list[int]]]:
    """(node, its depth, its column, those of its children) from left to right."""
    stack = [(tree, 0, 0)]
    while stack:
        node, depth, left = stack.pop()
        _, centre, offsets = places[id(node)]
        # a word, which is a child too, has no offset
        below = [(c, left + o) for c, o in zip(node.children, offsets, strict=False)]
        yield node, depth, left + centre, [o + places[id(c)][1] for c, o in below]
        stack += [(child, depth + 1, at) for child, at in reversed(below)]


def half(width: int) -> int:
    """From the left end of a text to its middle."""
    return (width - 1) // 2
