"""Classes of a taxonomy in a notebook: the way from the top down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from maxmargin.classes.taxonomy.taxonomy import Taxonomy, as_taxonomy
from maxmargin.classes.view import kind_of, members, verdict
from maxmargin.views.view import RIGHT, WRONG, View, about, escaped

MOST = 60  # nodes
STEP = 1.6  # letters by which a level stands to the right
LOOKS = {
    "right": f"background:{RIGHT}44",
    "wrong": f"background:{WRONG}55",
    "missed": f"outline:1.5px dashed {WRONG}",
}


def taxonomy(tree: Any, predicted: Any, truth: Any = None) -> View:
    """Predicted nodes with all their ancestors, from the top down.

    With ``truth``, wrong nodes are orange, and those that were missed in a dashed frame.

    Parameters
    ----------
    tree : a :class:`maxmargin.Taxonomy`, or what makes one
    predicted, truth : a node, or a set of nodes

    >>> from maxmargin import Taxonomy
    >>> from maxmargin.views import taxonomy
    >>> taxonomy(Taxonomy.from_paths(["pet.cat", "pet.dog"]), "pet.dog", "pet.cat")
    pet.dog, but the truth is pet.cat
    pet
      pet.cat (missed)
      pet.dog (wrong)
    """
    tree = as_taxonomy(tree)
    found = tree.closure(members(predicted))
    true = None if truth is None else tree.closure(members(truth))
    lowest = [tree.lowest(nodes) for nodes in (found, true or ())]
    says = verdict(lowest[0], None if true is None else lowest[1])
    lines = list(_outline(tree, found | (true or set())))
    body, texts = [about(f"Predicted: {says}.")], [says]
    for depth, name in lines[:MOST]:
        kind = kind_of(name, found, true)
        place = f'style="margin-inline-start:{STEP * depth:.1f}em"'
        body.append(
            f'<p {place}><span style="{LOOKS[kind]}">{escaped(name)}</span></p>'
        )
        note = "" if kind == "right" else f" ({kind})"
        texts.append(f"{'  ' * depth}{name}{note}")
    if len(lines) > MOST:
        body.append(about(f"The first {MOST} of {len(lines):,} nodes."))
    return View("".join(body), "\n".join(texts))


def _outline(tree: Taxonomy, nodes: set) -> Iterator[tuple[int, Any]]:
    """(levels above it, node): every node once, below one of its parents."""
    inside = {tree.position_of(node) for node in nodes}
    seen: set[int] = set()
    stack = [(0, i) for i in sorted(inside, reverse=True) if not tree.parents[i]]
    while stack:
        depth, i = stack.pop()
        if i in seen:
            continue
        seen.add(i)
        yield depth, tree.nodes[i]
        below = [k for k in tree.children[i] if k in inside]
        stack += [(depth + 1, k) for k in sorted(below, reverse=True)]
