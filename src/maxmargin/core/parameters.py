"""Constructors of estimators from a list of parameters, each named once.

    class MulticlassSVM(MaxMarginEstimator):
        __init__ = training_parameters(C=1.0, loss="zero-one", fit_intercept=True)

is an ``__init__`` with these parameters, then those of :data:`SHARED` that are not named
already, and :data:`RUNNING` at the end. It stores them untouched, as scikit-learn wants;
its signature is a true one, so that ``help``, ``get_params``, ``clone`` and grid searches
see nothing special. What the shared ones mean is said once, in
:class:`maxmargin.StructuralSVM`.
"""

from __future__ import annotations

import inspect
import multiprocessing
import numbers
import os
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

MOST_THREADS = 16  # on machines with fewer cores: more would only stand in the way
REQUIRED = inspect.Parameter.empty  # in place of a default

# What every training understands, with its defaults.
SHARED = {
    "C": 1.0,
    "rescaling": "margin",
    "penalty": "linear",
    "solver": "auto",
    "tol": 0.01,
    "max_iter": None,
    "max_time": None,
    "warm_start": False,
    "n_jobs": 1,
    "random_state": None,
    "verbose": 0,
    "callbacks": None,
    "objective": "hinge",
}

# Own ones of several families that stand behind the shared ones, whose places are taken.
LAST = ("unlabelled_weight",)

# Shared ones that came when all other places were taken: where a fit runs and how it
# survives. They say nothing of the model, so model files do not keep them.
RUNNING = {"engine": None, "checkpoint": None, "resume": False}


def training_parameters(
    behind: Mapping[str, Any] = MappingProxyType({}), /, **own: Any
) -> Callable[..., None]:
    """An ``__init__`` with these parameters, the shared ones, those `behind`, RUNNING.

    Shared ones named before an own one stand there; those named last keep their usual
    place and only get another default.
    """
    younger = [name for name in own if name in LAST]
    first = [name for name in own if name not in LAST]
    last = max(place for place, name in enumerate(first) if name not in SHARED)
    order = dict.fromkeys([*first[: last + 1], *SHARED, *younger])
    values = SHARED | own
    return parameters(**{name: values[name] for name in order}, **behind, **RUNNING)


def parameters(**defaults: Any) -> Callable[..., None]:
    """An ``__init__`` with exactly these parameters, in this order."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = {"self": REQUIRED, **defaults}
    signature = inspect.Signature(
        [inspect.Parameter(name, kind, default=value) for name, value in names.items()]
    )

    def __init__(self, *args, **kwargs):
        try:
            given = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"{type(self).__name__}: {error}; its parameters are "
                f"{', '.join(defaults)}."
            ) from None
        given.apply_defaults()
        for name in defaults:
            setattr(self, name, given.arguments[name])

    __init__.__signature__ = signature
    __init__.__qualname__ = "__init__"
    return __init__


# n_jobs ----------------------------------------------------------------------------------


def effective_jobs(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means here and now: one at least.

    As in scikit-learn, -1 is all cores, -2 all but one, and None is one, or what
    ``joblib.parallel_config`` says. Workers of joblib get their share of the cores.
    """
    import joblib

    cores = joblib.cpu_count()
    whole = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            f"n_jobs={n_jobs!r} is not possible: it must be a positive whole number, -1 "
            "for one per core, -2 for all cores but one, or None for one."
        )
    if n_jobs is not None and n_jobs < -cores:
        raise ValueError(
            f"n_jobs={int(n_jobs)} is not possible: of {cores} cores it leaves none to "
            "work with; n_jobs=-1 is all of them."
        )
    if n_jobs is not None:
        n_jobs = int(n_jobs) if n_jobs > 0 else cores + 1 + int(n_jobs)
    wanted = joblib.effective_n_jobs(n_jobs)  # 1 where all shall be sequential
    return max(1, min(wanted, max(cores, MOST_THREADS), _share(cores)))


def _share(cores: int) -> float:
    """How many threads whoever runs us leaves to us."""
    from joblib.parallel import get_active_backend

    if multiprocessing.current_process().name.startswith("LokyProcess"):
        told = os.environ.get("OMP_NUM_THREADS", "")  # by joblib: cores per worker
        return min(int(told), cores) if told.isdecimal() else 1
    # Elsewhere nobody says how many others there are.
    nested = get_active_backend()[0].nesting_level
    return 1 if nested else float("inf")
