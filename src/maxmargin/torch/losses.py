"""Losses as modules: what a structure layer is trained with.

Each takes something scored (:class:`maxmargin.torch.Scored`, or what ``scored(...)`` of a
structure layer returns) and gives its mean, its sum, or one number per example.
"""

from __future__ import annotations

from typing import Any

import torch

from maxmargin.core.checks import one_of
from maxmargin.torch.checks import not_negative, positive

REDUCTIONS = ("mean", "sum", "none")


class _Loss(torch.nn.Module):
    def __init__(self, reduction: str):
        super().__init__()
        one_of("reduction", reduction, REDUCTIONS)
        self.reduction = reduction

    def forward(self, scored: Any) -> Any:
        """The loss of what is scored."""
        found = self.by_example(scored)
        if self.reduction == "none":
            return found
        if self.reduction == "sum" or not len(found):
            return found.sum()
        return found.mean()

    def by_example(self, scored: Any) -> Any:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self._shown)

    _shown: tuple[str, ...] = ("reduction",)


class LogLoss(_Loss):
    """-log of the probability of the truth; of what is known of it, where labels miss.

    Needs sums over outputs: a conditional random field.
    """

    def __init__(self, reduction: str = "mean"):
        super().__init__(reduction)

    def by_example(self, scored: Any) -> Any:
        return scored.log_loss()


class StructuredHinge(_Loss):
    """By how much the truth fails to win by its loss: a structural support vector machine.

    From a cold start it may collapse to scores that are all alike: begin with
    :class:`LogLoss`, or let ``scale``, which multiplies the loss of outputs under margin
    rescaling, grow from 0 to 1 during the first epochs (it may be set at any time).

    Parameters
    ----------
    rescaling : "margin" or "slack"
    scale : float
    reduction : "mean", "sum" or "none"
    """

    _shown = ("rescaling", "scale", "reduction")

    def __init__(
        self, rescaling: str = "margin", scale: float = 1.0, reduction: str = "mean"
    ):
        super().__init__(reduction)
        one_of("rescaling", rescaling, ("margin", "slack"))
        not_negative("scale", scale)
        self.rescaling, self.scale = rescaling, scale

    def by_example(self, scored: Any) -> Any:
        return scored.hinge(rescaling=self.rescaling, scale=self.scale)


class Perturbed(_Loss):
    """The Fenchel-Young loss of searches under normal noise; needs searches alone.

    Parameters
    ----------
    sigma : float
        The size of the noise.
    samples : int
        Searches per loss.
    seed : int, optional
        Makes noise that is the same each time; otherwise it is new each time.
    reduction : "mean", "sum" or "none"
    """

    _shown = ("sigma", "samples", "seed", "reduction")

    def __init__(
        self,
        sigma: float = 1.0,
        samples: int = 8,
        seed: int | None = None,
        reduction: str = "mean",
    ):
        super().__init__(reduction)
        positive("sigma", sigma)
        self.sigma, self.samples, self.seed = sigma, samples, seed

    def by_example(self, scored: Any) -> Any:
        return scored.perturbed(self.sigma, self.samples, self.seed)


class SparseMAP(_Loss):
    """The loss of a search with a quadratic penalty, zero once the truth wins by enough.

    Needs searches alone, some dozens of each example.

    Parameters
    ----------
    tol : float
        The gap at which the search for the average of outputs ends.
    rounds : int
        Searches per example at most.
    reduction : "mean", "sum" or "none"
    """

    _shown = ("tol", "rounds", "reduction")

    def __init__(self, tol: float = 1e-9, rounds: int = 200, reduction: str = "mean"):
        super().__init__(reduction)
        positive("tol", tol)
        self.tol, self.rounds = tol, rounds

    def by_example(self, scored: Any) -> Any:
        return scored.sparse_map(self.tol, self.rounds)
