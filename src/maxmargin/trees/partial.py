"""Trees that are only partly known: None, or a list of brackets, in place of a tree in y.

Of None nothing is known; a tree must have all brackets (label, begin, end) of a list, in
which a label may be None, and may have others. The grammar is that of the whole trees. How
the others are trained with stands in ``core/partial.py``: they are completed by the best
tree that has the known brackets, which is CKY within limits (``cky/cells.py``).
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.checks import is_whole
from maxmargin.core.completion import complete_all
from maxmargin.core.warn import warn
from maxmargin.trees.cky.parses import make_batch, n_weights, partly_parsed
from maxmargin.trees.cky.trees import NO_PARSE
from maxmargin.trees.derivations import Derivations
from maxmargin.trees.input import (
    Sentences,
    check_same_words,
    read_trees_of,
    tag_choices,
)
from maxmargin.trees.tree import Tree

Bracket = tuple[str | None, int, int]
Truth = Tree | list[Bracket] | None

BRACKET = "a bracket is (label, begin, end), where label may be None"


def read_truths(y) -> list[Truth]:
    """y as a list of what is known of each tree."""
    return [
        [_bracket(row, f"y[{i}][{k}]") for k, row in enumerate(truth)]
        if isinstance(truth, (list, tuple))
        else truth
        for i, truth in enumerate(read_trees_of(y, (list, tuple, type(None))))
    ]


def _bracket(row, where: str) -> Bracket:
    good = isinstance(row, (list, tuple)) and len(row) == 3
    if good:
        label, *ends = row
        named = label is None or (isinstance(label, str) and label != "")
        good = named and all(map(is_whole, ends))
    if not good:
        raise ValueError(f"{where} is {row!r}, but {BRACKET}.")
    return label if label is None else str(label), int(ends[0]), int(ends[1])


def words_of(X, truths: list[Truth]):
    """X, or the trees, if all are known."""
    if X is not None:
        return X
    for i, truth in enumerate(truths):
        if not isinstance(truth, Tree):
            raise ValueError(
                f"y[{i}] is of type {type(truth).__name__}, no tree to take words from, "
                "and X is missing: give the sentences in X."
            )
    return truths


def check_truths(sentences: Sentences, truths: list[Truth], kind: str) -> None:
    """Trees must have the words of the sentences, brackets must fit and not cross."""
    check_same_words(sentences, truths, kind)
    for i, truth in enumerate(truths):
        if isinstance(truth, Tree):
            continue
        length, around = len(sentences.words[i]), []
        for row in sorted(truth or (), key=lambda row: (row[1], -row[2])):
            if not 0 <= row[1] < row[2] <= length:
                raise ValueError(
                    f"y[{i}] has the bracket {row!r}, but X[{i}] has {length} words: it "
                    f"must be 0 <= begin < end <= {length}."
                )
            while around and around[-1][2] <= row[1]:
                around.pop()
            if around and around[-1][2] < row[2]:
                raise ValueError(
                    f"y[{i}] has the brackets {around[-1]!r} and {row!r}, which cross: no "
                    "tree has both."
                )
            around.append(row)


def known_brackets(truth: Truth) -> list[Bracket]:
    return truth.spans() if isinstance(truth, Tree) else truth or []


def bracket_rows(truth: Truth, labels: list[str]) -> list[tuple[int, int, int]] | None:
    """(begin, end, label) in numbers; None if the grammar does not have a label."""
    if isinstance(truth, Tree):
        return []
    number = {label: k for k, label in enumerate(labels)} | {None: -1}
    if any(label not in number for label, _, _ in truth or ()):
        return None
    return [(begin, end, number[label]) for label, begin, end in truth or ()]


def first_trees(
    derivations: Derivations,
    sentences: Sentences,
    truths: list[Truth],
    kind: str,
    dtype,
) -> dict[int, np.ndarray]:
    """By sentence, some tree with its known brackets; those without one are left out."""
    tags = tag_choices(derivations.grammar, sentences, kind)
    batch = make_batch(derivations.tables, tags)
    w = np.zeros(n_weights(derivations.tables), dtype)
    flat = best_completions(batch, derivations, truths, w)
    found = np.split(flat, batch.start[1:-1])
    return {i: row for i, row in enumerate(found) if row[0] != NO_PARSE}


def best_completions(
    batch, derivations: Derivations, truths: list[Truth], w, n_jobs: int = 1
) -> np.ndarray:
    """The best labellings with all known brackets; NO_PARSE where there is none."""
    rows = [bracket_rows(truth, derivations.labels) for truth in truths]
    batch.y[:] = NO_PARSE
    impossible = [row is None for row in rows]  # the labels are not in the grammar
    batch = partly_parsed(batch, impossible, [row or [] for row in rows])
    return complete_all(batch, w, n_jobs)


def warn_left_out(missing: list[int], truths: list[Truth]) -> None:
    """``missing`` are sentences for which the grammar has no tree."""
    if missing:
        warn(
            f"{len(missing)} of {len(truths)} sentences are left out of training, because "
            "the grammar of the whole trees has no tree for them that has all known "
            f"brackets: X[{missing[0]}] is the first.",
        )
