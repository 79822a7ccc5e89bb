"""The best chain of unary rules between two symbols: Floyd and Warshall's algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from maxmargin.trees.grammar import Grammar

MOST_SYMBOLS = 4000


def best_chains(
    grammar: Grammar, log_unary: np.ndarray
) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """The best chain from every symbol to every other below it, and its value.

    The value of a chain is the sum of the values ``log_unary`` of its rules. Where
    all are at most 0, as log-probabilities are, no better derivation goes around a
    cycle, and parsing with these chains is exact. A cycle of positive value is an
    error. Rules with -inf are left out. Equal values go to the chain that was found first.
    """
    values = np.asarray(log_unary, np.float64)
    if values.shape != (len(grammar.unary),):
        raise ValueError(
            f"log_unary has shape {values.shape}, but there are {len(grammar.unary)} "
            "unary rules: give one value per rule."
        )
    if np.isnan(values).any() or (values == np.inf).any():
        raise ValueError("log_unary holds nan or inf: values must be below inf.")
    nodes = np.unique(grammar.unary)
    if len(nodes) > MOST_SYMBOLS:  # n^3 steps, n^2 numbers
        raise ValueError(
            f"{len(nodes)} symbols have unary rules, and the best chains between them are "
            f"searched for at most {MOST_SYMBOLS}: use fewer."
        )
    place = {symbol: k for k, symbol in enumerate(nodes.tolist())}
    best = np.full((len(nodes), len(nodes)), -np.inf)
    first = np.full(best.shape, -1)  # the first rule of the best chain
    for k, (parent, child) in enumerate(grammar.unary.tolist()):
        a, b = place[parent], place[child]
        if values[k] > best[a, b]:
            best[a, b], first[a, b] = values[k], k

    def chain(a: int, b: int) -> tuple[int, ...]:
        rules = [int(first[a, b])]
        while (a := place[int(grammar.unary[rules[-1], 1])]) != b:
            rules.append(int(first[a, b]))
        return tuple(rules)

    for middle in range(len(nodes)):
        _refuse_cycle(grammar, best, first, place)
        through = best[:, middle, None] + best[None, middle, :]
        better = through > best
        better[middle, :] = better[:, middle] = False
        best[better] = through[better]
        first[better] = np.broadcast_to(first[:, middle, None], first.shape)[better]
    _refuse_cycle(grammar, best, first, place)
    np.fill_diagonal(best, -np.inf)  # going round a cycle never helps
    pairs = np.argwhere(best > -np.inf).tolist()
    found = [(chain(a, b), best[a, b]) for a, b in pairs]
    found.sort(key=lambda each: (len(each[0]), each[0]))
    return [rules for rules, _ in found], np.array([value for _, value in found])


def _refuse_cycle(grammar: Grammar, best: np.ndarray, first: np.ndarray, place) -> None:
    positive = np.flatnonzero(best.diagonal() > 0)
    if not len(positive):
        return
    target = a = int(positive[0])
    seen: dict[int, str] = {}  # in order
    while a not in seen:
        rule = first[a, target]
        parent, child = grammar.unary[rule].tolist()
        seen[a] = grammar.symbols[parent]
        a = place[child]
    names = list(seen.values())[list(seen).index(a) :]
    raise ValueError(
        f"the unary rules {' -> '.join([*names, names[0]])} form a cycle of positive "
        "value, so that no chain is the best: give values of 0 or less, such as "
        "log-probabilities."
    )
