"""Constituency trees: immutable, as brackets, as text drawings.

    (S (NP (DT the) (NN cat)) (VP (VBD sat)))

No method recurses: a tree may be as deep as memory allows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from maxmargin.core.objects import is_from
from maxmargin.trees.brackets import build, plain, position
from maxmargin.trees.nltk_exchange import tree_from_nltk, tree_to_nltk
from maxmargin.trees.svg import tree_svg
from maxmargin.trees.text import draw
from maxmargin.views.view import View

_SPACE = re.compile(r"\s")


class Tree:
    """A label over children: other trees, or one word.

    A node over a word is a *preterminal*; its label is the tag of the word. All other
    nodes have trees as children, one at least. Trees cannot be changed; they compare
    and hash by what they hold.

    Examples
    --------
    >>> tree = Tree("NP", [Tree("DT", ["the"]), Tree("NN", ["cat"])])
    >>> tree
    (NP (DT the) (NN cat))
    >>> tree == Tree.parse("(NP (DT the) (NN cat))")
    True
    >>> tree.words(), tree.spans()
    (['the', 'cat'], [('NP', 0, 2)])
    """

    __slots__ = ("children", "label")
    label: str
    children: tuple[Any, ...]  # trees, or one word

    def __init__(self, label: str, children: Iterable[Tree | str]):
        if not isinstance(label, str) or not label or re.search(r"[\s()]", label):
            raise ValueError(
                f"{label!r} cannot be a label: labels are texts without spaces and round "
                "brackets."
            )
        if isinstance(children, str) or not isinstance(children, Iterable):
            raise ValueError(
                f"the children of {label} are {children!r}: give a list of trees, or a "
                "list of one word."
            )
        children = tuple(children)
        if not children:
            raise ValueError(f"{label} has no children: give trees, or one word.")
        n_words = sum(isinstance(child, str) for child in children)
        if n_words and len(children) > 1:
            raise ValueError(
                f"{label} has a word beside other children: a word needs a node of its "
                "own, as in (NP (DT the) (NN cat))."
            )
        if n_words:
            word = children[0]
            if not word or _SPACE.search(word):  # type: ignore[arg-type]
                raise ValueError(
                    f"{word!r} cannot be a word: words have letters and no spaces."
                )
        elif not all(isinstance(child, Tree) for child in children):
            raise ValueError(f"{label} has children that are neither trees nor words.")
        _set_label(self, label)
        _set_children(self, children)

    @classmethod
    def parse(cls, text: str) -> Tree:
        """The tree of one bracketed text; errors name the character they are about."""
        if not isinstance(text, str):
            raise ValueError(f"a tree is read from a text, not from {text!r}.")
        first = None
        for tree, token in build(text, parsed, lambda at: f"character {at + 1}"):
            if first is not None:
                raise ValueError(
                    f"character {position(text, token) + 1}: a second tree begins after "
                    "the end of the first; read_trees reads many."
                )
            first = tree
        if first is None:
            raise ValueError("there is no tree in the text: it has no bracket.")
        return first

    # what it holds --------------------------------------------------------------------

    @property
    def is_preterminal(self) -> bool:
        """Whether the only child is a word."""
        return isinstance(self.children[0], str)

    def subtrees(self) -> Iterator[Tree]:
        """All nodes, each before its children, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            if not node.is_preterminal:
                stack += node.children[::-1]

    def words(self) -> list[str]:
        """The leaves from left to right."""
        return [node.children[0] for node in self.subtrees() if node.is_preterminal]

    def tags(self) -> list[tuple[str, str]]:
        """The words with their tags."""
        return [
            (node.children[0], node.label)
            for node in self.subtrees()
            if node.is_preterminal
        ]

    def spans(self) -> list[tuple[str, int, int]]:
        """The labelled brackets (label, start, end), without preterminals.

        Words ``start`` .. ``end - 1`` are below the node; outer brackets come first. A
        bracket that is there twice, as in (NP (NP ...)), is listed twice.
        """
        spans: list = []
        stack: list[Any] = [self]
        at = 0
        while stack:
            node = stack.pop()
            if type(node) is int:  # all below the node of this bracket is done
                label, start, _ = spans[node]
                spans[node] = (label, start, at)
            elif node.is_preterminal:
                at += 1
            else:
                stack.append(len(spans))
                spans.append((node.label, at, at))
                stack += node.children[::-1]
        return spans

    @property
    def height(self) -> int:
        """Levels of nodes: 1 for a preterminal."""
        return self.fold(lambda node, below: 1 + max(below, default=0))

    def fold(self, function: Callable[[Tree, list], Any]) -> Any:
        """``function(node, results of its children)`` for all nodes, from the leaves up.

        The list of results is empty for a preterminal. Returns the result of the root.
        """
        results: list = []
        for node in reversed(list(self.subtrees())):  # children before their parent
            if node.is_preterminal:
                results.append(function(node, []))
            else:
                n = len(node.children)  # the rightmost child was done first
                below = results[: -n - 1 : -1]
                del results[-n:]
                results.append(function(node, below))
        return results[0]

    def map_labels(self, function: Callable[[str], str], tags: bool = True) -> Tree:
        """The tree with ``function(label)`` in place of every label (or phrases only)."""

        def renamed(node, below):
            if not below:
                return Tree(function(node.label), node.children) if tags else node
            return Tree(function(node.label), below)

        return self.fold(renamed)

    def with_words(self, words: Iterable[str]) -> Tree:
        """The tree over other words, as many as it has."""
        rest = list(words)
        if len(rest) != len(self.words()):
            raise ValueError(
                f"there are {len(rest)} words for a tree over {len(self.words())}."
            )

        def replaced(node, below):  # from the last leaf to the first
            return Tree(node.label, below or [rest.pop()])

        return self.fold(replaced)

    # comparing and copying ------------------------------------------------------------

    def __setattr__(self, name, value):
        raise AttributeError("a tree cannot be changed: make a new one.")

    def __delattr__(self, name):
        raise AttributeError("a tree cannot be changed: make a new one.")

    def __eq__(self, other):
        if not isinstance(other, Tree):
            return NotImplemented
        stack = [(self, other)]
        while stack:
            a, b = stack.pop()
            if a is b:
                continue
            if a.label != b.label or len(a.children) != len(b.children):
                return False
            if not a.is_preterminal and not b.is_preterminal:
                stack += zip(a.children, b.children, strict=True)
            elif a.is_preterminal != b.is_preterminal or a.children != b.children:
                return False
        return True

    def __hash__(self):
        return hash(self._flat())

    def _flat(self) -> tuple:
        """The tree without nesting: labels, words and numbers of children, in order."""
        return tuple(
            (
                node.label,
                node.children[0] if node.is_preterminal else len(node.children),
            )
            for node in self.subtrees()
        )

    def __reduce__(self):
        return _unflatten, (self._flat(),)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    # texts ----------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        """In a notebook: the tree as a picture."""
        return View(tree_svg(self))._repr_html_()

    def _repr_svg_(self) -> str:
        """For what shows no HTML."""
        return tree_svg(self)

    def __repr__(self):
        """One line of brackets; a round bracket in a word becomes -LRB- or -RRB-."""
        pieces: list[str] = []
        stack: list[Any] = [self]
        while stack:
            node = stack.pop()
            if node is None:
                pieces.append(")")
            elif node.is_preterminal:
                pieces.append(f" ({node.label} {_word(node)})")
            else:
                pieces.append(f" ({node.label}")
                stack.append(None)
                stack += node.children[::-1]
        return "".join(pieces)[1:]

    def pretty(self, width: int = 80) -> str:
        """Brackets over many lines: a node is broken up if it is wider than ``width``.

        Lines are indented by two spaces per level; brackets that close stand at the end
        of the last line of their node.
        """
        length = {}  # of the one line that a node would take

        def measure(node, below):
            inner = sum(below) + len(below) if below else 1 + len(_word(node))
            length[id(node)] = total = len(node.label) + 2 + inner
            return total

        self.fold(measure)
        lines: list[str] = []
        stack: list[Any] = [(self, 0)]
        while stack:
            item = stack.pop()
            if item is None:
                lines[-1] += ")"
                continue
            node, depth = item
            if node.is_preterminal or 2 * depth + length[id(node)] <= width:
                lines.append("  " * depth + repr(node))
            else:
                lines.append("  " * depth + f"({node.label}")
                stack.append(None)
                stack += [(child, depth + 1) for child in node.children[::-1]]
        return "\n".join(lines)

    draw = draw

    # other libraries ------------------------------------------------------------------

    to_nltk, from_nltk = tree_to_nltk, classmethod(tree_from_nltk)


_set_label = Tree.label.__set__  # type: ignore[misc, attr-defined]
_set_children = Tree.children.__set__  # type: ignore[misc, attr-defined]


def parsed(label: str, children: list) -> Tree:
    """A tree from a label and children that are known to be good: without checks."""
    tree = Tree.__new__(Tree)
    _set_label(tree, label)
    _set_children(tree, tuple(children))
    return tree


def own_tree(tree: Any, where: str) -> Any:
    """A tree of nltk as one of ours; all else as it is."""
    if isinstance(tree, Tree) or not is_from(tree, "nltk", "Tree"):
        return tree
    try:
        return Tree.from_nltk(tree)
    except ValueError as error:
        raise ValueError(
            f"{where}: {error} (read_trees takes trees of nltk too, and reads them as it "
            "reads a treebank.)"
        ) from None


def _unflatten(flat: tuple) -> Tree:
    results: list = []
    for label, content in reversed(flat):
        if isinstance(content, str):
            results.append(Tree(label, [content]))
        else:
            below = results[: -content - 1 : -1]
            del results[-content:]
            results.append(Tree(label, below))
    return results[0]


def _word(node: Tree) -> str:
    return plain(node.children[0])
