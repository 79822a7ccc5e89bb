"""The time of a fit that is made of several trainings."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from maxmargin.core.compile.compiling import compile_seconds
from maxmargin.engine.interrupts import INTERRUPTED
from maxmargin.solvers.result import Limits


class Clock:
    """One ``max_time`` for all stages of a fit, compiling left out; and Ctrl-C."""

    def __init__(self, max_time: float | None = None):
        self.max_time = math.inf if max_time is None else float(max_time)
        self.interrupted = False
        self.began, self.compiled = time.perf_counter(), compile_seconds()

    def seconds(self) -> float:
        """Since the fit began."""
        return time.perf_counter() - self.began

    def go_on(self, seconds: float) -> None:
        """So many have passed before."""
        self.began = time.perf_counter() - seconds

    def left(self) -> float:
        return self.max_time - self.seconds() + compile_seconds() - self.compiled

    def over(self) -> bool:
        """Whether the fit has to end with what it has."""
        return self.interrupted or self.left() <= 0

    def within(self, limits: Limits) -> Limits:
        """The limits of a stage that begins now; a driver makes one pass in any case."""
        if math.isinf(self.max_time) and not self.interrupted:
            return limits
        left = 0.0 if self.interrupted else self.left()
        return replace(limits, max_time=max(left, 1e-9))

    def watched(self, stages: Iterable) -> Iterator:
        """The stages until Ctrl-C, which is raised only where there is none yet."""
        some = False
        try:
            for stage in stages:
                yield stage
                some = True
                if self.interrupted:
                    return
        except KeyboardInterrupt:
            if not some:
                raise
            self.interrupted = True

    def saw(self, status: str) -> str:
        """How a stage ended, as the whole fit says it."""
        if status == INTERRUPTED:
            self.interrupted = True
        if self.interrupted:
            return INTERRUPTED
        if status.startswith("stopped after max_time") or self.left() <= 0:
            return f"stopped after max_time={self.max_time:g} seconds"
        return status
