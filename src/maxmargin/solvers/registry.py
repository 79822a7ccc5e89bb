"""Solvers and objectives by name: a new one is one file and one record here.

What has to be known before any work stands in the records, so that neither a check nor the
command line imports a solver. Classes are written "module:Class" and imported when a fit
needs them.

hinge                1/2 |w|^2 + C sum of hinges; every structure, certified
log                  1/2 |w|^2 + C sum of log-losses; structures with sums, certified
perceptron,          averaged, a few passes, no certificate; every structure
passive-aggressive
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class SolverRecord:
    """A solver: of its classes, the first that applies to an objective.

    Those that are ``closed`` come first where a structure solves its blocks in closed form.
    """

    name: str
    classes: tuple[str | type, ...]
    minimises: tuple[str, ...] = ("hinge",)  # what objectives have as their ``problem``
    public: bool = True  # whether users may name it
    hard: bool = False  # whether it takes C=inf
    signs: bool = False  # whether it keeps weights from being negative (:class:`Signs`)
    shards: str = ""  # its class over the shards of a cluster
    pieces: str = ""  # its class over the pieces of a corpus on disk
    passes: int | None = None  # by default, of one without a certificate to stop at
    closed: tuple[str | type, ...] = ()


@dataclass(frozen=True)
class ObjectiveRecord:
    """An objective: ``kind`` is a class, called like :class:`core.objective.Objective`."""

    name: str
    kind: str | type = "maxmargin.core.objective:Objective"
    problem: str = "hinge"  # what solvers must be able to minimise
    solver: str = ""  # the only one that it has
    hard: bool = False  # whether it has a limit for C=inf
    shards: bool = False  # whether it can be trained over shards
    counts_loss: bool = True  # whether some wrong outputs cost more than others
    unused: tuple[str, ...] = ()  # parameters that it leaves aside
    l1: bool = False  # whether it takes an l1 penalty
    summed: str = ""  # its class where hidden parts are summed over, not completed
    options: Mapping[str, Any] = field(default_factory=dict)  # of ``kind``


_HERE = "maxmargin.solvers."

SOLVERS = {
    record.name: record
    for record in (
        SolverRecord(
            "hinge-handover",
            (
                _HERE + "handover:HingeHandover",
                _HERE + "block_coordinate:BlockCoordinate",
            ),
            public=False,
            hard=True,
            signs=True,
            closed=(
                _HERE + "by_label.exact_blocks:ExactBlocks",
                _HERE + "by_label.hard_margin:HardMargin",
            ),
        ),
        SolverRecord(
            "block-coordinate",
            (_HERE + "block_coordinate:BlockCoordinate",),
            hard=True,
            signs=True,
            shards=_HERE + "shards.parallel_ascent:ParallelAscent",
            pieces=_HERE + "shards.by_piece:ByPiece",
            closed=(_HERE + "by_label.exact_blocks:ExactBlocks",),
        ),
        SolverRecord(
            "one-slack", (_HERE + "cutting_planes.one_slack:OneSlack",), signs=True
        ),
        SolverRecord(
            "n-slack", (_HERE + "cutting_planes.n_slack:NSlack",), hard=True, signs=True
        ),
        SolverRecord(
            "proximal-bundle",
            (_HERE + "cutting_planes.proximal_bundle:ProximalBundle",),
        ),
        SolverRecord("perceptron", (_HERE + "online:Perceptron",), passes=10),
        SolverRecord(
            "passive-aggressive", (_HERE + "online:PassiveAggressive",), passes=10
        ),
        SolverRecord("subgradient", (_HERE + "subgradient:Subgradient",), passes=50),
        SolverRecord(
            "handover",
            (_HERE + "handover:Handover",),
            ("log",),
            public=False,
            pieces=_HERE + "shards.by_piece:HandoverByPiece",
        ),
        SolverRecord(
            "exponentiated",
            (_HERE + "log.exponentiated:Exponentiated",),
            ("log",),
            pieces=_HERE + "shards.by_piece:LogByPiece",
        ),
        SolverRecord(
            "lbfgs",
            (_HERE + "log.smooth:LBFGS",),
            ("log", "smooth"),
            shards=_HERE + "shards.averaged_start:AveragedStart",
            pieces=_HERE + "log.smooth:LBFGS",
        ),
    )
}

OBJECTIVES = {  # of all families
    record.name: record
    for record in (
        ObjectiveRecord("hinge", hard=True, shards=True),
        ObjectiveRecord(
            "log",
            _HERE + "log.log_objective:LogObjective",
            problem="log",
            shards=True,
            counts_loss=False,
            l1=True,
            summed=_HERE + "hidden.marginal_likelihood:MarginalLikelihood",
        ),
        ObjectiveRecord(
            "perceptron", solver="perceptron", unused=("rescaling", "penalty")
        ),
        ObjectiveRecord(
            "passive-aggressive", solver="passive-aggressive", unused=("rescaling",)
        ),
    )
}


def register(record: SolverRecord | ObjectiveRecord) -> None:
    """Make a solver, or an objective of all families, known by its name."""
    table: dict = SOLVERS if isinstance(record, SolverRecord) else OBJECTIVES
    table[record.name] = record


def solvers_for(objective: ObjectiveRecord) -> tuple[str, ...]:
    """The names of solvers from which users may choose."""
    if objective.solver:
        return ("auto",)
    return ("auto", *(r.name for r in _minimising(objective.problem) if r.public))


def passes_of(name: str) -> int | None:
    """How many passes a solver makes by default; None where a certificate stops it."""
    return SOLVERS[name].passes if name in SOLVERS else None


def over(place: str, problem: str) -> dict[str, str]:
    """{name: class} of the solvers that run over "shards", or over "pieces"."""
    found = {r.name: getattr(r, place) for r in _minimising(problem)}
    return {name: kind for name, kind in found.items() if kind}


def _minimising(problem: str) -> list[SolverRecord]:
    return [record for record in SOLVERS.values() if problem in record.minimises]


def load(kind: str | type) -> Any:
    """The class of a record."""
    if not isinstance(kind, str):
        return kind
    module, name = kind.split(":")
    return getattr(import_module(module), name)


def make(name: str, objective, planes=None):
    """The solver called ``name`` on this objective, continuing from ``planes`` if given.

    The objective knows what "auto" stands for.
    """
    record = SOLVERS[objective.solver if name == "auto" else name]
    if not record.signs:
        _refuse_signs(objective, record.name)
    closed = record.closed if objective.closed_blocks else ()
    for kind in map(load, (*closed, *record.classes)):
        if kind.applies(objective):
            return kind(objective, planes)
    raise ValueError(f"solver={name!r} does not apply to this objective.")


def _refuse_signs(objective, name: str) -> None:
    """Raise where a solver cannot keep weights from being negative."""
    if objective.nonnegative is not None and len(objective.nonnegative):
        able = [r.name for r in SOLVERS.values() if r.signs and r.public]
        raise ValueError(
            f"solver={name!r} cannot keep weights from being negative: choose one of "
            f"auto, {', '.join(able)}."
        )


def make_objective(
    record: ObjectiveRecord, arguments: tuple, l1: float = 0.0, hidden: bool = False
):
    """What a record stands for, of these arguments; ``hidden`` parts are summed over."""
    options = {"l1": l1} if record.l1 else {}
    if hidden and record.summed:
        return load(record.summed)(*arguments, **options)
    return load(record.kind)(*arguments, **options, **record.options)


# sentences -------------------------------------------------------------------------------

HIDDEN_IN_SHARDS = (
    "Hidden parts, such as labels that are None, cannot be trained over shards (engine= "
    "or a corpus on disk), since their completions change: leave engine out, or give "
    "complete outputs."
)


def no_sums(objective: str, reason: str) -> str:
    """The sentence for structures that cannot sum over their outputs."""
    return (
        f"objective={objective!r} sums over all outputs, and {reason}: choose "
        "objective='hinge'."
    )
