"""How far predictions are from the truth, where a loss is all that is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.metrics.report import Report, plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class LossReport(Report):
    """The losses of predictions."""

    n: int
    loss: float  # on average
    right: float  # share of outputs without loss

    @classmethod
    def of(cls, losses: ArrayLike) -> LossReport:
        """The report of the losses of all samples.

        >>> LossReport.of([0, 0, 3, 1]).loss
        1.0
        """
        each = np.asarray(losses, float)
        if not len(each):
            raise ValueError("there are no samples: nothing to compare.")
        return cls(len(each), float(each.mean()), float((each == 0).mean()))

    def _measures(self) -> dict[str, Any]:
        return {"samples": self.n, "loss": self.loss, "right": self.right}

    def as_dict(self) -> dict[str, Any]:
        return plain(self._measures())

    def __str__(self) -> str:
        return (
            f"samples {self.n:,}\nloss    {self.loss:.4f}   (on average)\n"
            f"right   {100 * self.right:.2f} %"
        )
