"""Two threads in step within compiled code, where a wait is shorter than any call.

Each says how far it is, and waits for the other. Both must be there first: Ctrl-C may keep
the main thread from coming, so the one that waits for it gives up after a while. Once they
have met, neither returns to Python before both are done. One that fails before that says
so (:func:`leave`), or the other would wait for ever.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.compile.atomics import claim, let_others, look, tell
from maxmargin.core.kernel import inlined

LINE = 16  # numbers apart: places of a line of the cache hinder each other
TRIES = 2000  # before the other thread may have this core
PATIENCE = 100_000  # such times, for a thread that does not come
MET, CAME, GAVE_UP = 2 * LINE, 1, 2
GONE = np.iinfo(np.int64).max  # further than any step


def places() -> np.ndarray:
    """How far two threads are: new ones for each call of both."""
    return np.zeros(3 * LINE, np.int64)


def leave(places: np.ndarray, worker: int) -> None:
    """Keep the other from waiting: what it does from now on is of no use."""
    places[worker * LINE] = GONE


@inlined
def meet(places, worker):
    """Whether both threads come; it is worker 0 that may not."""
    if worker == 0:
        return claim(places, MET, CAME) != GAVE_UP
    for _ in range(PATIENCE):
        if look(places, MET) != 0:
            break
        let_others()
    return claim(places, MET, GAVE_UP) == CAME


@inlined
def keep_step(places, worker, step):
    """Say how far one is, and wait until the other is there too."""
    tell(places, worker * LINE, step)
    tries = 0
    while look(places, (1 - worker) * LINE) < step:
        tries += 1
        if tries == TRIES:
            let_others()
            tries = 0
