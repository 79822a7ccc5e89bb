"""How kernels are launched: sizes of their tables, precision, device."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import torch
import triton

HELD = 128  # labels whose transitions a program keeps in registers


def on_its_device(f: Callable) -> Callable:
    """Kernels are launched on the current device: here that of the first argument."""

    @wraps(f)
    def inner(first, *rest):
        with torch.cuda.device_of(first):
            return f(first, *rest)

    return inner


def prepared(emissions, transitions, first, last):
    """All contiguous; transitions, first and last in single precision."""
    table = (scores.float().contiguous() for scores in (transitions, first, last))
    return emissions.contiguous(), tuple(table)


def places(n_labels: int) -> int:
    return max(4, triton.next_power_of_2(n_labels))


def chunk(n_places: int, entries: int = 4096) -> int:
    """Rows of a table that a program reads at once."""
    return max(1, min(n_places, entries // n_places))


def precision() -> str:
    """Of products: three products of tf32 are as good as fp32, one is not."""
    if torch.version.hip or not torch.cuda.is_available():
        return "ieee"
    return "tf32x3" if torch.cuda.get_device_capability() >= (8, 0) else "ieee"


def warps(n_places: int) -> int:
    return max(1, min(8, n_places * n_places // 1024))
