"""What all structure layers have: losses and predictions of what ``scored`` returns."""

from __future__ import annotations

from typing import Any

import torch

from maxmargin.torch.losses import LogLoss


class StructureLayer(torch.nn.Module):
    """Base class of layers that know a structure.

    A subclass defines ``scored(emissions, truths=None, ...)``, which returns a
    :class:`maxmargin.torch.Scored`; what further arguments it takes, all methods here take
    too. The layer itself is its loss: ``layer(emissions, truths, ...)``.
    """

    def __init__(self, loss: Any = None):
        super().__init__()
        self.loss = LogLoss() if loss is None else loss

    def scored(
        self, emissions: Any, truths: Any = None, *more: Any, **named: Any
    ) -> Any:
        """The scores of all parts, with the examples that they are of."""
        raise NotImplementedError(f"{type(self).__name__} must define scored().")

    def forward(self, emissions: Any, truths: Any, *more: Any, **named: Any) -> Any:
        """The loss that the layer was made with."""
        return self.loss(self.scored(emissions, truths, *more, **named))

    def log_loss(self, emissions: Any, truths: Any, *more: Any, **named: Any) -> Any:
        """-log of the probability of every truth (n,)."""
        return self.scored(emissions, truths, *more, **named).log_loss()

    def hinge(
        self,
        emissions: Any,
        truths: Any,
        *more: Any,
        rescaling: str = "margin",
        costs: Any = None,
        scale: float = 1.0,
        **named: Any,
    ) -> Any:
        """By how much every truth fails to win by its loss (n,)."""
        found = self.scored(emissions, truths, *more, **named)
        return found.hinge(rescaling=rescaling, costs=costs, scale=scale)

    def decode(self, emissions: Any, *more: Any, **named: Any) -> list:
        """The best output of every example."""
        with torch.no_grad():
            return self.scored(emissions, None, *more, **named).decode()

    def k_best(self, emissions: Any, *more: Any, k: int, **named: Any) -> list:
        """Up to k pairs (output, score) of every example, the best first."""
        with torch.no_grad():
            return self.scored(emissions, None, *more, **named).k_best(k)

    def sample(
        self, emissions: Any, *more: Any, n: int = 1, seed: Any = None, **named: Any
    ) -> list[list]:
        """n outputs of every example, drawn with probability exp(score) / Z."""
        with torch.no_grad():
            return self.scored(emissions, None, *more, **named).sample(n, seed)

    def marginals(self, emissions: Any, *more: Any, **named: Any) -> Any:
        """Expected numbers of parts, in the shape of the emissions."""
        return self.scored(emissions, None, *more, **named).marginals()

    def entropy(self, emissions: Any, *more: Any, **named: Any) -> Any:
        """The entropy of the outputs of every example, in nats (n,)."""
        return self.scored(emissions, None, *more, **named).entropy()

    def log_partition(self, emissions: Any, *more: Any, **named: Any) -> Any:
        """log of the sum of exp(score) over all outputs, of every example (n,)."""
        return self.scored(emissions, None, *more, **named).log_partition()
