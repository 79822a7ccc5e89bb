"""Trees with at most two children per node, and back; chains of unary nodes, and back.

A node A -> B C D E becomes, with ``direction="right"`` and ``horizontal=2``,

    A -> B A|<C;D>      A|<C;D> -> C A|<D;E>      A|<D;E> -> D E

An *intermediate* symbol A|<...> names the next ``horizontal`` siblings to come, so that
rules with the same neighbourhood share it (Markov grammars: Collins 1999; Klein & Manning
2003, section 2). With ``parent=1`` phrases also name the phrase above them, NP^<S>
(Johnson 1998). Both are the symbols of ``nltk.Tree.chomsky_normal_form``, except that
siblings are separated by semicolons. Unary nodes stay.

Labels in which the signs of this notation occur get backslashes before these signs, so
every tree can be undone exactly. Tags stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from maxmargin.trees.parameters import BINARISED
from maxmargin.trees.tree import Tree, parsed

DIRECTIONS = ("right", "left")
_SPECIAL = re.compile(r"([\\|^;])")
_ESCAPED = re.compile(r"\\(.)")
_NAME = re.compile(r"(?:\\.|[^\\|^])*")  # up to the first sign without a backslash


def binarize(
    tree: Tree,
    *,
    direction: str = "right",
    horizontal: int | None = 2,
    parent: int = 0,
) -> Tree:
    """The tree with at most two children per node.

    Parameters
    ----------
    tree : Tree
    direction : {"right", "left"}
        Whether intermediate nodes are right children or left children.
    horizontal : int or None
        How many siblings an intermediate symbol names: 0, 1, 2, ...; None names all
        that are still to come, so no sequence of children is possible that was not seen.
    parent : {0, 1}
        1 adds the label of the node above to every phrase but the root.

    Examples
    --------
    >>> tree = Tree.parse("(NP (DT a) (JJ red) (JJ big) (NN dog))")
    >>> binarize(tree)
    (NP (DT a) (NP|<JJ;JJ> (JJ red) (NP|<JJ;NN> (JJ big) (NN dog))))
    >>> unbinarize(binarize(tree)) == tree
    True
    """
    check_options(direction, horizontal, parent)
    nodes = []  # with the labels above them; parents before children
    stack: list[tuple[Tree, str | None]] = [(tree, None)]
    while stack:
        node, above = stack.pop()
        nodes.append((node, above))
        if not node.is_preterminal:
            stack += [(child, node.label) for child in node.children[::-1]]
    results: list[Tree] = []
    for node, above in reversed(nodes):
        if node.is_preterminal:
            results.append(node)
            continue
        n = len(node.children)
        below = results[: -n - 1 : -1]
        del results[-n:]
        suffix = f"^<{_escape(above)}>" if parent and above is not None else ""
        names = [_escape(child.label) for child in node.children]
        results.append(
            _factor(_escape(node.label), suffix, names, below, direction, horizontal)
        )
    return results[0]


def _factor(
    label: str,
    suffix: str,
    names: list[str],
    below: list[Tree],
    direction: str,
    horizontal: int | None,
) -> Tree:
    """One node as a chain of nodes with two children each."""
    n = len(below)
    reach = n if horizontal is None else horizontal
    if n == 1:
        return parsed(label + suffix, below)
    if direction == "right":
        rest = below[-1]
        for k in range(n - 2, 0, -1):
            seen = ";".join(names[k : k + reach])
            rest = parsed(f"{label}|<{seen}>{suffix}", [below[k], rest])
        return parsed(label + suffix, [below[0], rest])
    rest = below[0]
    for k in range(1, n - 1):
        seen = ";".join(names[max(k + 1 - reach, 0) : k + 1])
        rest = parsed(f"{label}|<{seen}>{suffix}", [rest, below[k]])
    return parsed(label + suffix, [rest, below[-1]])


def unbinarize(tree: Tree) -> Tree:
    """The tree that `binarize` was given: intermediate nodes and annotations are gone."""

    def undo(node: Tree, below: list):
        if not below:
            return node
        children = []
        for child in below:  # an intermediate node gave the list of its children
            children += child if type(child) is list else [child]
        if is_intermediate(node.label):
            return children
        return parsed(base_label(node.label), children)

    result = tree.fold(undo)
    if type(result) is list:
        raise ValueError(
            f"the root {tree.label} is an intermediate symbol of a binarised tree: give "
            "the whole tree."
        )
    return result


def is_intermediate(symbol: str) -> bool:
    """Whether a phrase symbol was made by `binarize` and stands for no node of a tree."""
    return symbol.startswith("|<", _NAME.match(symbol).end())


def base_label(symbol: str) -> str:
    """The label that a phrase symbol had before `binarize`.

    >>> base_label("NP|<JJ;NN>^<S>"), base_label("NP^<S>"), base_label("NP")
    ('NP', 'NP', 'NP')
    """
    end = _NAME.match(symbol).end()
    if symbol.startswith(("|<", "^<"), end):
        symbol = symbol[:end]
    return _ESCAPED.sub(r"\1", symbol)


def check_options(direction: str, horizontal: int | None, parent: int) -> None:
    """Refuse options that `binarize` does not know."""
    for name, value in zip(BINARISED, (direction, horizontal, parent), strict=True):
        BINARISED[name](name, value)


def _escape(label: str) -> str:
    return _SPECIAL.sub(r"\\\1", label)


# unary chains ------------------------------------------------------------------------


def collapse_unaries(tree: Tree, sep: str = "+", tags: bool = False) -> Tree:
    """The tree with one node, A+B+C, for every chain of unary nodes A -> B -> C.

    With ``tags`` also the preterminal at the end of a chain becomes part of it. Labels
    must not contain ``sep``; `expand_unaries` undoes it.

    >>> tree = Tree.parse("(S (VP (VB go)))")
    >>> collapse_unaries(tree), collapse_unaries(tree, tags=True)
    ((S+VP (VB go)), (S+VP+VB go))
    """
    _check_separator(sep)

    def collapse(node: Tree, below: list[Tree]) -> Tree:
        if sep in node.label and (below or tags):
            raise ValueError(
                f"the label {node.label} contains {sep!r}, which is to join labels: "
                "choose another sep."
            )
        if len(below) == 1 and (tags or not below[0].is_preterminal):
            return parsed(f"{node.label}{sep}{below[0].label}", below[0].children)
        return parsed(node.label, below) if below else node

    return tree.fold(collapse)


def expand_unaries(tree: Tree, sep: str = "+", tags: bool = False) -> Tree:
    """What `collapse_unaries` with the same settings was given."""
    _check_separator(sep)

    def expand(node: Tree, below: list[Tree]) -> Tree:
        children: Sequence = below or node.children
        if not below and not tags:
            return node
        for label in reversed(node.label.split(sep)):
            children = [Tree(label, children)]
        return children[0]

    return tree.fold(expand)


def _check_separator(sep: str) -> None:
    if not isinstance(sep, str) or not sep or re.search(r"[\s()]", sep):
        raise ValueError(
            f"sep={sep!r} is not possible: it must be a text without spaces and round "
            "brackets, such as '+'."
        )
