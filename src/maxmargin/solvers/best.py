"""The best weights of a fit so far: exact primals, the choice among candidates, proofs.

Where the search for violated outputs only bounds (``core/oracle.py``), three numbers are
known of weights: ``found``, the objective over the outputs that were met, which is too
low; ``primal``, over the bounds of the search, which is too high and makes the
certificate; and the dual, below the optimum. When ``found`` has come down to the dual,
what is left of the gap is the search's, and no pass can close it: the fit ends, and the
weights with the lowest ``found`` are kept, not those that happen to have tight bounds.

What a certificate claims is computed in double precision, also where training is not:
primals always are (scores are double, whatever w is), and of duals only those count for
the gap that were summed up anew from the dual variables (``proved``). The dual that steps
add up (``dual``) serves to guess when a certificate is worth its price. Only the sums of
one thread that trains in double precision are taken for what they would be anew.
"""

from __future__ import annotations

import math
import time

import numpy as np

from maxmargin.core.objective import Objective, Sweep
from maxmargin.core.state import Stateful, require, restored
from maxmargin.engine.interrupts import undisturbed
from maxmargin.solvers.checkpoints.proofs import check_dual, compare
from maxmargin.solvers.result import Certificate, Solution
from maxmargin.solvers.solver import Solver

# Solver.looks where the search leaves a gap open, to see when it is all that is left:
LOOSE = 4, 1.2
SEARCH_ENDED = "ended, as the search for violated outputs can prove no more,"
PROMISING = 1.2  # a certificate is worth its price when the guess is this near tol
NEGLIGIBLE = 0.01  # share of the search's gap below which the solver's own may stay
LOOKS = 3  # around, in search of more violated outputs
EXPLORED = 20  # times that a batch may look around before the fit ends
# By how much the dual may be above the primal for rounding (a hard margin is held to
# 1e-7 of the loss), relative.
ROUNDING = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-6}
PROVED = 1e-6  # the same for a dual that was computed in double precision
LARGE_MASS = 1e8  # from here on, a contradiction may well be rounding


class LostPrecision(ValueError):
    """Rounding put the dual above the primal; double precision may do better."""


class Best(Stateful):
    """The best weights certified so far and the best dual value reached so far."""

    kept = ("w", "sweep", "primal", "dual", "rounds", "winner", "ratio", "share")
    kept = (*kept, "explored", "latest", "proved")
    spares = True  # memory: the weights that end a fit need not be a copy

    def __init__(self, objective: Objective):
        self.objective = objective
        self.w = None
        self.sweep = None  # at these weights
        self.primal = math.inf
        self.dual = 0.0  # alpha = 0 is feasible, so 0 bounds the optimum from below
        self.proved = 0.0  # the same without what rounding may have added
        self.rounds = 0
        self.winner = 0
        self.ratio = 1.0  # certified gap / the gap that the solver estimated, last time
        self.share = 0.1  # of the gap that the last search along w could close
        self.explored = 0
        self.latest = None  # (found, primal, w, sweep): the lowest found of a round
        self.last_certified = 0  # the pass
        self.estimate = math.inf  # that the solver has of its primal

    def state(self) -> dict:
        state = super().state()
        if self.latest is not None and self.latest[2] is None:  # never looked at again
            state["latest"] = (*self.latest[:2], None, None)
        return state

    def restore(self, state) -> None:
        self.w = self.sweep = self.latest = None
        super().restore(state)
        if self.sweep is not None:
            self.sweep = self._answer(self.sweep)
        if self.latest is not None:
            found, primal, w, sweep = self.latest
            numbers = all(isinstance(v, (float, np.floating)) for v in (found, primal))
            require(numbers, "latest", "not complete")
            self.latest = found, primal, None, None
            if w is not None:
                w, sweep = restored(self.objective.weights(), w), self._answer(sweep)
                self.latest = found, primal, w, sweep

    def example(self, name: str):
        return self.objective.weights() if name == "w" else None

    def check_restored(self) -> None:
        none = self.w is None
        require(none == (self.sweep is None), "sweep", "not complete")
        require(none or np.isfinite(self.w).all(), "best.w", "infinite")
        require(none <= (self.primal == math.inf), "primal", "of no weights")
        require(0 <= self.dual < math.inf, "dual", "out of range")
        require(0 <= self.proved <= self.dual, "proved", "out of range")
        require(0 < self.ratio < math.inf, "ratio", "out of range")
        require(0 < self.share < 1, "share", "out of range")

    def _answer(self, saved):
        """A sweep, or sums of it, from a checkpoint."""
        answer, n = self.objective.answer, self.objective.n
        require(type(saved) is tuple, "sweep", "not complete")
        found = answer(*saved)
        for value in found:
            if isinstance(value, np.ndarray):
                require(value.dtype.kind in "fi", "sweep", "no numbers")
                require(np.isfinite(value).all(), "sweep", "infinite")
            else:
                require(isinstance(value, (int, float, np.number)), "sweep", "empty")
        if isinstance(found, Sweep):
            good = all(np.shape(v) == (n,) and v.dtype == float for v in found[:3])
            require(good and np.ndim(found.outputs) == 1, "sweep", "cut")
        return found

    def check_proofs(self, proved: float) -> None:
        """Compare what a checkpoint claims with the dual that is proved, and primals."""
        objective = self.objective
        scale = max(self.primal if self.primal < math.inf else 0.0, abs(proved))
        check_dual("the dual", self.dual, max(proved, 0.0), scale, objective.dtype)
        for w, primal in [(self.w, self.primal), *self._judged()]:
            if w is not None and primal < math.inf:
                found, _, sweep = objective.primal(w)
                # where searches only bound, one may come nearer than the next
                low = found - objective.left_open(sweep)
                if not low <= primal <= found:
                    compare("the primal", primal, found, found, objective.dtype)
                if w is self.w:
                    for value in (objective.pull, objective.left_open):
                        pair = value(self.sweep), value(sweep)
                        compare("sweep", *pair, found, objective.dtype)

    def _judged(self) -> list:
        """Weights that may still be returned (:meth:`_settle`), and their primal."""
        if self.latest is None or self.latest[2] is None:
            return []
        return [(self.latest[2], self.latest[1])]

    def see_dual(self, dual: float) -> None:
        self.dual = max(self.dual, dual)
        # what several threads have added up is a proof only once it is added up anew
        if self.objective.dtype == np.float64 and self.objective.team.size == 1:
            self.proved = self.dual

    def prove(self, dual: float) -> None:
        """A dual that was computed in double precision."""
        self.proved = max(self.proved, dual)
        self.dual = max(self.dual, dual)

    def solution(self, solver: Solver, history: list[dict], status: str) -> Solution:
        """At the end of a fit, nothing is left that only single precision says."""
        self.check(self.primal)
        asked = solver.deputy or solver
        if asked.drifts and self.proved < self.dual:
            self.prove(asked.exact_dual())
        if self.objective.exact:  # equal but for rounding, or check() would have raised
            self.proved = min(self.proved, self.primal)
        self.dual = self.proved
        for row in history:  # each is a bound on the optimum, if the last one is
            if solver.primal < math.inf:  # what its steps added up: not certified
                row["primal"] = max(row["primal"], self.primal)
            row["dual"] = min(row["dual"], self.dual)
            row["gap"] = max(row["primal"] - row["dual"], 0.0)
        history[-1].update(self.bounds())
        converged, left = status == "converged", self.search_gap()
        return Solution(self.w, self.certificate(), history, converged, status, left)

    # while the fit runs ------------------------------------------------------------------

    def look(
        self, solver: Solver, tol: float, iteration: int, status: str, wanted: bool
    ) -> str:
        """After a pass: a certificate, if wanted or due; how the fit ends, if it does."""
        promising = self._guess(solver.deputy or solver) <= PROMISING * tol
        loose = getattr(self.objective.batch, "recalls", False) or self.search_gap() > 0
        first, later = LOOSE if loose else solver.looks
        due = wanted or iteration >= max(first, later * self.last_certified)
        # A certificate costs a full pass: not more than one every tenth.
        spaced = iteration >= 1.1 * self.last_certified
        if status or due or solver.stationary or (promising and spaced):
            self.last_certified = iteration
            self.certify(solver, tol)
            if self._exhausted(tol) and not self._explore():
                status = SEARCH_ENDED
        done = solver.done(self.relative_gap(), tol)
        return "converged" if done else status

    def row(self, solver: Solver, iteration: int, seconds: float) -> dict:
        """One row of history: the certified state after this pass.

        ``primal`` is the exact primal of the best weights certified so far and ``dual``
        the best dual so far, so ``gap`` is a proved bound in every row.
        ``primal_estimate`` is the solver's guess of the primal at its present weights: it
        costs nothing and proves nothing, but shows the way between certificates.
        """
        objective = self.objective
        self.estimate = (solver.deputy or solver).estimate
        # a user's Python oracle is timed call by call; compiled passes are timed whole
        timed = getattr(objective.batch, "seconds", None)
        update = solver.update_seconds if timed is None else seconds - timed
        known = math.isfinite(self.estimate)
        return {
            "iteration": iteration,
            "seconds": seconds,
            **self.bounds(solver.primal),
            "primal_estimate": float(self.estimate) if known else None,
            "oracle_calls": objective.oracle_calls,
            "oracle_seconds": seconds - update,
            "update_seconds": update,
            **solver.columns(),
        }

    def end(self, solver: Solver, tol: float, iteration: int, status: str) -> None:
        """After the last pass: settle for the best that is known."""
        if (
            self.last_certified < iteration
        ):  # a callback ended it: those passes count too
            self.certify(solver, tol)
        if status != "converged":
            self._settle()
        # let a Python batch look for outputs that its oracle should have found
        if self.objective.exact and self.primal < math.inf:
            self.objective.check_maxima(self.w, self.sweep)

    def _guess(self, solver: Solver) -> float:
        """The relative gap that a certificate would find, judged by the last one."""
        self.see_dual(solver.dual)
        estimate = solver.estimate
        if not 0 < estimate < math.inf:
            return math.inf
        return self.ratio * (estimate - self.dual) / estimate

    def certify(self, solver: Solver, tol: float) -> None:
        """Exact primal of the solver's candidates; keeps the best weights."""
        solver = solver.deputy or solver
        candidates, drifts = solver.candidates(), solver.drifts
        if not drifts:
            self.prove(solver.exact_dual())
        # One full pass each: ask the candidate that won last time first, and the
        # others only when it does not settle the matter, every third time.
        order = sorted(range(len(candidates)), key=lambda c: c != self.winner)
        others = self.rounds % 3 == 2
        self.rounds += 1
        self.latest = None
        round_best = math.inf
        for position, c in enumerate(order):
            late = time.perf_counter() >= self.objective.deadline
            if position > 0 and (
                not others or late or self.certificate().relative_gap <= tol
            ):
                break
            w = candidates[c]
            primal, multiple, sweep = self.objective.primal(w)
            self.check(primal)
            solver.learn_from(sweep)
            found = primal - self._left_open(sweep)
            if self.latest is None or found < self.latest[0]:
                chosen = w * w.dtype.type(multiple) if found < primal else None
                self.latest = found, primal, chosen, sweep
            late = time.perf_counter() >= self.objective.deadline
            if not late and primal - self.dual > tol * primal:
                point = primal, multiple, sweep
                bounds = self.dual, tol
                point, self.share = self.objective.along(w, point, *bounds, self.share)
                primal, multiple, sweep = point
            if drifts and primal - self.dual <= tol * primal:
                self.prove(solver.exact_dual())
            if primal < round_best:
                round_best = primal
                self.winner = c
            if primal < self.primal or self.w is None:
                with undisturbed():
                    self.primal = primal
                    self.sweep = sweep
                    # A copy, unless training ends here: the solver needs w no more.
                    over = self.spares and self.relative_gap() <= tol
                    out = w if over else self.w
                    self.w = np.multiply(w, w.dtype.type(multiple), out=out)
        estimate = solver.estimate
        if self.dual < estimate < math.inf and round_best < math.inf:
            ratio = (round_best - self.dual) / (estimate - self.dual)
            self.ratio = min(max(ratio, 0.1), 10.0)
        self.see_dual(solver.dual)

    def check(self, primal: float) -> None:
        """Numbers that cannot be must not pass for a certificate."""
        if math.isnan(primal) or math.isnan(self.dual):
            raise ValueError(
                "Training overflowed: the scores are no longer finite numbers. Scale the "
                "features to a moderate range, or choose a smaller C."
            )
        objective = self.objective
        rounding = ROUNDING.get(objective.dtype, 1e-6)
        low = max(self.dual * (1 - rounding), self.proved * (1 - PROVED)) - 1e-9
        if not objective.exact or primal >= low:
            return
        large = float(
            objective.mass.max(initial=0.0, where=np.isfinite(objective.mass))
        )
        if objective.in_python and large < LARGE_MASS:
            raise ValueError(
                f"The oracle contradicts itself: at the same weights it once found "
                f"outputs that prove an objective of at least {self.dual:.6g}, and now "
                f"claims that {primal:.6g} is possible. Check that "
                "loss_augmented_argmax (or most_violated) adds the loss and really finds "
                "the maximum; if it is approximate by design, set exact = False on the "
                "problem."
            )
        remedy = "choose a smaller C or smaller weights, or scale the features"
        if objective.dtype == np.float32:
            remedy += ", or set tol below 1e-4, which computes in double precision"
        raise LostPrecision(
            f"Training lost precision: C times the sample weight is too large (up to "
            f"{large:.3g}) beside the features, so that the dual {self.dual:.6g} came "
            f"out above the primal {primal:.6g} and nothing is proved: {remedy}."
        )

    def _exhausted(self, tol: float) -> bool:
        """Whether only the search keeps the gap open; see the module."""
        if self.latest is None or not math.isfinite(self.latest[1]):
            return False
        found, primal, _, _ = self.latest
        left_open, own = primal - found, found - self.dual
        allowed = tol * primal
        return own < left_open - allowed and own <= max(allowed, NEGLIGIBLE * left_open)

    def _explore(self) -> bool:
        """Whether a Python batch whose search only bounds met more violated outputs."""
        self.explored += 1
        if self.explored > EXPLORED:
            return False
        return self.objective.explore(self.latest[2], LOOKS)

    def _settle(self) -> None:
        """Of a fit that did not converge, keep the weights with the lowest ``found``."""
        if self.latest is None or self.latest[2] is None:
            return
        _, primal, w, sweep = self.latest
        met = self.objective.met
        if met(w, sweep) < met(self.w, self.sweep):
            with undisturbed():
                self.primal, self.w, self.sweep = primal, w, sweep

    def search_gap(self) -> float:
        """What the bounds of the search add to the primal, over the outputs found."""
        return 0.0 if self.sweep is None else self._left_open(self.sweep)

    def _left_open(self, sweep) -> float:
        return self.objective.left_open(sweep)

    def relative_gap(self) -> float:
        return self.certificate().relative_gap

    def certificate(self) -> Certificate:
        return self._between(self.primal, self.proved)

    def _between(self, primal: float, dual: float) -> Certificate:
        return Certificate.of(primal, dual, self.objective.exact)

    def bounds(self, primal: float = math.inf) -> dict:
        """The bounds as a part of a history row, as far as the steps know them."""
        seen = self._between(min(self.primal, primal), self.dual)
        return {name: getattr(seen, name) for name in ("primal", "dual", "gap")}
