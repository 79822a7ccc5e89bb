"""Ranges of a long axis, for threads: each writes values of its own.

Edges are multiples of a tile, so that loops and matrix products meet few remainders. What
a number is made of does not depend on the ranges; only products of matrices, which are
BLAS's, may round it in another way where a range is narrower.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.engine.threads import Team

TILE = 1024  # samples: a part of a matrix product that is worth its call
# units of work, some nanoseconds each, for which threads are started
TO_START = 1 << 20


def over_ranges_of(
    team: Team,
    kind: Any,
    function: Callable,
    length: int,
    work: float,
    tile: int | None = None,
) -> None:
    """``function(worker, slice)`` of slices that make up an axis; of one, where alone.

    ``work`` is what one place of the axis costs: values of a kernel, or additions.
    """
    size = tile or TILE

    def ranged(worker: int, tiles: np.ndarray) -> None:
        if len(tiles):
            end = min((int(tiles[-1]) + 1) * size, length)
            function(worker, slice(int(tiles[0]) * size, end))

    tiles = np.arange(-(-length // size))
    small = not team.started and length * work < TO_START
    if team.size == 1 or len(tiles) < 2 or small:
        function(0, slice(0, length))
    else:
        team.share(ranged, kind, tiles, sizes=np.full(len(tiles), work * size))
