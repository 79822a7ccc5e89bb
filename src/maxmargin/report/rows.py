"""Samples that are rows of numbers, or texts of which such rows were made."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from maxmargin.report.charts import short
from maxmargin.report.findings import Test, brief, chosen
from maxmargin.report.markup import Markup, element, png

FEW, LONG = 12, 1500  # features of a row, characters of a text
SIDES = range(4, 129)  # of rows that are drawn as images


def drawn_row(test: Test, i: int, names: Any) -> Markup:
    """Sample i: its text, an image if it can be one, or its largest features."""
    if test.more is not None:
        return element("p", brief(test.more[i], LONG), dir="auto", cls="text")
    row = chosen(test.X, [i])
    values = np.asarray(row.toarray() if hasattr(row, "toarray") else row)[0]
    if np.ndim(values) != 1:  # a text, or whatever else the kernel compares
        return element("p", brief(values, LONG), cls="text")
    if values.dtype.kind not in "fiub":
        return element("p", brief(values), cls="text")
    side = math.isqrt(len(values))
    if side in SIDES and side**2 == len(values) and values.min() >= 0:
        pixels = 255 * (1.0 - values / (values.max() or 1.0))
        grey = np.repeat(pixels.reshape(side, side, 1), 3, axis=2)
        return png(grey, f"sample {i + 1} as an image")
    largest = np.argsort(-np.abs(values), kind="stable")[:FEW]
    named = [
        f"{j + 1 if names is None else names[int(j)]} = {short(values[j])}"
        for j in largest
        if values[j]
    ]
    chips = (element("span", text, cls="chip") for text in named)
    rest = int(np.count_nonzero(values)) - len(named)
    more = f" and {rest:,} more" if rest > 0 else ""
    return element("p", *chips, more)


def row_name(test: Test, i: int) -> str:
    """Where the file has sample i, or its number."""
    if test.where is None:
        return f"sample {i + 1}"
    return str(test.where(i)).rpartition(", ")[2]
