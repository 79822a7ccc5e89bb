"""Bars for whoever waits for a fit: in a terminal, and in a notebook that has tqdm.

How much of a fit is done is how far its relative gap has come from the first one to the
tolerance, in logarithms. A bar never goes back, and is full only where the tolerance is
proved to be reached.
"""

from __future__ import annotations

import importlib
import math
import sys
import time
from typing import Any

WIDTH = 20  # characters of a bar
NEARLY = 0.99  # as far as a bar goes before the tolerance is reached
EVERY = 0.1  # seconds between two pictures of a bar in a notebook


class Advance:
    """The share of a fit that is done; 0 as long as no gap is known, or without a tol."""

    def __init__(self, tol: float | None):
        self.tol, self.share = tol or 0.0, 0.0
        self.first = 0.0

    def see(self, primal: float, gap: float, proved: bool = True) -> float:
        if not (0 < primal < math.inf and 0 < self.tol < 1):
            return self.share
        gap = min(gap / primal, 1.0)
        if gap <= self.tol:
            self.share = 1.0 if proved else max(self.share, NEARLY)
            return self.share
        self.first = self.first or gap
        share = math.log(self.first / gap) / math.log(self.first / self.tol)
        self.share = max(self.share, min(share, NEARLY))
        return self.share


def text_bar(share: float) -> str:
    """A bar of characters.

    >>> text_bar(0.5)
    '[##########..........]  50%'
    """
    full = int(share * WIDTH)
    return f"[{'#' * full}{'.' * (WIDTH - full)}] {100 * share:3.0f}%"


class NotebookBar:
    """tqdm's bar for notebooks, with a sentence behind it."""

    def __init__(self, bar: Any):
        self.bar, self.drawn = bar, -math.inf

    def show(self, share: float, sentence: str) -> None:
        self.bar.n = round(100 * share)
        self.bar.set_postfix_str(sentence, refresh=False)
        if time.monotonic() - self.drawn >= EVERY:
            self.drawn = time.monotonic()
            self.bar.refresh()

    def end(self) -> None:
        self.bar.refresh()
        self.bar.close()


def notebook_bar() -> NotebookBar | None:
    """A bar, or None outside notebooks and where tqdm or its widgets are missing."""
    ipython = sys.modules.get("IPython")
    if not hasattr(getattr(ipython, "get_ipython", lambda: None)(), "kernel"):
        return None
    try:
        make = importlib.import_module("tqdm.notebook").tqdm
        return NotebookBar(make(total=100, bar_format="{l_bar}{bar} {postfix}"))
    except ImportError:
        return None
