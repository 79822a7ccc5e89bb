"""What whoever waits for a fit gets to see of it: lines, callbacks, the time left.

``verbose=1`` is a line for people, in a terminal or a notebook a bar (``waiting.py``);
``verbose=2`` is a JSON object per pass on standard error, the row of ``history_`` with
``expected_seconds_left``; numbers that JSON has no word for (infinite, not a number) are
null, as is a time that nobody can tell. Callbacks get the row itself.
"""

from __future__ import annotations

import json
import math
import numbers
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from maxmargin.core.warn import warn
from maxmargin.engine.interrupts import INTERRUPTED
from maxmargin.solvers.watching.bars import Advance
from maxmargin.solvers.watching.time_left import Curve
from maxmargin.waiting import NotebookBar, duration, fitting, notebook_bar, text_bar

if TYPE_CHECKING:
    from maxmargin.solvers.result import Limits

ASK_AGAIN = 0.2  # seconds: small fits make thousands of passes in one


class Progress:
    """Called with every row of one fit; True when a callback wants it to end."""

    def __init__(self, limits: Limits, what: str = "pass"):
        self.limits, self.part = limits, limits.part or {}
        # of a part of a fit, nobody knows how many will follow: lines
        self.lines = Lines(limits.verbose, what, None if self.part else limits.tol)
        wanted = limits.verbose or any(c.takes_time_left for c in limits.callbacks)
        self.curve = Curve(limits.tol) if wanted and limits.part is None else None
        self.end_at, self.asked = None, -math.inf  # seconds of the fit

    def __call__(self, row: dict, estimate: float = math.inf, ratio: float = 1.0):
        """``estimate`` is the solver's guess of the primal, ``ratio`` what its gap has to
        be multiplied with, judged by the last certificate."""
        left = None
        if self.curve is not None:
            self.curve.see(row, estimate)
            left = self._left(row, ratio)
        if self.part:  # of a longer fit: counted on
            counted = {
                k: row[k] + self.part.get(k, 0) for k in ("iteration", "seconds")
            }
            row = row | self.part | counted
        self.lines(row, estimate, left)
        # all of them see the row, also after one that wants to stop
        return any([callback(row, left) for callback in self.limits.callbacks])

    def _left(self, row: dict, ratio: float) -> float | None:
        """Of the curve, now and then, but no longer than the limits of the fit allow."""
        limits, seconds = self.limits, row["seconds"]
        if seconds - self.asked >= ASK_AGAIN:
            self.asked, left = seconds, self.curve.seconds_left(ratio)
            self.end_at = None if left is None else seconds + left
        if self.end_at is None:
            return None
        left = max(self.end_at - seconds, 0.0)
        if limits.max_time is not None:
            left = min(left, max(limits.max_time - seconds, 0.0))
        if limits.max_iter is not None:
            done = row["iteration"]
            left = min(left, max(limits.max_iter - done, 0) * seconds / max(done, 1))
        return left

    def end(self, status: str = "") -> str:
        """The last row was seen; returns how the fit ended, which Ctrl-C may change."""
        try:
            self.lines.end()
            for callback in self.limits.callbacks:
                callback.end()
        except KeyboardInterrupt:  # no time for last words, but what is found is kept
            return INTERRUPTED
        return status


class Lines:
    """Rows on standard error, as long as somebody reads them."""

    def __init__(self, verbose: int, what: str = "pass", tol: float | None = None):
        self.verbose, self.what = verbose, what
        self.open = 0  # characters of a line that is not ended yet
        self.tol = tol or 0.0
        self.advance: Advance | None = None  # once somebody is told
        self.bar: NotebookBar | None = None
        self.begun = False

    def __call__(self, row: dict, estimate: float = math.inf, left=None) -> None:
        if self.verbose >= 2:
            self._print(as_json(row | {"expected_seconds_left": left}))
        elif self.verbose:
            self._tell(row, estimate, left)

    def _tell(self, row: dict, estimate: float, left: float | None) -> None:
        """To people: a bar where there can be one, else a line."""
        if not self.begun:
            self.begun = True
            self.advance = self.advance or Advance(self.tol)
            self.bar = notebook_bar() if self.tol else None
        primal, gap, sign = _guessed(row, estimate)
        assert self.advance is not None
        share = self.advance.see(primal, gap, proved=not sign)
        if self.bar is not None:
            self.bar.show(share, self._short(row, estimate, left))
        elif sys.stderr is not None and sys.stderr.isatty():
            line = self._sentence(row, estimate, left)
            if share:
                line = f"{text_bar(share)}  {self._short(row, estimate, left)}"
            line = fitting(line)
            self._print(line.ljust(self.open), end="\r")
            self.open = len(line)
        else:
            self._print(self._sentence(row, estimate, left))

    def _sentence(self, row: dict, estimate: float, left: float | None) -> str:
        primal, gap, sign = _guessed(row, estimate)
        number = row.get("iteration", row.get(self.what))
        line = (
            f"{self.what} {number:4d}  {row['seconds']:8.2f} s  "
            f"primal {sign}{primal:.6g}  dual {row['dual']:.6g}  gap {sign}{gap:.3g}"
        )
        if "dev_score" in row:
            line += f"  dev {row['dev_score']:.4g}"
        return line if left is None else f"{line}  about {duration(left)} left"

    def _short(self, row: dict, estimate: float, left: float | None) -> str:
        """Beside a bar: passes, the relative gap, the time left."""
        primal, gap, sign = _guessed(row, estimate)
        number = row.get("iteration", row.get(self.what))
        line = f"{self.what} {number}  {duration(row['seconds'])}"
        if 0 < primal < math.inf:
            line += f"  gap {sign}{100 * gap / primal:.2g}%"
        if "dev_score" in row:
            line += f"  dev {row['dev_score']:.4g}"
        return line if left is None else f"{line}  about {duration(left)} left"

    def end(self) -> None:
        if self.bar is not None:
            self.bar.end()
            self.bar, self.begun = None, False
        if self.open:
            self._print("")
            self.open = 0

    def _print(self, line: str, end: str = "\n") -> None:
        try:
            print(line, end=end, file=sys.stderr, flush=True)
        except (OSError, ValueError):  # closed: no reason to lose the fit
            self.verbose = self.open = 0


def _guessed(row: dict, estimate: float) -> tuple[float, float, str]:
    """Primal and gap; before the first certificate the solver's guess, with a ~."""
    if math.isinf(row["primal"]) and math.isfinite(estimate):
        return estimate, estimate - row["dual"], "~"
    return row["primal"], row["gap"], ""


def as_json(row: dict) -> str:
    """The row in one line that every reader of JSON reads."""
    return json.dumps({str(k): _plain(v) for k, v in row.items()}, allow_nan=False)


def _plain(value: Any) -> Any:
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:  # of numpy
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, numbers.Real):
        return float(value) if math.isfinite(value) else None
    return str(value)


# callbacks -------------------------------------------------------------------------------


class Guarded:
    """A callback that cannot spoil a fit: after an error it is left out, with a warning.

    Only what is no error ends a fit: True, and KeyboardInterrupt or SystemExit.
    """

    def __init__(self, callback: Callable):
        self.callback, self.failed = callback, False
        self.takes_time_left = bool(getattr(callback, "takes_time_left", False))

    def __call__(self, row: dict, left: float | None = None) -> bool:
        return bool(self._try(self._call, row, left))

    def _call(self, row: dict, left: float | None):
        answer = self.callback(*((row, left) if self.takes_time_left else (row,)))
        return bool(answer)

    def end(self) -> None:
        """What the callback does after the last row, if it has an ``end``."""
        end = getattr(self.callback, "end", None)
        if callable(end):
            self._try(end)

    def _try(self, call: Callable, *arguments):
        if self.failed:
            return None
        try:
            return call(*arguments)
        except Exception as error:
            self.failed = True
            name = getattr(self.callback, "__qualname__", repr(self.callback))
            warn(
                f"The callback {name} raised {type(error).__name__}: {error}. Training "
                "goes on without it.",
                RuntimeWarning,
            )
            return None


def guarded(callbacks) -> tuple[Guarded, ...]:
    return tuple(c if isinstance(c, Guarded) else Guarded(c) for c in callbacks)
