"""Who does the work of a fit: the parameter ``engine``."""

from __future__ import annotations

from typing import Any


def check_engine(engine: Any) -> None:
    """Before any work."""
    if engine not in (None, "threads"):
        raise ValueError(
            f"engine={engine!r} is not possible: it must be None, for this process."
        )


def make_crew(engine, specs, n_jobs):
    from maxmargin.engine.crew import ThreadCrew

    return ThreadCrew(specs, n_jobs)
