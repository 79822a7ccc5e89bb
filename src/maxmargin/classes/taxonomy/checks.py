"""What makes a dict of parents a taxonomy: names, edges, and no cycles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

Node = str | int


def check_separator(separator: Any) -> None:
    if not isinstance(separator, str) or not separator:
        raise ValueError(
            f"separator={separator!r} is not possible: it must be a text such as '.' "
            "or '/'."
        )


def name_of(node: Any, what: str) -> Node:
    if isinstance(node, np.generic):
        node = node.item()
    if isinstance(node, str):
        if not node.strip():
            raise ValueError(f"{what} of the taxonomy has an empty name: name it.")
        return str(node)
    if isinstance(node, bool) or not isinstance(node, int):
        raise ValueError(
            f"{what} of the taxonomy is {node!r}, but names must be strings or whole "
            "numbers."
        )
    return node


def parents_of(node: Node, given: Any) -> list[Node]:
    if given is None:
        return []
    if isinstance(given, np.ndarray):
        given = given.tolist()
    many = isinstance(given, (list, tuple, set, frozenset))
    return [name_of(p, f"a parent of {node!r}") for p in (given if many else [given])]


def check_kinds(named: Mapping[Node, Any]) -> None:
    first = next(iter(named))
    for node in named:
        if isinstance(node, str) != isinstance(first, str):
            raise ValueError(
                f"the taxonomy has nodes {first!r} and {node!r}: names must be all "
                "strings or all numbers."
            )


def check_parents(node: Node, above: list[Node], named: Mapping[Node, Any]) -> None:
    if len({*above}) < len(above):
        twice = next(p for p, n in Counter(above).items() if n > 1)
        raise ValueError(
            f"the taxonomy names {twice!r} twice as a parent of {node!r}: once is enough."
        )
    for p in above:
        if p == node:
            raise ValueError(
                f"{node!r} is its own parent in the taxonomy: remove that."
            )
        if p not in named:
            raise ValueError(
                f"{p!r} is a parent of {node!r} but not a node of the taxonomy itself: "
                f"correct it, or add it with its own parents (None for a root)."
            )


def parents_first(named: Mapping[Node, list[Node]]) -> list[Node]:
    """The nodes in an order in which parents come before children."""
    children: dict[Node, list[Node]] = {node: [] for node in named}
    missing = {}
    for node, above in named.items():
        missing[node] = len(above)
        for p in above:
            children[p].append(node)
    # from the top down along branches, so that neighbours stand together in plots
    waiting = [node for node in reversed(list(named)) if not missing[node]]
    order = []
    while waiting:
        node = waiting.pop()
        order.append(node)
        for child in reversed(children[node]):
            missing[child] -= 1
            if missing[child] == 0:
                waiting.append(child)
    if len(order) < len(named):
        raise ValueError(cycle(named, set(order)))
    return order


def cycle(named: Mapping[Node, list[Node]], done: set[Node]) -> str:
    node = next(n for n in named if n not in done)
    way: dict[Node, int] = {}  # nodes in order, with their places
    while node not in way:  # every node that is left has a parent that is left
        way[node] = len(way)
        node = next(p for p in named[node] if p not in done)
    loop = [*map(repr, list(way)[way[node] :]), repr(node)]
    if len(loop) > 9:
        loop[4:-4] = ["..."]
    return (
        f"the taxonomy has a cycle: {' under '.join(loop)}. Remove one of these edges."
    )
