"""What a tagger can minimise beside what all can, and which solvers can do it."""

from __future__ import annotations

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


def check_options(tagger) -> None:
    """Parameters of a tagger that depend on each other, before any work."""
    objective, l1 = tagger.objective, tagger.l1
    if tagger.order == 2 and OBJECTIVES[objective].problem != "hinge":
        others = [name for name, o in OBJECTIVES.items() if o.problem == "hinge"]
        raise ValueError(
            f"order=2 needs objective='hinge' or one of {', '.join(others[1:])}, not "
            f"{objective!r}."
        )
    if tagger.order == 2 and isinstance(tagger.loss, str) and tagger.loss != "hamming":
        raise ValueError(f"order=2 needs a loss of labels, not {tagger.loss!r}.")
    if tagger.order == 2 and tagger.decoding == "posterior":
        raise ValueError("order=2 has no marginals to decode with: use 'viterbi'.")
    if l1 > 0 and not OBJECTIVES[objective].l1:
        smooth = ", ".join(name for name, record in OBJECTIVES.items() if record.l1)
        raise ValueError(
            f"l1={l1!r} needs one of the objectives {smooth}, not {objective!r}."
        )
