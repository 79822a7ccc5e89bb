"""Solvers by name. A new solver is one file and one line here."""

from __future__ import annotations

from maxmargin.solvers.block_coordinate import BlockCoordinate
from maxmargin.solvers.exact_blocks import ExactBlocks
from maxmargin.solvers.exponentiated import Exponentiated
from maxmargin.solvers.handover import Handover
from maxmargin.solvers.hard_margin import HardMargin
from maxmargin.solvers.hinge_handover import HingeHandover
from maxmargin.solvers.n_slack import NSlack
from maxmargin.solvers.one_slack import OneSlack
from maxmargin.solvers.online import PassiveAggressive, Perceptron, Subgradient
from maxmargin.solvers.proximal_bundle import ProximalBundle
from maxmargin.solvers.signs import refuse
from maxmargin.solvers.smooth import LBFGS

_SOLVERS = {
    "block-coordinate": BlockCoordinate,
    "one-slack": OneSlack,
    "n-slack": NSlack,
    "proximal-bundle": ProximalBundle,
    "passive-aggressive": PassiveAggressive,
    "perceptron": Perceptron,
    "subgradient": Subgradient,
    "exponentiated": Exponentiated,
    "lbfgs": LBFGS,
    "handover": Handover,
    "hinge-handover": HingeHandover,
}
_SIGNED = ("block-coordinate", "one-slack", "n-slack", "hinge-handover")


def make(name: str, objective, planes=None):
    """The solver called ``name`` on this objective, continuing from ``planes`` if given.

    The objective knows what other names, such as "auto", stand for: a name here, or a
    class.
    """
    if name not in _SOLVERS:
        name = objective.solver
    if isinstance(name, type):
        return name(objective, planes)
    if name not in _SIGNED:
        refuse(objective, name)
    if name == "hinge-handover" and HardMargin.applies(objective):
        return HardMargin(objective, planes)
    if name in ("block-coordinate", "hinge-handover"):
        if ExactBlocks.applies(objective):
            return ExactBlocks(objective, planes)
        if not HingeHandover.applies(objective):
            name = "block-coordinate"
    return _SOLVERS[name](objective, planes)
