"""Hidden parts: the concave-convex procedure around the solvers that there are.

With outputs (y, h) whose part h is not known in training, the objective is

    f(w) = 1/2 |w|^2
           + sum_i C_i (max_(y,h) [loss + w.Psi(x_i, y, h)] - max_h w.Psi(x_i, y_i, h))

a difference of convex functions. Each outer step completes the truths, h_i = argmax_h
w.Psi(x_i, y_i, h), which makes the second maximum linear and touches f at w, and solves the
convex problem that is left, an ordinary fit. So f never rises. (Yu & Joachims 2009,
algorithm 5.1 of Yu's thesis; Yuille & Rangarajan 2003.)

A convex problem begins where the last one ended: planes are outputs, and outputs stay valid
cuts whatever stands for the truth, because features of the truth are added when a plane is
used, not when it is stored. Cuts of all examples move with the truths, and planes are
ascended anew before the first search (``carried.py``). Its tolerance follows the decrease
of f. It ends when

    f(w) - dual of the convex problem at w <= tol f(w)

as then no such step can gain more than that: w is a stationary point, to that tolerance,
which is all that can be proved; other starts may end lower.

Where labels are not known (``core/partial.py``) the loss counts completed labels, too, so
that the best completion under w need not have the smallest hinge: an example takes a new
one only if its hinge does not rise. That, too, never lets rise

    F(w, h) = 1/2 |w|^2 + sum_i C_i H_i(w; h_i)

Steps on blocks of examples are the shorter beside C, the larger C is, and a point that
solves the problem of C solves that of 4 C nearly, when its dual variables grow as well. So
a large C is approached from below, and convex problems whose truths may still move get few
passes: the next ones go on with their planes.

A stationary point may be left: from other truths near by, which a family names (a motif
shifted by a letter), the steps begin anew, with the planes that there are. Where they end
lower by tol at least, that is one more step; else it did not happen.

Self-paced (Kumar, Packer & Koller 2010): at first only examples that are easy, with small
hinges at the present w, take part; the threshold grows until all do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from maxmargin.core.completion import changed, complete_all, with_truths
from maxmargin.core.encoded import hidden
from maxmargin.core.partial import is_partial, ordinary
from maxmargin.engine.interrupts import INTERRUPTED, STOPPED, undisturbed
from maxmargin.solvers import registry
from maxmargin.solvers.checkpoints.latent_checkpoint import KeptRun
from maxmargin.solvers.clock import Clock
from maxmargin.solvers.driver import drive
from maxmargin.solvers.hidden.carried import carry, follow
from maxmargin.solvers.hidden.hidden_objective import HiddenObjective
from maxmargin.solvers.planes import Planes, copy_labels
from maxmargin.solvers.result import Limits, Solution, StationaryPoint
from maxmargin.solvers.warm_start import copied, feasible
from maxmargin.solvers.watching.held_out import by_pass, scored_worse

FIRST_TOL = 0.1  # of the first convex problem: its truths are guesses
FOLLOW = 0.5  # tolerance of the next one, by the relative decrease of the last
INNER = 0.5  # share of tol that the last convex problem may leave open
ROUNDING = 1e-6  # by which f may rise, relative: scores in single precision
EASY = 0.5  # share of the examples in the first round of a self-paced fit
HOPE = 2.0  # last decreases more that must be enough to beat others, or it is given up
EASILY = 64.0  # C of all examples: so much needs few passes
RISE = 4.0  # of C from there on, from one convex problem to the next
PASSES = 20  # of a convex problem whose truths may move on: its planes stay
LAST = 300  # of one that is to prove the end, unless max_iter says otherwise
ENDED = (INTERRUPTED, STOPPED)
PACE = 1.3  # growth of the threshold per round


@dataclass
class Descent:
    """One run from one start: the solution, and a row per outer step."""

    solution: Solution
    rounds: list[dict] = field(default_factory=list)
    truths: object = None

    @property
    def objective(self) -> float:
        return self.solution.certificate.objective


def descend(
    make: Callable,
    batch,
    truths,
    name: str,
    limits: Limits,
    max_outer: int = 100,
    self_paced: bool = False,
    n_jobs: int = 1,
    moves: Callable | None = None,
    beat: float = math.inf,
) -> Descent:
    """Outer steps from these truths. ``make(batch, easy)`` is the objective of a batch;
    ``easy`` is None, or which examples take part. ``moves(batch, truths, w)`` lists other
    truths, from which a stationary point may be left. A run that is not likely to end
    below ``beat`` is given up."""
    run = _Run(make, batch, name, limits, max_outer, self_paced, n_jobs)
    best = run.run(truths, beat)
    while moves is not None and best.solution.converged:
        try:
            better = run.leave(best, moves(batch, best.truths, best.solution.w))
        except KeyboardInterrupt:
            best.solution = replace(best.solution, status=INTERRUPTED, converged=False)
            break
        if better is None:
            break
        best = better
    return best


def _joined(best: Descent, trial: Descent) -> Descent:
    """The way to ``trial`` as one more step after those to ``best``."""
    outer = len(best.rounds) + 1
    row = {"outer": outer, "decrease": best.objective - trial.objective}
    history = [step | {"outer": outer} for step in trial.solution.history]
    solution = replace(trial.solution, history=best.solution.history + history)
    return Descent(solution, [*best.rounds, trial.rounds[-1] | row], trial.truths)


class _Run(KeptRun):
    """Outer steps: weights, value of f there, planes, rows."""

    ends, silent = True, True
    looks = 1, 1.0

    def __init__(self, make, batch, name, limits, max_outer, self_paced, n_jobs):
        # planes go from one convex problem to the next, whatever the first one needs
        self.batch, self.name = batch, "block-coordinate" if name == "auto" else name
        self.make = lambda batch, easy: make(ordinary(batch), easy)
        self.place, self.held_out = limits.checkpoint, limits.held_out
        self.limits = replace(limits, checkpoint=None, held_out=None)
        self.max_outer, self.n_jobs = max_outer, n_jobs
        self.paced = self_paced
        self.easy = None
        self.threshold = math.inf
        self.clock = Clock(limits.max_time)
        self.planes: Planes | None = None
        self.carried: dict | None = None  # cuts of the last convex problem
        self.passes = 0

    def run(self, truths, beat: float = math.inf) -> Descent:
        """Until the end, or until f is not likely to end below ``beat``."""
        self.w, self.value, self.beat = None, math.inf, beat
        self.outer, self.round, self.history = 0, {}, []
        self.points: list[StationaryPoint] = []  # of every step
        self.moved = True  # whether truths are new since the last convex problem
        self.batch = with_truths(self.batch, truths)
        self.tol = max(FIRST_TOL, self.limits.tol)
        self.stationary, self.stuck, self.stopped = False, "", False
        self.fresh = self.planes is None and isinstance(self.batch, tuple)
        # only the first one has a checkpoint: later ones try to leave its end
        place, self.place = self.place, None
        limits = self.clock.within(self.limits)
        own = {"checkpoint": place, "held_out": self.held_out, "max_iter": sys.maxsize}
        limits = replace(limits, **own)
        self.objective = HiddenObjective(self)
        found = drive(self.objective, self, limits)
        status = STOPPED if self.stopped else found.status
        if not found.converged:
            status = self.clock.saw(status)
        rounds = {row["round"]["outer"]: row["round"] for row in found.history}
        truths = self.batch.y if isinstance(self.batch, tuple) else list(self.batch.Y)
        if found.dev is not None:  # of an earlier step, perhaps
            self.w, self.point = found.w, self.points[found.dev.iteration - 1]
            truths = self._complete(self.w)[1]
            found = by_pass(found, self.history)
        own = {"w": self.w, "certificate": self.point, "history": self.history}
        solution = replace(found, **own, status=status)
        return Descent(solution, list(rounds.values()), truths)

    def step(self) -> None:
        status = self._approach() if self.fresh else ""
        self.fresh = False
        if not status:
            status, self.tol = self._outer_step(self.tol)
        self.points.append(self.point)
        if status in ENDED:  # in the midst of a step, which no checkpoint is to hold
            self.stopped = status == STOPPED
            raise KeyboardInterrupt
        self.stationary = status == "converged"
        self.stuck = "" if self.stationary else status

    def candidates(self) -> list:
        if self.w is None:
            raise KeyboardInterrupt
        return [self.w]

    def done(self, relative_gap: float, tol: float) -> bool:
        return self.stationary  # f has no dual: without one, every gap is 1

    def columns(self) -> dict:
        return {"round": self.round, "passes": self.passes}

    def _outer_step(self, tol: float) -> tuple[str, float]:
        """One convex problem and new truths: (how the run ended or "", next tol)."""
        before = self.value
        solution, objective = self._convex(tol)
        primal, dual = solution.certificate.primal, solution.certificate.dual
        moved, found = self._complete(solution.w)
        after = self._value_at(solution.w, found)
        everyone, better = not self.paced, True
        if everyone and after > before * (1 + ROUNDING):
            # the convex problem was not solved well enough to improve on its start
            after, moved, better = before, 0, False
        decrease = before - after
        start = before if moved else min(before, after)
        point = StationaryPoint(
            objective=after,
            decrease=float(decrease) if math.isfinite(decrease) else after,
            inner_gap=max(primal - dual, 0.0),
            bound=max(start - dual, 0.0),
            exact=objective.exact,
        )
        with undisturbed():
            self.point, self.value = point, after
            self.w = solution.w if better else self.w
            self._note(primal, dual, decrease, moved, objective)
        status = self._verdict(solution, tol, start - dual, everyone)
        if not status and everyone and after - HOPE * decrease > self.beat:
            status = "given up"
        if moved and not status:
            self.batch = with_truths(self.batch, found)
        if self.paced:
            self._choose_easy()
        return status, self._next_tol(tol, before, decrease, moved)

    def leave(self, best: Descent, moves) -> Descent | None:
        """The first of these truths from which f ends lower; None if it does from none."""
        for truths in moves:
            if self.clock.over():
                return None
            trial = self.run(truths, best.objective)
            lower = trial.objective < best.objective * (1 - self.limits.tol)
            if lower and not scored_worse(trial.solution.dev, best.solution.dev):
                return _joined(best, trial)
            if trial.solution.status in ENDED:
                status = {"status": trial.solution.status, "converged": False}
                best.solution = replace(best.solution, **status)
                return None
        return None

    def _approach(self) -> str:
        """Solve problems of smaller C first; how the run ended, if it did meanwhile."""
        mass = self.make(self.batch, None).mass
        share = EASILY / max(float(mass.sum()), EASILY)
        while share < 1.0 and not self.paced and not self.clock.over():
            solution, objective = self._convex(self.tol, share)
            truths = self._complete(solution.w)[1]
            if solution.status in ENDED:
                self._keep(solution.w, truths, objective)
                return solution.status
            self.batch = with_truths(self.batch, truths)
            share *= RISE
        return ""

    def _keep(self, w, truths, objective) -> None:
        """Weights of which nothing is proved: no dual but 0."""
        value = self._value_at(w, truths)
        with undisturbed():
            self.w, self.value = w, value
            self.point = StationaryPoint(value, value, value, value, objective.exact)
            self._note(value, 0.0, value, 1, objective)

    def _convex(self, tol, share: float = 1.0):
        """Solve the convex problem of the present truths, from the last planes.

        With a ``share``, one whose C is that share of what is asked for.
        """
        objective = self.make(self.batch, self.easy)
        objective.mass = share * objective.mass
        planes = None
        if self.planes is not None:
            planes = copied(self.planes)
            if isinstance(self.batch, tuple):
                room = planes.alpha.shape[1]
                copy_labels(self.batch.start, self.batch.y, 1, planes.labels, room)
            planes = feasible(planes, objective)
        solver = registry.make(self.name, objective, planes)
        if planes is not None:
            follow(solver, self.carried, self.w)
        solution = drive(objective, solver, self._limits(tol))
        solver.finish(solution)
        if solver.planes is not None:
            self.planes = solver.planes
        self.carried = None if is_partial(self.batch) else carry(solver)
        outer, seconds = self.outer + self.moved, self.clock.seconds()
        last = solution.history[-1]["seconds"] if solution.history else 0.0
        for row in solution.history:
            self.passes += 1
            row = row | {"iteration": self.passes, "outer": outer}
            row["seconds"] += seconds - last
            self.history.append(row)
        return solution, objective

    def _limits(self, tol) -> Limits:
        part = {"iteration": self.passes, "seconds": self.clock.seconds()}
        part["outer"] = self.outer + self.moved
        passes = self.limits.max_iter or LAST
        if tol > INNER * self.limits.tol:
            passes = min(passes, PASSES)
        limits = self.clock.within(self.limits)
        return replace(limits, tol=tol, max_iter=passes, part=part)

    def _complete(self, w):
        """(examples whose completion moves, truths at w)."""
        if not hidden(self.batch):
            return 0, self.batch.y
        truths = complete_all(self.batch, w, self.n_jobs)
        if is_partial(self.batch):
            present, start = self.batch.y, self.batch.start
            worse = self._hinges(w, truths) > self._hinges(w, present)
            truths = np.where(np.repeat(worse, np.diff(start)), present, truths)
        return changed(self.batch, truths), truths

    def _hinges(self, w, truths) -> np.ndarray:
        return self.make(with_truths(self.batch, truths), None).sweep(w).hinges

    def _value_at(self, w, truths) -> float:
        """f(w): the convex objective whose truths are completed at w itself."""
        batch = self.batch
        if isinstance(batch, tuple):
            return float(self.make(with_truths(batch, truths), None).primal(w)[0])
        present = list(batch.Y)
        batch = with_truths(batch, truths)
        try:
            return float(self.make(batch, None).primal(w)[0])
        finally:
            with_truths(batch, present)

    def _verdict(self, solution, tol, bound, everyone) -> str:
        limits = self.limits
        if solution.status in ENDED:
            return solution.status
        if not everyone:
            return ""
        if bound <= limits.tol * self.value:
            return "converged"
        if not solution.converged and tol <= INNER * limits.tol:
            return solution.status
        return self._limit_reached()

    def _limit_reached(self) -> str:
        if not self.paced and self.outer >= self.max_outer:
            return f"stopped after max_outer={self.max_outer} steps"
        return ""

    def _next_tol(self, tol, before, decrease, moved) -> float:
        """Tighter as f falls more slowly; where no truth moved, the end is near."""
        floor = INNER * self.limits.tol
        if not moved:
            return max(0.1 * tol, floor)
        if not math.isfinite(before):
            return tol
        return min(max(FOLLOW * decrease / max(before, 1e-300), floor), tol)

    def _choose_easy(self) -> None:
        """Examples below the threshold, which begins at the middle and grows."""
        objective = self.make(self.batch, None)
        hinges = objective.sweep(self.w).hinges
        if self.easy is None:
            self.threshold, wanted = float(np.quantile(hinges, EASY)), 0.0
        else:  # never fewer than before, so that the pace ends
            self.threshold, wanted = PACE * self.threshold, PACE * self.easy.sum()
        easy = hinges <= self.threshold
        if easy.sum() < wanted:
            easy[np.argsort(hinges, kind="stable")[: math.ceil(wanted)]] = True
        self.easy, self.paced = easy, not easy.all()

    def _note(self, primal, dual, decrease, moved, objective) -> None:
        taking_part = objective.n if self.easy is None else int(self.easy.sum())
        self.outer += self.moved  # or still the same convex problem, solved better
        self.moved = moved > 0 or self.paced
        self.round = {
            "outer": self.outer,
            "objective": self.value,
            "decrease": float(decrease),
            "primal": primal,
            "dual": dual,
            "moved": int(moved),
            "examples": taking_part,
            "passes": self.passes,
            "seconds": self.clock.seconds(),
        }
