"""A user's own dynamic programme on top of any network."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import torch

from maxmargin.hypergraphs.program import DynamicProgram
from maxmargin.torch import checks
from maxmargin.torch.examples import Examples
from maxmargin.torch.scored import Scored
from maxmargin.torch.structure import StructureLayer


class Program(StructureLayer):
    """Outputs of a :class:`maxmargin.DynamicProgram`, whose parts a network scores.

    ``parts(X)`` says which parts every input has; a network gives one number for each.
    ``program(scores, Y, X)`` is the loss and ``program.decode(scores, X)`` the best
    outputs. Scores are a flat tensor, or a list with a tensor for every input. Features
    of edges are not used.

    Parameters
    ----------
    structure : DynamicProgram
    loss : module, optional
        :class:`maxmargin.torch.LogLoss`, if nothing is said.
    """

    def __init__(self, structure: DynamicProgram, loss: Any = None):
        super().__init__(loss)
        if not isinstance(structure, DynamicProgram):
            raise TypeError(
                f"{type(structure).__name__} is no DynamicProgram: for the batch of "
                "another structure use maxmargin.torch.log_loss(scores, batch), and so on."
            )
        self.structure = structure

    def parts(self, X: Any) -> list[list[Hashable]]:
        """The parts of every input in the order of its scores; None for unnamed ones."""
        return [list(graph.parts) for graph in self.structure.batch_of(X)[0]]

    def scored(self, emissions: Any, truths: Any = None, X: Any = None) -> Scored:
        """The scores of the parts of these inputs."""
        if X is None:
            raise ValueError("give the inputs X beside the scores of their parts.")
        X = list(X)
        graphs, batch = self.structure.batch_of(X, truths)
        sizes = [graph.n_parts for graph in graphs]
        listed = isinstance(emissions, (list, tuple))
        if listed:
            emissions = _joined(emissions, sizes)

        def shape(found: Any) -> Any:
            return list(torch.split(found, sizes)) if listed else found

        def read(i: int, labelling: Any) -> Any:
            return self.structure.read(X[i], graphs[i], labelling)

        return Scored(emissions, Examples(batch, read), None, shape)


def _joined(scores: Any, sizes: list[int]) -> Any:
    if len(scores) != len(sizes):
        raise ValueError(f"there are scores of {len(scores)} inputs for {len(sizes)}.")
    for i, (some, size) in enumerate(zip(scores, sizes, strict=True)):
        checks.is_real(some, f"scores[{i}]")
        if tuple(some.shape) != (size,):
            raise ValueError(
                f"scores[{i}] has the shape {tuple(some.shape)}, but input {i} has {size} "
                "parts: see parts(X)."
            )
    return torch.cat(list(scores)) if scores else torch.zeros(0)
