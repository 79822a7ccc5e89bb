"""A checkpoint while a fit runs: written on a clock, read back if it is of the same fit.

Ctrl-C comes in the middle of a pass, whose state no fit could go on from in the same way.
So the state at the end of the last pass is copied, where that takes little time and
memory, and written then.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core.fingerprint import fingerprint
from maxmargin.core.state import require
from maxmargin.core.warn import warn
from maxmargin.engine.lost import EngineLost
from maxmargin.files import checkpoint_file
from maxmargin.files.model_values import Refused
from maxmargin.solvers.checkpoints.checkpoint import (
    Place,
    described,
    look,
    reason_of,
    refusal,
)

RARELY = 50.0  # times the seconds that a copy took must pass before the next
LARGEST_COPY = 1 << 28  # bytes
GO_ON = (
    "",
    "stopped by a callback",
    "interrupted",
)  # a fit that has not come to its end

# What may differ between a checkpoint and the fit at hand, as a sentence has it.
DIFFERENCES = {
    "data": "other data, or parameters that shape them, such as features or loss",
    "masses": "another C or other sample weights",
    "formulation": "another rescaling or penalty",
    "objective": "another objective",
    "kernel": "another kernel",
    "solver": "another solver",
    "precision": "another precision (double if tol is below 1e-4, or C is large)",
    "random": "another random_state",
}


class Notebook:
    """The file of one fit. ``status`` and ``tol`` are those of the state that was read."""

    def __init__(self, place: Place, identity: dict[str, str], tol: float):
        self.place, self.identity = place, identity
        self.status, self.tol, self.new_tol = "", tol, tol
        self.copy: tuple | None = None
        self.copied, self.cost = -math.inf, 0.0
        self.failed = False
        self.written = time.perf_counter()

    def read(
        self, restore: Callable[[Any], None], verbose: int = 0, prove=lambda: None
    ) -> None:
        """Hand the state of an earlier run to ``restore``, if it is there and wanted.

        ``prove`` then computes anew what the state claims, and may spoil it: the state is
        restored a second time after that.
        """
        if not look(self.place):
            return
        try:
            fields, arrays = checkpoint_file.read(self.place.path)
            _compare(fields.get("identity"), self.identity)
            try:
                restore(checkpoint_file.put_together(fields["state"], arrays))
                prove()
                fields, arrays = checkpoint_file.read(self.place.path)
                restore(checkpoint_file.put_together(fields["state"], arrays))
                self.status, self.tol = status_of(fields)
            except (EngineLost, Refused):
                raise
            except Exception as error:  # a file from anywhere can break anything
                what = f"{type(error).__name__}: {error}"
                raise Refused(
                    f"its checksum is right, but this fit cannot use it ({what}). Remove "
                    "it to start anew"
                ) from error
        except (Refused, OSError) as reason:
            raise ValueError(refusal(self.place, reason)) from reason.__cause__
        if verbose == 1:  # at 2, there are lines of JSON only
            print(
                f"going on from '{self.place.path}': {described(fields)}",
                file=sys.stderr,
            )

    def note(self, state: Callable[[], Any], status: str, history: list[dict]) -> None:
        """Write the state, or copy it, or do nothing, as the clock says."""
        now = time.perf_counter()
        if status or now - self.written >= self.place.every:
            self._write(self._packed(state, status, history))
        elif now - self.copied >= RARELY * self.cost:
            fields, arrays = self._packed(state, status, history)
            if sum(array.nbytes for array in arrays.values()) <= LARGEST_COPY:
                copies = {name: array.copy() for name, array in arrays.items()}
                self.copy = fields, copies
            self.copied = time.perf_counter()
            self.cost = self.copied - now

    def interrupted(self) -> None:
        """After Ctrl-C: write the last copy, if it is newer than the file."""
        if self.copy is not None:
            self._write(self.copy)

    def ended(self, tol: float) -> str:
        """How the fit ended whose state was read, if it did and ``tol`` asks no more."""
        if self.status in GO_ON or self.status.startswith("stopped after"):
            return ""  # the limits that hold now decide
        return self.status if tol >= self.tol else ""

    def _packed(self, state, status: str, history: list[dict]) -> tuple[dict, dict]:
        arrays: dict[str, np.ndarray] = {}
        last = history[-1] if history else {"seconds": 0.0}
        fields = {
            "identity": self.identity,
            "passes": last.get("passes", len(history)),  # in all its outer steps
            "seconds": last["seconds"],
            "status": status,
            "ended": status not in GO_ON,
            "tol": self.new_tol,
            "state": checkpoint_file.take_apart(state(), arrays),
        }
        return fields, arrays

    def _write(self, content: tuple[dict, dict]) -> None:
        """A fit is not lost because its checkpoint cannot be written."""
        self.copy = None
        try:
            checkpoint_file.write(self.place.path, *content)
        except (OSError, Refused) as error:
            reason = reason_of(error) if isinstance(error, OSError) else error
            if not self.failed:
                warn(
                    f"The checkpoint '{self.place.path}' cannot be written ({reason}): "
                    "training goes on, and what was written before stays as it is.",
                    RuntimeWarning,
                )
            self.failed = True
        self.written = self.copied = time.perf_counter()


def status_of(fields: dict[str, Any]) -> tuple[str, float]:
    """How the fit of a checkpoint ended, and at which tolerance."""
    status, tol = fields["status"], fields["tol"]
    require(type(status) is str, "status", "no text")
    require(isinstance(tol, (int, float)) and tol > 0, "tol", "out of range")
    return status, float(tol)


def identity(objective, solver: str) -> dict[str, str]:
    """What must be equal for a state to be that of this fit."""
    own = {name: getattr(objective, name, None) for name in ("l1", "kind", "n_weights")}
    described = {
        "data": objective.batch,
        "masses": objective.mass,
        "formulation": (int(objective.form.slack), int(objective.form.quadratic)),
        "objective": (type(objective).__name__, own, objective.nonnegative),
        "solver": solver,
        "precision": str(objective.dtype),
        "random": objective.rng.bit_generator.state,
    }
    described |= getattr(objective, "named", {})
    return {name: fingerprint(value) for name, value in described.items()}


def _compare(saved: Any, wanted: dict[str, str]) -> None:
    if not isinstance(saved, dict) or saved.keys() != wanted.keys():
        raise Refused(checkpoint_file.FOREIGN)
    others = [DIFFERENCES[name] for name in wanted if saved[name] != wanted[name]]
    if others:
        raise Refused(
            f"it is of another fit, with {'; and '.join(others)}. Give what that fit had, "
            "remove the file to start anew, or give another folder"
        )
