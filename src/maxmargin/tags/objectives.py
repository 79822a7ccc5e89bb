"""What a tagger can minimise beside what all can, and which solvers can do it."""

from __future__ import annotations

import numbers

import numpy as np

from maxmargin.core import choices
from maxmargin.core.choices import ONLINE

DECODINGS = ("auto", "viterbi", "posterior")
ORDERS = (0, 1, 2)
SMOOTH = ("log", "marginal", "exponential")
OBJECTIVES = {
    **choices.OBJECTIVES,
    "hinge-per-output": ("auto",),
    "marginal": ("auto", "lbfgs"),
    "exponential": ("auto", "lbfgs"),
    "boosting": ("auto",),
}


def check_options(tagger) -> None:
    """Parameters of a tagger that depend on each other, before any work."""
    objective, l1 = tagger.objective, tagger.l1
    if tagger.order not in ORDERS or isinstance(tagger.order, bool):
        raise ValueError(
            f"order={tagger.order!r} is not possible: 0 labels every token on its own, "
            "1 learns transitions between labels, 2 triples of labels."
        )
    if tagger.order == 2 and objective not in ("hinge", *ONLINE):
        raise ValueError(
            f"order=2 needs objective='hinge' or one of {', '.join(ONLINE)}, not "
            f"{objective!r}."
        )
    if tagger.order == 2 and isinstance(tagger.loss, str) and tagger.loss != "hamming":
        raise ValueError(f"order=2 needs a loss of labels, not {tagger.loss!r}.")
    if tagger.order == 2 and tagger.decoding == "posterior":
        raise ValueError("order=2 has no marginals to decode with: use 'viterbi'.")
    good = isinstance(l1, numbers.Real) and not isinstance(l1, bool)
    if not good or not 0 <= l1 < np.inf:
        raise ValueError(f"l1={l1!r} is not possible: it must be zero or more.")
    if l1 > 0 and objective not in SMOOTH:
        raise ValueError(
            f"l1={l1!r} needs one of the objectives {', '.join(SMOOTH)}, not "
            f"{objective!r}."
        )


def make_objective(tagger, *arguments):
    """The training problem, or None for one that every family has."""
    kind, l1 = tagger.objective, float(tagger.l1)
    if kind == "boosting":
        from maxmargin.tags.boosting import BoostingObjective

        return BoostingObjective(*arguments)
    if kind == "hinge-per-output":
        from maxmargin.tags.per_output import PerOutputObjective

        return PerOutputObjective(*arguments)
    if kind in ("marginal", "exponential"):
        from maxmargin.tags.chain_gradients import ChainObjective

        return ChainObjective(*arguments, kind=kind, l1=l1)
    return None
