"""Run a function over ranges of examples, in threads.

The ranges do not depend on the number of threads where results would: callers write
into arrays by example, so nothing depends on who did what.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np


def over_ranges(
    function: Callable, start: np.ndarray, n_jobs: int, shards: int | None = None
) -> list:
    """``function(lo, hi)`` for ranges that together cover all examples.

    Ranges are four per thread, or ``shards`` whatever the number of threads. ``start``
    holds the slots of the examples: ranges are cut by slots, so that threads
    get equal work also when lengths differ.
    """
    n = len(start) - 1
    cuts = np.linspace(0, start[-1], (shards or 4 * n_jobs) + 1)[1:-1]
    edges = [0, *np.searchsorted(start, cuts).tolist(), n]
    ranges = [(lo, hi) for lo, hi in pairwise(edges) if lo < hi]
    if n_jobs == 1:
        return [function(lo, hi) for lo, hi in ranges]
    with ThreadPoolExecutor(n_jobs) as pool:
        return list(pool.map(lambda pair: function(*pair), ranges))
