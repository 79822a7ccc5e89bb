"""When the compiler works: the seconds it took, and a word to whoever waits.

Light to import: the command line asks here before numba is loaded. ``kernel.py`` reports
every compilation; one within another counts once. Meanwhile Python collects no garbage: to
look through all that the compiler keeps takes a tenth of its time.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable

PATIENCE = 3.0  # seconds of compiling after which a word is due

_say: Callable[[str], None] | None = None
_depth = 0
_began = _total = 0.0
_collects = False  # whether Python did, and will again


def compile_seconds() -> float:
    """Seconds that this process has spent compiling so far."""
    return _total + (time.perf_counter() - _began if _depth else 0.0)


def announce(say: Callable[[str], None] | None) -> None:
    """Call ``say`` with a sentence, once, if compiling takes long; None for silence."""
    global _say
    _say = say


def say_on_stderr(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def started(module: str) -> None:
    """A function of this module is about to be compiled."""
    global _depth, _began, _collects
    if _depth == 0:
        _began, _collects = time.perf_counter(), gc.isenabled()
        gc.disable()
    _depth += 1
    if _say is not None and compile_seconds() > PATIENCE:
        part = module.split(".")[1] if module.startswith("maxmargin.") else module
        _say(
            f"compiling the inner loops of {part}, once for this machine; it may take "
            "half a minute (`maxmargin warmup` does it ahead)."
        )
        announce(None)


def ended() -> None:
    global _depth, _total
    _depth -= 1
    if _depth == 0:
        _total += time.perf_counter() - _began
        if _collects:
            gc.enable()
