"""Structures behind neural networks: losses, best outputs and marginals in PyTorch.

A network scores the parts of an output, whatever it is: a label at a token, a rule over a
span, a matched pair. This package turns these scores into a loss with gradients by
formula, and into predictions. Modules hold what no network scores, the transitions of a
chain or the prices of gaps, as parameters.

>>> import torch
>>> from maxmargin.torch import Chain
>>> chain = Chain(3)
>>> emissions = torch.zeros(2, 4, 3, requires_grad=True)  # sentences, tokens, labels
>>> loss = chain(emissions, torch.tensor([[0, 1, 2, 0], [1, 1, 0, 0]]), [4, 3])
>>> loss.backward()
>>> [len(labels) for labels in chain.decode(emissions, [4, 3])]
[4, 3]

It needs PyTorch, which ``import maxmargin`` does not: ``pip install 'maxmargin[torch]'``.
"""

from __future__ import annotations

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "maxmargin.torch needs PyTorch: pip install 'maxmargin[torch]', or install torch "
        "as pytorch.org says for your machine."
    ) from error

from maxmargin.torch.alignment import Alignment
from maxmargin.torch.chain import Chain
from maxmargin.torch.examples import Examples
from maxmargin.torch.functional import (
    decode,
    entropy,
    hinge,
    k_best,
    log_loss,
    log_partition,
    marginals,
    sample,
)
from maxmargin.torch.graph import Graph
from maxmargin.torch.losses import LogLoss, Perturbed, SparseMAP, StructuredHinge
from maxmargin.torch.matching import Matching
from maxmargin.torch.program import Program
from maxmargin.torch.scored import Scored
from maxmargin.torch.second_order import SecondOrder
from maxmargin.torch.structure import StructureLayer
from maxmargin.torch.trees import TreeCRF

__all__ = [
    "Alignment",
    "Chain",
    "Examples",
    "Graph",
    "LogLoss",
    "Matching",
    "Perturbed",
    "Program",
    "Scored",
    "SecondOrder",
    "SparseMAP",
    "StructureLayer",
    "StructuredHinge",
    "TreeCRF",
    "decode",
    "entropy",
    "hinge",
    "k_best",
    "log_loss",
    "log_partition",
    "marginals",
    "sample",
]
