"""Ctrl-C at the right moment: what belongs together is set together.

Python raises KeyboardInterrupt between any two of its instructions. Where some of them
must not be parted (the best weights and their primal, the attributes of a fitted model),

    with Undisturbed():
        self.w, self.primal = w, primal

lets it wait for the end of the block: whoever handled the signal before gets it there.
Blocks must be short. Other threads than the main one are never interrupted.
"""

from __future__ import annotations

import signal
import threading
from typing import Any

INTERRUPTED = "interrupted"  # how a fit says that Ctrl-C ended it ...
STOPPED = "stopped by a callback"  # ... or somebody else


def was_ctrl_c(error: BaseException | None) -> bool:
    """Whether an error is KeyboardInterrupt, or what C code made of one.

    Compiled functions call Python to wrap what they return. An interrupt there comes out
    as a SystemError, "returned a result with an exception set".
    """
    while isinstance(error, SystemError):
        error = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt)


class Undisturbed:
    """See the module. ``came`` says whether there was a Ctrl-C in the block.

    With ``raising=False`` it only says so, and no KeyboardInterrupt follows.
    """

    def __init__(self, raising: bool = True):
        self.raising, self.came = raising, False
        self._before: Any = None

    def __enter__(self) -> Undisturbed:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):  # neither ignored nor the system's
                self._before = before
                signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, *arguments) -> None:
        self.came, self._arguments = True, arguments

    def __exit__(self, kind, *_) -> None:
        if self._before is None:
            return
        signal.signal(signal.SIGINT, self._before)
        if not self.came:
            return
        try:
            self._before(*self._arguments)
        except KeyboardInterrupt:
            if self.raising:
                raise


class Whole(Undisturbed):
    """All attributes of an object change, or, after an error, none; Ctrl-C waits.

    A fit that Ctrl-C reaches here is over: it is not raised, ``came`` has it.
    """

    def __init__(self, thing: Any):
        super().__init__(raising=False)
        self.thing, self.old = thing, dict(vars(thing))

    def __exit__(self, kind, *rest) -> None:
        if kind is not None:
            self.thing.__dict__ = self.old
        super().__exit__(kind, *rest)
