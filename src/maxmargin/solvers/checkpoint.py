"""Checkpoints: the state of a fit on disk, from which it goes on after a crash."""

from __future__ import annotations

import math
import numbers
import os
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often the state of a fit is kept.

    Parameters
    ----------
    folder : str or path-like
        Made if there is none, in a folder that must be there.
    every : float, default 60
        Seconds between two writings, at least; 0 writes after every pass.
    """

    folder: str | os.PathLike[str]
    every: float = 60.0


def check_checkpoint(checkpoint: Any, resume: Any) -> Checkpoint | None:
    """The parameters ``checkpoint`` and ``resume``, before any work."""
    if not isinstance(resume, numbers.Integral) or resume not in (0, 1):
        raise ValueError(
            f"resume={resume!r} is not possible: it must be True, to go on from a "
            "checkpoint, or False."
        )
    if checkpoint is None:
        if resume:
            raise ValueError(
                "resume=True needs a checkpoint to go on from: give checkpoint=, the "
                "folder that has it."
            )
        return None
    if isinstance(checkpoint, (str, os.PathLike)):
        checkpoint = Checkpoint(checkpoint)
    if not isinstance(checkpoint, Checkpoint) or not isinstance(
        checkpoint.folder, (str, os.PathLike)
    ):
        raise ValueError(
            f"checkpoint={checkpoint!r} is not possible: it must be the path of a folder, "
            "maxmargin.Checkpoint(folder, every=seconds), or None."
        )
    every = checkpoint.every
    good = isinstance(every, numbers.Real) and not isinstance(every, bool)
    if not good or not 0 <= every < math.inf:
        raise ValueError(
            f"Checkpoint(every={every!r}) is not possible: it must be a number of "
            "seconds, zero or more."
        )
    return checkpoint
