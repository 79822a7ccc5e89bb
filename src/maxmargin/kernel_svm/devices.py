"""Where large products are made: numpy on this machine, or torch on a GPU.

The code of the pursuit uses what numpy's arrays and torch's tensors have in common; the
little that they do not is here. Factors of small matrices stay in double precision on the
CPU in any case.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Cpu:
    """numpy."""

    name = "cpu"
    sample = 200  # examples of a step of the descent
    steps = 1.0  # share of its steps
    zeros_like = staticmethod(np.zeros_like)
    put = staticmethod(np.ascontiguousarray)  # values, in a type of numpy
    get = staticmethod(np.asarray)

    def largest(self, scores: Any) -> tuple[Any, Any]:
        """(value, place) of the largest entry of every row."""
        place = scores.argmax(1)
        return scores[np.arange(len(scores)), place], place


class Gpu:
    """torch, on the device that is named.

    A step takes as long as its calls do, however large it is: fewer and larger ones.
    """

    sample = 1000
    steps = 0.25

    def __init__(self, name: str):
        import torch

        self.torch, self.name = torch, name
        self.zeros_like = torch.zeros_like
        self.types = {
            np.dtype(np.float32): torch.float32,
            np.dtype(np.float64): torch.float64,
            np.dtype(np.int64): torch.int64,
        }

    def put(self, values: Any, dtype: Any) -> Any:
        if not isinstance(values, self.torch.Tensor):
            values = self.torch.from_numpy(np.ascontiguousarray(values))
        return values.to(self.name, self.types[np.dtype(dtype)])

    def get(self, values: Any) -> np.ndarray:
        return values.cpu().numpy()

    def largest(self, scores: Any) -> tuple[Any, Any]:
        return scores.max(1)


Device = Cpu | Gpu


def find_device(name: str) -> Device:
    """The device of that name, or a sentence why it is not there."""
    if name == "cpu":
        return Cpu()
    if not isinstance(name, str) or not name.startswith("cuda"):
        raise ValueError(
            f'device={name!r} is not possible: it must be "cpu" or "cuda" ("cuda:1").'
        )
    try:
        import torch
    except ImportError:
        raise ValueError(
            f"device={name!r} needs PyTorch, which is not installed: install torch, or "
            'choose device="cpu".'
        ) from None
    if not torch.cuda.is_available():
        raise ValueError(
            f"device={name!r} is not possible: PyTorch sees no GPU on this machine. "
            'Choose device="cpu".'
        )
    try:
        torch.zeros(1, device=name)
    except RuntimeError as error:
        raise ValueError(f"device={name!r} is not possible: {error}") from None
    return Gpu(name)
