"""What a history says of primal, dual and gap; pictures and reports draw it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Curves(NamedTuple):
    """Columns of ``history_``; the estimate is NaN where it says nothing."""

    seconds: np.ndarray
    primal: np.ndarray
    dual: np.ndarray
    estimate: np.ndarray

    @classmethod
    def of(cls, rows) -> Curves:
        names = ("seconds", "primal", "dual")
        seconds, primal, dual = (np.array([row[n] for row in rows]) for n in names)
        guess = np.array([row.get("primal_estimate") for row in rows], float)
        # a solver that wants a certificate anyway says the dual
        useful = np.isfinite(guess) & (guess - dual > 1e-9 * np.abs(dual))
        return cls(seconds, primal, dual, np.where(useful, guess, np.nan))

    @property
    def certified(self) -> np.ndarray:
        return np.isfinite(self.primal)

    def guessed(self) -> np.ndarray:
        """The estimate up to the first certificate, where it ends at the primal."""
        known = self.certified
        first = int(known.argmax())
        guess = self.estimate.copy()
        guess[first + 1 :] = np.nan
        guess[first] = (
            self.primal[first] if np.isfinite(guess[:first]).any() else np.nan
        )
        return guess

    def gap_of(self, primal, chosen=slice(None)) -> np.ndarray:
        primal, dual = primal[chosen], self.dual[chosen]
        return (primal - dual) / np.where(primal > 0, primal, 1.0)


def tolerance_of(model: Any) -> float | None:
    """tol as the fit used it, or None for a bare history."""
    own = getattr(model, "_tolerance", None)
    return own() if own else getattr(model, "tol", None)
