"""The best weights of a fit, and its checkpoints."""

from __future__ import annotations

from typing import Any

import torch

from maxmargin.engine.interrupts import undisturbed
from maxmargin.solvers.checkpoints.notebook import Notebook

TOL = 1.0  # checkpoints of other fits compare tolerances


def copied(network: Any) -> dict[str, Any]:
    """Its weights as arrays."""
    return {k: t.detach().cpu().numpy().copy() for k, t in network.state_dict().items()}


class Best:
    """The weights with the best score; without scores, the last ones."""

    def __init__(self, patience: int):
        self.patience, self.smaller = patience, False
        self.weights: dict[str, Any] | None = None
        self.score, self.iteration, self.waited = 0.0, 0, 0

    def see(self, row: dict, network: Any) -> None:
        """A pass is over; of equal scores, the later one is kept."""
        if "dev_score" not in row:
            return
        score = row["dev_score"]
        ahead = self.score - score if self.smaller else score - self.score
        first = self.weights is None
        self.waited = 0 if first or ahead > 0 else self.waited + 1
        if first or ahead >= 0:
            self.score, self.iteration = score, row["iteration"]
            self.weights = copied(network)

    def restore(self, network: Any) -> tuple[float, int] | None:
        """Put the best weights back; (their score, their pass), if there are scores."""
        if self.weights is None:
            return None
        with undisturbed():
            found = {k: torch.from_numpy(v) for k, v in self.weights.items()}
            network.load_state_dict(found)
        return self.score, self.iteration

    def state(self) -> dict[str, Any]:
        names = "weights", "score", "iteration", "waited"
        return {name: getattr(self, name) for name in names}

    def set(self, state: dict[str, Any]) -> None:
        self.weights = state["weights"]
        self.score, self.iteration = float(state["score"]), int(state["iteration"])
        self.waited = int(state["waited"])


class Checkpoints:
    """Keeps a fit in its checkpoint; without a place for it, does nothing."""

    def __init__(self, fit: Any, plan: Any, verbose: int):
        self.fit, self.notebook = fit, None
        if plan.place is not None:
            self.notebook = Notebook(plan.place, plan.identity, TOL)
            self.notebook.read(fit.restore, verbose)

    def ended(self) -> str:
        """How a fit ended that has nothing left to do."""
        if self.notebook is None or not self.fit.history:
            return ""
        return self.notebook.ended(TOL)

    def note(self, status: str) -> None:
        if self.notebook is not None:
            self.notebook.note(self.fit.state, status, self.fit.history)

    def interrupted(self) -> None:
        if self.notebook is not None:
            self.notebook.interrupted()
