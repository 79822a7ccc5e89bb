"""How many threads ``n_jobs`` means."""

from __future__ import annotations

import multiprocessing
import os

from maxmargin.core.checks import is_whole

MOST_THREADS = 16  # on machines with fewer cores: more would only stand in the way


def effective_jobs(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means here and now: one at least.

    As in scikit-learn, -1 is all cores, -2 all but one, and None is one, or what
    ``joblib.parallel_config`` says. Workers of joblib get their share of the cores.
    """
    import joblib

    cores = joblib.cpu_count()
    if n_jobs is not None and (not is_whole(n_jobs) or n_jobs == 0):
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
