"""Classes, and sets of labels, in a notebook: the scores of the strongest as bars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from maxmargin.core.checks import whole
from maxmargin.core.listed import listed
from maxmargin.views.view import RIGHT, WRONG, View, about, escaped, svg

TOP = 8  # bars
LETTER, LINE, BAR, NUMBER = 8, 22, 240, 70  # pixels
LONGEST = 40  # letters of a name
LOOKS = {
    "right": f'fill="{RIGHT}"',
    "wrong": f'fill="{WRONG}"',
    "missed": f'fill="none" stroke="{WRONG}" stroke-width="1.5" stroke-dasharray="4 2"',
    "": 'fill="rgb(128 128 128 / .45)"',
}
SETS = (set, frozenset, list, tuple, np.ndarray)


def classes(
    scores: Any, names: Any, predicted: Any, truth: Any = None, top: int = TOP
) -> View:
    """The ``top`` classes by score, and all that are predicted or true, as bars.

    Predicted classes are blue; with ``truth``, wrong ones are orange, and those that were
    missed have a dashed frame.

    Parameters
    ----------
    scores : a score for every class, as a row of ``decision_function``
    names : the classes, as ``classes_`` of a model
    predicted, truth : a class, or a set of labels

    >>> from maxmargin.views import classes
    >>> classes([0.1, 1.5, -0.7], ["cat", "dog", "fox"], "dog", "cat", top=2)
    dog, but the truth is cat
    dog 1.5, cat 0.1
    """
    scores, names = np.asarray(scores, float), listed(names, f"names is {names!r}.")
    if scores.shape != (len(names),):
        raise ValueError(
            f"scores has shape {scores.shape}, but there are {len(names)} classes: give "
            "one score for each."
        )
    found = members(predicted)
    true = None if truth is None else members(truth)
    order = np.argsort(-scores, kind="stable").tolist()
    kept = {*order[: whole("top", top)]}
    kept |= {k for k in order if names[k] in found or names[k] in (true or ())}
    rows = [
        (names[k], float(scores[k]), kind_of(names[k], found, true))
        for k in order
        if k in kept
    ]
    says = verdict(found, true)
    picture = _bars(rows)
    text = ", ".join(f"{name} {score:.3g}" for name, score, _ in rows)
    return View(about(f"Predicted: {says}.") + picture, f"{says}\n{text}", picture)


def members(given: Any) -> list:
    """The labels of a set, in an order; one class is a set of one."""
    if not isinstance(given, SETS):
        return [given]
    given = given.tolist() if isinstance(given, np.ndarray) else given
    if isinstance(given, (set, frozenset)):
        return sorted(given, key=lambda label: (str(type(label)), label))
    return list(given) if isinstance(given, (list, tuple)) else [given]


def kind_of(name: Any, found: Iterable, true: Iterable | None) -> str:
    """ "right", "wrong" or "missed"; what is predicted counts as right without a truth."""
    if name in found:
        return "right" if true is None or name in true else "wrong"
    return "missed" if true is not None and name in true else ""


def verdict(found: list, true: list | None) -> str:
    said, other = (", ".join(map(str, z)) or "nothing" for z in (found, true or ()))
    if true is None:
        return said
    right = len(found) == len(true) and all(name in true for name in found)
    return f"{said}, which is right" if right else f"{said}, but the truth is {other}"


def _bars(rows: list[tuple[Any, float, str]]) -> str:
    """Names on the left, bars from zero to either side, numbers on the right."""
    texts = [str(name) for name, _, _ in rows]
    texts = [t if len(t) <= LONGEST else t[: LONGEST - 1] + "\u2026" for t in texts]
    left = LETTER * max(map(len, texts), default=0) + 12
    finite = [score for _, score, _ in rows if np.isfinite(score)]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    scale = BAR / ((high - low) or 1.0)
    zero = left - low * scale
    parts = []
    for k, (text, (_, score, kind)) in enumerate(zip(texts, rows, strict=True)):
        y = k * LINE
        weight = ' font-weight="600"' if kind in ("right", "wrong") else ""
        name = f'x="{left - 8}" y="{y + 15}" text-anchor="end"{weight}'
        parts.append(f"<text {name}>{escaped(text)}</text>")
        wide = abs(min(max(score, low), high)) * scale
        at = zero if score >= 0 else zero - wide
        place = f'x="{at:.1f}" y="{y + 3}" width="{wide:.1f}" height="{LINE - 7}"'
        parts.append(f"<rect {place} {LOOKS[kind]}/>")
        number = f'x="{left + BAR + 8}" y="{y + 15}"'
        parts.append(f"<text {number}>{score:.3g}</text>")
    high_ = len(rows) * LINE
    axis = f'x1="{zero:.1f}" y1="0" x2="{zero:.1f}" y2="{high_}" stroke="gray"'
    return svg(left + BAR + NUMBER, high_, [*parts, f"<line {axis}/>"])
