"""What whoever waits for a network gets to see: lines of losses, callbacks."""

from __future__ import annotations

import sys
import time
from typing import Any

from maxmargin.engine.interrupts import INTERRUPTED
from maxmargin.solvers.watching.progress import Lines, as_json, guarded
from maxmargin.waiting import duration, fitting, notebook_bar, text_bar

EVERY = 0.5  # seconds between two looks at a pass that is not over


class PassLines(Lines):
    """A line, or a bar, of passes of which one knows how many there will be at most."""

    def __init__(self, verbose: int, passes: int):
        super().__init__(verbose)
        self.passes, self.looked = passes, time.monotonic()

    def row(self, row: dict, left: float | None) -> None:
        """A pass is over."""
        if self.verbose >= 2:
            self._print(as_json(row | {"expected_seconds_left": left}))
        elif self.verbose:
            line = f"pass {row['iteration']:4d}  {row['seconds']:8.2f} s"
            line += f"  loss {row['loss']:.4g}"
            if "dev_score" in row:
                line += f"  dev {row['dev_score']:.4g}"
            line += f"  about {duration(left)} left" if left else ""
            self._tell_people(row["iteration"] / self.passes, line)

    def within(self, done: float, loss: float) -> None:
        """So many passes are done, the last one in part."""
        now = time.monotonic()
        if self.verbose != 1 or now - self.looked < EVERY:
            return
        self.looked = now
        if self.bar is not None or _terminal():
            line = f"pass {int(done) + 1:4d}  {done % 1:4.0%}  loss {loss:.4g}"
            self._tell_people(done / self.passes, line)

    def _tell_people(self, share: float, line: str) -> None:
        if not self.begun:
            self.begun, self.bar = True, notebook_bar()
        if self.bar is not None:
            self.bar.show(share, line)
        elif _terminal():
            line = fitting(f"{text_bar(share)}  {line}")
            self._print(line.ljust(self.open), end="\r")
            self.open = len(line)
        else:
            self._print(line)


class Watched:
    """Lines and callbacks of one fit."""

    def __init__(self, verbose: int, callbacks: Any, passes: int):
        self.lines = PassLines(int(verbose), passes)
        self.callbacks = guarded(callbacks or ())
        self.passes = passes

    def __call__(self, row: dict, max_time: float | None) -> bool:
        """Tell of a pass; whether somebody wants the fit to end."""
        done, seconds = row["iteration"], row["seconds"]
        left = max(self.passes - done, 0) * seconds / done
        if max_time is not None:
            left = min(left, max(max_time - seconds, 0.0))
        self.lines.row(row, left)
        return any([callback(row, left) for callback in self.callbacks])

    def end(self, status: str) -> str:
        """The last pass was seen; returns how the fit ended, which Ctrl-C may change."""
        try:
            self.lines.end()
            for callback in self.callbacks:
                callback.end()
        except KeyboardInterrupt:  # what is found is kept
            return INTERRUPTED
        return status


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
