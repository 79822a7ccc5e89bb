"""Parameters of a network that depend on each other, before any work."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.utils import check_random_state

from maxmargin.core.checks import one_of
from maxmargin.core.jobs import effective_jobs
from maxmargin.fitting.parameters import refuse_unused
from maxmargin.neural.parameters import check_there
from maxmargin.solvers.checkpoints.checkpoint import place_of

LOSSES = ("hamming", "zero-one", "spans", "absolute")


class Settings(NamedTuple):
    """What a fit is told besides parameters that are used as they are."""

    seed: int
    threads: int
    place: Any  # of checkpoints, or None


def settings_of(tagger: Any) -> Settings:
    """Check parameters one by one; a model file's, too."""
    tagger._check_parameters()
    if isinstance(tagger.loss, str):
        one_of("loss", tagger.loss, LOSSES)
    seed = 0
    if tagger.random_state is not None:
        seed = check_random_state(tagger.random_state).randint(2**31 - 1)
    return Settings(int(seed), effective_jobs(tagger.n_jobs), place_of(tagger))


def check_unused(tagger: Any) -> None:
    """Refuse what nothing would read, and an encoder that is not there."""
    check_there(tagger.encoder)
    if tagger.objective == "log":
        why = "objective='log' counts all wrong outputs alike."
        refuse_unused(tagger, ("loss",), why)
        why = "it says how the hinge begins. Give objective='hinge', or leave it out."
        refuse_unused(tagger, ("hinge_start", "warm_up"), why)
    if tagger.feature_options and tagger.features is None:
        raise ValueError("feature_options needs features, a template or a name.")
