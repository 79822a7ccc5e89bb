"""The bridge as functions: part scores of examples in, losses and outputs out.

``scores`` has one number per part, flat or padded; ``examples`` are a batch, or
:class:`Examples`; ``shared`` holds the scores that all examples have in common, where the
structure has such. See :class:`maxmargin.torch.Scored` for what each does.
"""

from __future__ import annotations

from typing import Any

from maxmargin.torch.scored import Scored


def log_partition(scores: Any, examples: Any, shared: Any = None) -> Any:
    """log of the sum of exp(score) over all outputs, of every example."""
    return Scored(scores, examples, shared).log_partition()


def log_loss(scores: Any, examples: Any, shared: Any = None) -> Any:
    """-log of the probability of every truth."""
    return Scored(scores, examples, shared).log_loss()


def hinge(
    scores: Any,
    examples: Any,
    shared: Any = None,
    *,
    rescaling: str = "margin",
    costs: Any = None,
    scale: float = 1.0,
) -> Any:
    """By how much every truth fails to win by its loss."""
    return Scored(scores, examples, shared).hinge(rescaling, costs, scale)


def decode(scores: Any, examples: Any, shared: Any = None) -> list:
    """The best output of every example."""
    return Scored(scores, examples, shared).decode()


def k_best(
    scores: Any, examples: Any, k: int, shared: Any = None
) -> list[list[tuple[Any, float]]]:
    """Up to k pairs (output, score) of every example, the best first."""
    return Scored(scores, examples, shared).k_best(k)


def marginals(scores: Any, examples: Any, shared: Any = None) -> Any:
    """The expected number of every part."""
    return Scored(scores, examples, shared).marginals()


def entropy(scores: Any, examples: Any, shared: Any = None) -> Any:
    """The entropy of the outputs of every example, in nats."""
    return Scored(scores, examples, shared).entropy()


def sample(
    scores: Any, examples: Any, shared: Any = None, n: int = 1, seed: Any = None
) -> list[list]:
    """n outputs of every example, drawn with probability exp(score) / Z."""
    return Scored(scores, examples, shared).sample(n, seed)
