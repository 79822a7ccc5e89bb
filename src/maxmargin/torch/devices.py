"""Where chains are computed: the one place that chooses by device.

A module that computes chains has

    sums(emissions, start, transitions, first, last, coefficient=None)
        -> Sums: log Z, marginals, expected transitions, first and last labels
    value(emissions, labels, start, transitions, first, last)
        -> log Z minus the score of the labels (or None) of every example, with gradients
    viterbi(emissions, start, transitions, first, last) -> labels int32, scores
    k_best(emissions, start, transitions, first, last, k) -> labels (tokens, k), scores

with emissions (tokens, labels) of all examples one after the other, example i from
start[i] to start[i + 1] (int64), transitions (labels, labels), first and last (labels,).
"""

from __future__ import annotations

import functools
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch

from maxmargin.torch import cpu

KERNELS = "maxmargin.torch.triton"


@functools.cache
def gpu_chains() -> Any:
    """The module of kernels for a GPU, or None where it or Triton is missing."""
    if find_spec("triton") is None or find_spec(KERNELS) is None:
        return None
    return import_module(f"{KERNELS}.chains")


def chains(emissions: Any) -> tuple[Any, Any]:
    """(what computes chains on such emissions, the device that it wants them on).

    The kernels for a GPU compute in single precision; double precision is for the CPU.
    """
    device = emissions.device
    double = emissions.dtype == torch.float64
    kernels = gpu_chains() if device.type == "cuda" and not double else None
    return (cpu, "cpu") if kernels is None else (kernels, device)
