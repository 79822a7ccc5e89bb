"""From bracketed text to trees: one regular expression, one loop, errors with places.

tree = "(" [label] (tree ... | word) ")"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

_ESCAPES = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-"}
_ESCAPES |= {"{": "-LCB-", "}": "-RCB-"}
_UNESCAPES = {escape: bracket for bracket, escape in _ESCAPES.items()}
_TOKEN = re.compile(r"\(\s*[^\s()]*|\)|[^\s()]+")


def build(
    text: str,
    make: Callable[[str, list], Any],
    place: Callable[[int], str],
    unlabelled: Callable[[list], Any] | None = None,
) -> Iterator[tuple[Any, int]]:
    """Yield (tree, number of its first token) for all trees in a text.

    ``make(label, children)`` makes a node; children are what it made before, or one word.
    ``unlabelled(children)`` makes the outermost node if its bracket has no label; without
    it such a bracket is an error. ``place(position)`` begins the sentences of errors.

    Positions are not kept while all is well: tokens are counted, and `position` looks a
    token up in the text again.
    """

    def fail(number: int, sentence: str) -> NoReturn:
        raise ValueError(f"{place(position(text, number))}: {sentence}.")

    labels: list[str] = []  # of the brackets that are open
    openings: list[int] = []  # the numbers of their tokens
    outside: list[list] = []  # what stands before each of them in the next larger one
    children: list = []  # what stands in the innermost one so far
    for number, token in enumerate(_TOKEN.findall(text)):
        if token[0] == "(":
            if children and type(children[-1]) is str:
                fail(number, f"a bracket stands beside the word {_short(children[-1])}")
            labels.append(token[1:].lstrip())
            openings.append(number)
            outside.append(children)
            children = []
        elif token != ")":
            if not openings:
                fail(number, f"{_short(token)} stands outside of all brackets")
            if children or not labels[-1]:
                fail(
                    number,
                    f"the word {_short(token)} stands beside other children: a word needs "
                    "a tag of its own, as in (NP (DT the) (NN cat))",
                )
            children.append(token)
        elif not openings:
            fail(number, "a bracket closes, but none is open")
        else:
            label, opening = labels.pop(), openings.pop()
            inner, children = children, outside.pop()
            if label and inner:
                node = make(label, inner)
            elif label:
                fail(
                    opening, f"({label}) holds no word: every branch must end in a word"
                )
            elif unlabelled is None:
                fail(opening, "a bracket has no label; read_trees reads such trees")
            elif openings and (inner or children or labels[-1] or len(openings) > 1):
                fail(opening, "a bracket has no label, and it is not the outermost one")
            elif openings:
                continue  # the inner bracket of (()), which says that there is no tree
            else:
                node = unlabelled(inner)
            if openings:
                children.append(node)
            else:
                yield node, opening
    if openings:
        some = "1 bracket is" if len(openings) == 1 else f"{len(openings)} brackets are"
        fail(
            openings[0],
            f"the tree that begins here has no end: {some} not closed where the text ends",
        )


def position(text: str, number: int) -> int:
    """Where the token with this number begins."""
    for k, found in enumerate(_TOKEN.finditer(text)):
        if k == number:
            return found.start()
    raise IndexError(number)


def _short(token: str) -> str:
    return repr(token if len(token) <= 40 else token[:37] + "...")


# words -------------------------------------------------------------------------------


def escape(word: str) -> str:
    """A word with brackets as the Penn treebank writes it: ( is -LRB-, [ is -LSB-."""
    return "".join(_ESCAPES.get(letter, letter) for letter in word)


def unescape(word: str) -> str:
    """-LRB- and its relatives as the brackets that they stand for."""
    return re.sub(r"-[LR][RSC]B-", lambda found: _UNESCAPES[found[0]], word)


def plain(word: str) -> str:
    """A word that can stand between brackets."""
    return word.replace("(", "-LRB-").replace(")", "-RRB-")
