"""Solvers by name. A new solver is one file and one line here."""

from __future__ import annotations

from maxmargin.solvers.block_coordinate import BlockCoordinate
from maxmargin.solvers.exact_blocks import ExactBlocks
from maxmargin.solvers.n_slack import NSlack
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.solvers.online import Perceptron, Subgradient

_SOLVERS = {
    "block-coordinate": BlockCoordinate,
    "one-slack": OneSlack,
    "n-slack": NSlack,
    "perceptron": Perceptron,
    "subgradient": Subgradient,
}


def make(name: str, task, planes=None):
    """The solver called ``name`` on this task, continuing from ``planes`` if given."""
    if name == "auto":
        name = "block-coordinate"
    if name == "block-coordinate" and ExactBlocks.applies(task):
        return ExactBlocks(task, planes)
    return _SOLVERS[name](task, planes)
