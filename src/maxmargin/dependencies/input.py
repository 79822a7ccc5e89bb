"""What a dependency parser is given: sentences of (word, tag), and heads with labels."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.checks import is_whole
from maxmargin.core.listed import is_pair, listed

SENTENCE = "a sentence is a list of (word, tag) pairs"
ARC = "the head of a word is a number, 0 for the root, or (number, label)"
UNKNOWN = -1  # a head


class Trees(NamedTuple):
    """Heads and labels of all words, one sentence after the other."""

    start: np.ndarray
    heads: np.ndarray  # int64; UNKNOWN where it is
    labels: list[str | None]  # None where it is not known, or there are none

    @property
    def labelled(self) -> bool:
        return any(label is not None for label in self.labels)


def read_sentences(X: Any, where: str = "X") -> list[list[tuple[str, str]]]:
    """X, checked: sentences as lists of (word, tag)."""
    sentences = listed(
        X,
        f"{where} is of type {type(X).__name__}: give a list of sentences; {SENTENCE}.",
    )
    return [
        _sentence(sentence, f"{where}[{i}]") for i, sentence in enumerate(sentences)
    ]


def _sentence(sentence: Any, where: str) -> list[tuple[str, str]]:
    tokens = listed(sentence, f"{where} is {_short(sentence)}, but {SENTENCE}.")
    for t, token in enumerate(tokens):
        if not (
            type(token) is tuple
            and len(token) == 2
            and type(token[0]) is type(token[1]) is str
        ):
            tokens[t] = _token(token, f"{where}[{t}]")
    return tokens


def _token(token: Any, where: str) -> tuple[str, str]:
    if is_pair(token) and all(isinstance(part, str) for part in token):
        return str(token[0]), str(token[1])
    raise ValueError(f"{where} is {_short(token)}, but {SENTENCE}.")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# trees ----------------------------------------------------------------------------------


def read_trees(
    y: Any, sizes: list[int], partial: bool = False, strict: bool = True
) -> Trees:
    """y, checked: one head per word, perhaps with labels; if ``strict``, trees.

    With ``partial`` heads may be None, which is not known, and so may whole sentences.
    """
    rows = listed(y, "y must be a list of sentences with the head of every word.")
    if len(rows) != len(sizes):
        raise ValueError(
            f"X has {len(sizes)} sentences, but y has {len(rows)}: give heads for each."
        )
    heads: list[int] = []
    labels: list[str | None] = []
    for i, (row, n) in enumerate(zip(rows, sizes, strict=True)):
        if row is None and partial:
            row = [None] * n
        row = listed(row, f"y[{i}] is {_short(row)}, but it must be a list: {ARC}.")
        if len(row) != n:
            raise ValueError(f"X[{i}] has {n} words, but y[{i}] has {len(row)} heads.")
        for t, value in enumerate(row):
            head, label = _arc(value, n, f"y[{i}][{t}]", partial)
            heads.append(head)
            labels.append(label)
    found = Trees(np.cumsum([0, *sizes]), np.array(heads, np.int64), labels)
    _check_labels(found)
    for i, (a, b) in enumerate(pairwise(found.start.tolist()) if strict else ()):
        check_tree(heads[a:b], f"y[{i}]")
    return found


def _arc(value: Any, n: int, where: str, partial: bool) -> tuple[int, str | None]:
    if value is None and partial:
        return UNKNOWN, None
    head, label = value, None
    if is_pair(value):
        head, label = value
        if not isinstance(label, str) or not label:
            raise ValueError(
                f"{where} is {_short(value)}, but a label is a text: {ARC}."
            )
    if not is_whole(head):
        raise ValueError(f"{where} is {_short(value)}, but {ARC}.")
    if not 0 <= head <= n:
        raise ValueError(f"{where} has the head {head}, but there are {n} words.")
    return int(head), label if label is None else str(label)


def _check_labels(trees: Trees) -> None:
    if not trees.labelled:
        return
    for k, label in enumerate(trees.labels):
        if label is None and trees.heads[k] != UNKNOWN:
            i = int(np.searchsorted(trees.start, k, "right")) - 1
            t = k - trees.start[i]
            raise ValueError(
                f"y[{i}][{t}] has no label, but other words have: give all, or none."
            )


def check_tree(heads: list[int], where: str) -> None:
    """One root and no cycle, as far as heads are known."""
    roots = [t + 1 for t, head in enumerate(heads) if head == 0]
    if len(roots) > 1:
        raise ValueError(
            f"{where}: the words {roots[0]} and {roots[1]} both have the root as their "
            "head, but a tree has one root: give one of them the other as its head."
        )
    if heads and not roots and UNKNOWN not in heads:
        raise ValueError(f"{where}: no word has the root, 0, as its head.")
    state = [0] * len(heads)  # 1: on the present way, 2: it ends well
    for t in range(len(heads)):
        way = []
        while not state[t]:
            state[t] = 1
            way.append(t)
            if heads[t] in (0, UNKNOWN):
                break
            t = heads[t] - 1
        if way and state[t] == 1 and heads[t] not in (0, UNKNOWN):
            cycle = [k + 1 for k in way[way.index(t) :]]
            shown = ", ".join(map(str, cycle[:5])) + (", ..." if len(cycle) > 5 else "")
            raise ValueError(
                f"{where}: the heads of the words {shown} form a cycle, so this is no "
                "tree."
            )
        for k in way:
            state[k] = 2


# projective trees -----------------------------------------------------------------------


def crossing(heads: list[int]) -> list[int]:
    """Words whose arcs have words between that are not below the head, shortest first."""
    found = []
    for t, head in enumerate(heads):
        if head in (0, UNKNOWN):
            continue
        a, b = sorted((head, t + 1))
        if any(not _below(heads, k, head) for k in range(a + 1, b)):
            found.append((b - a, t + 1))
    return [word for _, word in sorted(found)]


def _below(heads: list[int], word: int, head: int) -> bool:
    while word not in (0, head):
        word = heads[word - 1]
    return word == head


def is_projective(heads: list[int]) -> bool:
    """Whether no two known arcs cross."""
    arcs = [tuple(sorted((h, t))) for t, h in enumerate(heads, 1) if h != UNKNOWN]
    a, b = np.array(arcs or [(0, 0)]).T
    return not ((a[:, None] < a) & (a < b[:, None]) & (b[:, None] < b)).any()


def lifted(heads: list[int]) -> list[int]:
    """A projective tree: the shortest crossing arc goes one up, until none crosses.

    (Nivre & Nilsson 2005.)
    """
    heads = list(heads)
    while words := crossing(heads):
        t = words[0] - 1
        heads[t] = heads[heads[t] - 1]
    return heads


def flat(rows: Any) -> list:
    return list(chain.from_iterable(rows))
