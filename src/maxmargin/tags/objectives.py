"""What a tagger can minimise beside what all can, and which solvers can do it."""

from collections import ChainMap

from maxmargin.solvers import registry
from maxmargin.solvers.registry import ObjectiveRecord, SolverRecord, register

_HERE = "maxmargin.tags."
_SMOOTH = {"problem": "smooth", "counts_loss": False, "l1": True}
_CHAIN = _HERE + "chain_gradients:ChainObjective"
_BOOSTING = _HERE + "boosting:BoostingObjective"
_PER_OUTPUT = _HERE + "per_output:PerOutputObjective"

OWN = {
    record.name: record
    for record in (
        ObjectiveRecord("hinge-per-output", _PER_OUTPUT, "hinge-per-output"),
        ObjectiveRecord("marginal", _CHAIN, **_SMOOTH, options={"kind": "marginal"}),
        ObjectiveRecord(
            "exponential", _CHAIN, **_SMOOTH, options={"kind": "exponential"}
        ),
        ObjectiveRecord(
            "boosting", _BOOSTING, "boosting", "boosting", counts_loss=False
        ),
    )
}
OBJECTIVES = ChainMap(OWN, registry.OBJECTIVES)

register(
    SolverRecord(
        "boosting",
        (_HERE + "boosting:Boosting",),
        ("boosting",),
        public=False,
        passes=200,  # rounds
    )
)
register(
    SolverRecord(
        "hinge-per-output",
        (_HERE + "per_output:PerOutput",),
        ("hinge-per-output",),
        public=False,
    )
)
