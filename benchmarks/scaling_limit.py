"""What two cores can do at best, and how long a cache line takes from one to the other."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from common import fresh, median, worker
from scaling_tasks import letters

READY, SPIN, WINDOWS = 8.0, 1.5, 3  # seconds; how often
TIMES = 200_000  # that a cache line goes there and back


@worker
def spin(number: int, begin: float) -> dict:
    """How often a core can tag some words, in windows of time.

    The first process works in every window, the others in every second one.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[number]})
    model, (X, y) = letters(C=0.1, tol=0.5)
    X, y = X[:500], y[:500]
    model.fit(X, y).predict(X)
    if time.time() > begin:
        raise RuntimeError("a process was not ready in time for the limit of cores.")
    counts = []
    for window in range(2 * WINDOWS):
        start = begin + window * SPIN
        while time.time() < start:
            time.sleep(0.001)
        count = 0
        if number == 0 or window % 2:
            while time.time() < start + SPIN - 0.05:
                model.predict(X)
                count += 1
        counts.append(count)
    return {"counts": counts}


def limit(cores: int) -> float:
    """The share of its time that a work needs at best on so many cores.

    1 / cores, if they shared nothing: memory, caches, or one another.
    """
    begin = time.time() + READY  # by then the data are loaded
    with ThreadPoolExecutor(cores) as pool:
        found = list(
            pool.map(
                lambda number: fresh(spin, number=number, begin=begin), range(cores)
            )
        )
    shares = []
    for window in range(0, 2 * WINDOWS, 2):
        alone = found[0]["counts"][window]
        shares.append(
            {"share": alone / sum(row["counts"][window + 1] for row in found)}
        )
    return median(shares, "share")


@worker
def exchange() -> dict:
    """Seconds until a core sees what another one wrote."""
    import numpy as np
    from numba import njit
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    def place(context, builder, kind, array):
        data = context.make_array(kind)(context, builder, array).data
        return cgutils.gep(builder, data, 0)

    @intrinsic
    def read(typingctx, array):
        def codegen(context, builder, signature, args):
            where = place(context, builder, signature.args[0], args[0])
            return builder.load_atomic(where, "acquire", 8)

        return types.int64(array), codegen

    @intrinsic
    def write(typingctx, array, value):
        def codegen(context, builder, signature, args):
            where = place(context, builder, signature.args[0], args[0])
            builder.store_atomic(args[1], where, "release", 8)
            return context.get_dummy_value()

        return types.void(array, types.int64), codegen

    @njit(nogil=True)
    def play(flag, mine, times):
        for _ in range(times):
            while read(flag) != mine:
                pass
            write(flag, 1 - mine)

    flag = np.zeros(64, np.int64)
    play(flag, 0, 1)  # compiled; now it is 1
    found = []
    for _ in range(3):
        other = threading.Thread(target=play, args=(flag, 0, TIMES))
        began = time.perf_counter()
        other.start()
        play(flag, 1, TIMES)
        other.join()
        found.append({"seconds": (time.perf_counter() - began) / (2 * TIMES)})
        flag[0] = 1
    return {"seconds": median(found, "seconds")}
