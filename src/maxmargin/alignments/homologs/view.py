"""Homologs in a notebook: the best candidates, and the alignment with the first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from maxmargin.alignments.homologs.input import check_inputs, check_numbers
from maxmargin.alignments.view import alignment
from maxmargin.core.checks import whole
from maxmargin.views.view import RIGHT, WRONG, View, about, escaped

TOP = 5
LETTERS = 40  # of a candidate in the table


def homologs(
    sample: Any,
    scores: Any,
    pairs: Iterable[tuple[int, int]],
    truth: Any = None,
    top: int = TOP,
) -> View:
    """The ``top`` candidates by score, and the local alignment with the best.

    Parameters
    ----------
    sample : (native sequence, list of candidates)
    scores : a score for every candidate, as a row of ``decision_function``
    pairs : matched pairs of the native and the best candidate, as ``align`` returns them
    truth : the number of the homolog, or a pair of it and its alignment
    """
    ((native, candidates),) = checked = check_inputs([sample])
    scores = np.asarray(scores, float)
    if scores.shape != (len(candidates),):
        raise ValueError(
            f"scores has shape {scores.shape}, but there are {len(candidates)} "
            "candidates: give one score for each."
        )
    true = None if truth is None else int(check_numbers(checked, [truth])[0])
    order = np.argsort(-scores, kind="stable").tolist()
    shown = order[: whole("top", top)]
    if true is not None and true not in shown:
        shown.append(true)
    rows = [_row(order.index(k) + 1, k, candidates[k], scores[k], true) for k in shown]
    heads = ("place", "candidate", "sequence", "score")
    head = "".join(f"<th>{word}</th>" for word in heads)
    says = f"candidate {order[0]} of {len(candidates)}"
    if true is not None:
        right = order[0] == true
        place = order.index(true) + 1
        says += (
            ", the homolog" if right else f"; the homolog, {true}, is in place {place}"
        )
    body = f"{about(f'Chosen: {says}.')}<table><tr>{head}</tr>{''.join(rows)}</table>"
    drawn, text = _aligned(native, candidates[order[0]], list(pairs), order[0])
    return View(body + drawn, f"{says}\n{text}")


def _row(place: int, number: int, letters: str, score: float, true: int | None) -> str:
    if len(letters) > LETTERS:
        letters = letters[: LETTERS - 1] + "\u2026"
    cells = [place, number, letters, f"{score:.4g}"]
    line = "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
    colour = RIGHT if number == true else WRONG if place == 1 else ""
    fill = f' style="background:{colour}44"' if colour and true is not None else ""
    return f"<tr{fill}>{line}</tr>"


def _aligned(native: str, other: str, pairs: list, number: int) -> tuple[str, str]:
    """What is aligned of the two, and where that stands in them."""
    if not pairs:
        says = "No alignment with it scores more than 0."
        return about(says), says
    (i, j), (last, end) = pairs[0], pairs[-1]
    part = [(p - i, q - j) for p, q in pairs]
    names = ("native", f"candidate {number}")
    view = alignment(native[i : last + 1], other[j : end + 1], part, names=names)
    where = f"letters {i + 1} to {last + 1} of the native, {j + 1} to {end + 1} of it"
    return about(f"Aligned: {where}.") + view.body, view.text
