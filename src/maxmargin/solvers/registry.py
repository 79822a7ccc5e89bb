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

FEW_WEIGHTS = 100


def make(name: str, task, planes=None):
    """The solver called ``name`` on this task, continuing from ``planes`` if given.

    "auto" is block-coordinate, but one-slack where examples by far outnumber a handful
    of weights: there a few dozen cuts describe the whole risk, while blocks that all
    pull at the same weights take thousands of passes (raw iris: 0.1 s against minutes).
    """
    if name == "auto":
        few = task.n_weights <= FEW_WEIGHTS and task.n * 2 >= task.n_weights
        cuts = few and isinstance(task.batch, tuple) and not task.hard
        name = "one-slack" if cuts else "block-coordinate"
    if name == "block-coordinate" and ExactBlocks.applies(task):
        return ExactBlocks(task, planes)
    return _SOLVERS[name](task, planes)
