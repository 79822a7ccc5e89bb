"""Bars for whoever waits while files are read, features made and outputs searched.

    with watched(), stage("predicting"):  # somebody looks, and this is what is done
        for x in seen(X, len(X)): ...

Where nobody looks, on a terminal or in a notebook, nothing is counted. Nothing is drawn in
the first second, nor for what takes but half of one; a line that is drawn is wiped again.
Bars of fits (``solvers/watching/progress.py``) are made of the same pieces.
"""

from __future__ import annotations

import importlib
import math
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

WIDTH = 20  # characters of a bar
EVERY = 0.1  # seconds between two pictures of a bar
AFTER = 1.0  # seconds before the first one
LEAST = 0.5  # seconds that work takes as a whole, or it has no bar
SOME = 32  # items between two looks at the clock

Item = TypeVar("Item")

_SINCE: ContextVar[float | None] = ContextVar("since", default=None)
_STAGE: ContextVar[str] = ContextVar("stage", default="")


_DRAWN: list[Count] = []


def bar_is_drawn() -> bool:
    """Whether a remark would come between."""
    return bool(_DRAWN)


@contextmanager
def watched(wanted: bool = True) -> Iterator[None]:
    """Within, what takes long is shown, if there is a terminal or a notebook."""
    if not wanted or _SINCE.get() is not None or not (_terminal() or _notebook()):
        yield
        return
    token = _SINCE.set(time.monotonic())
    try:
        yield
    finally:
        _SINCE.reset(token)


@contextmanager
def stage(what: str) -> Iterator[None]:
    """Within, this is what is done: "reading train.txt"."""
    token = _STAGE.set(what)
    try:
        yield
    finally:
        _STAGE.reset(token)


def counting(total: int) -> Count | None:
    """Whom to tell how much of the work is done; None if nobody looks."""
    since, what = _SINCE.get(), _STAGE.get()
    return Count(what, total, since) if what and since is not None else None


@contextmanager
def counted(
    function: Callable, total: int, size: Callable[..., int]
) -> Iterator[Callable]:
    """The function; where somebody looks, one whose calls count for their size."""
    count = counting(total)
    if count is None:
        yield function
        return

    def call(*arguments: Any) -> Any:
        found = function(*arguments)
        count(size(*arguments))
        return found

    with count:
        yield call


def seen(items: Iterable[Item], total: int) -> Iterable[Item]:
    """The items, which are counted where somebody looks."""
    count = counting(total)
    return items if count is None else _each(items, count)


def _each(items: Iterable[Item], count: Count) -> Iterator[Item]:
    with count:
        for k, item in enumerate(items, 1):
            yield item
            if not k % SOME:
                count(SOME)


class Count:
    """So much of the total is done; called by threads, drawn by the one that made it."""

    def __init__(self, what: str, total: int, since: float):
        self.what, self.total, self.since = what, max(total, 1), since
        self.done, self.began = 0, time.monotonic()
        self.looked = -math.inf
        self.bar: Any = None
        self.lock, self.thread = threading.Lock(), threading.get_ident()

    def __call__(self, more: int) -> None:
        with self.lock:
            self.done += more
        now = time.monotonic()
        if now - self.looked < EVERY or threading.get_ident() != self.thread:
            return
        self.looked = now
        share, took = min(self.done / self.total, 1.0), now - self.began
        if share and now - self.since >= AFTER and took >= LEAST * share:
            self._show(share, took * (1 - share) / share)

    def __enter__(self) -> Count:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            _DRAWN.remove(self)
            self.bar.end()

    def _show(self, share: float, left: float) -> None:
        if self.bar is None:
            self.bar = TerminalBar() if _terminal() else notebook_bar(leave=False)
            if self.bar is not None:
                _DRAWN.append(self)
        if self.bar is not None:
            self.bar.show(share, f"{self.what}  about {duration(left)} left")


# terminals ----------------------------------------------------------------------------


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def fitting(line: str) -> str:
    """As much of a line as is not wrapped, for that could not be written over."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (AttributeError, OSError, ValueError):
        columns = 0
    columns = columns or shutil.get_terminal_size().columns
    return line[: max(columns - 1, 20)]


class TerminalBar:
    """A line that is written over, and nothing in the end."""

    def __init__(self):
        self.open = 0

    def show(self, share: float, sentence: str) -> None:
        line = fitting(f"{text_bar(share)}  {sentence}")
        self._print(line.ljust(self.open))
        self.open = len(line)

    def end(self) -> None:
        self._print(" " * self.open)

    def _print(self, line: str) -> None:
        try:
            print(line, end="\r", file=sys.stderr, flush=True)
        except (OSError, ValueError):  # closed: no reason to lose the work
            self.open = 0


def text_bar(share: float) -> str:
    """A bar of characters.

    >>> text_bar(0.5)
    '[##########..........]  50%'
    """
    full = int(share * WIDTH)
    return f"[{'#' * full}{'.' * (WIDTH - full)}] {100 * share:3.0f}%"


def duration(seconds: float) -> str:
    """Roughly, as people say it: 40 s, 3 min, 2.5 h, 4 days."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    if seconds < 36 * 3600:
        return f"{seconds / 3600:.2g} h"
    return f"{round(seconds / 86400)} days"


# notebooks ----------------------------------------------------------------------------


def _notebook() -> bool:
    ipython = sys.modules.get("IPython")
    return hasattr(getattr(ipython, "get_ipython", lambda: None)(), "kernel")


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


def notebook_bar(leave: bool = True) -> NotebookBar | None:
    """A bar, or None outside notebooks and where tqdm or its widgets are missing."""
    if not _notebook():
        return None
    try:
        make = importlib.import_module("tqdm.notebook").tqdm
        look = "{l_bar}{bar} {postfix}"
        return NotebookBar(make(total=100, bar_format=look, leave=leave))
    except ImportError:
        return None
