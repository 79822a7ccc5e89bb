"""Ctrl-C at the right moment: what belongs together is set together.

Python raises KeyboardInterrupt between any two of its instructions. Where some of them
must not be parted (the best weights and their primal, the attributes of a fitted model),

    with undisturbed():
        self.w, self.primal = w, primal

lets it wait for the end of the block: whoever handled the signal before gets it there.
Blocks must be short. Other threads than the main one are never interrupted.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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


class Block:
    """What is not disturbed; ``came`` says whether there was a Ctrl-C in it."""

    came = False
    arguments: tuple = ()

    def note(self, *arguments: Any) -> None:
        self.came, self.arguments = True, arguments


@contextmanager
def undisturbed(raising: bool = True) -> Iterator[Block]:
    """See the module. With ``raising=False`` no KeyboardInterrupt follows."""
    block, before = Block(), None
    if threading.current_thread() is threading.main_thread():
        before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored or the system's
        yield block
        return
    try:
        signal.signal(signal.SIGINT, block.note)
        yield block
    finally:
        signal.signal(signal.SIGINT, before)
        if block.came:
            try:
                before(*block.arguments)
            except KeyboardInterrupt:
                if raising:
                    raise


@contextmanager
def whole(thing: Any) -> Iterator[Block]:
    """All attributes of an object change, or, after an error, none; Ctrl-C waits.

    A fit that Ctrl-C reaches here is over: it is not raised, ``came`` has it.
    """
    old = dict(vars(thing))
    with undisturbed(raising=False) as block:
        try:
            yield block
        except BaseException:
            thing.__dict__ = old
            raise
