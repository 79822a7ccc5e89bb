"""The one loop around every solver: limits, history, certificate, progress, Ctrl-C.

A solver is an object with

    prepare()       compile its kernels, before the clock starts
    step()          one pass; returns nothing, may raise KeyboardInterrupt anywhere
    dual            value of its best dual point (0 for solvers without one)
    estimate        its own guess of the primal, to decide when a certificate is due
    candidates()    weight vectors worth a certificate, the most promising first
    update_seconds  time spent outside the oracle so far
    stationary      optional: True ends the fit where no dual bound can

The driver alone decides when to stop: when (primal - dual) / primal <= tol, where the
primal is exact at the weights that are returned and the dual is exact at the best dual
point reached. The two need not be the same iterate.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np

from maxmargin.core.objective import Objective
from maxmargin.solvers.planes import sum_of_squares
from maxmargin.solvers.result import Certificate, Limits, Solution


class NotSeparable(ValueError):
    """No weights satisfy a hard margin."""


DEFAULT_MAX_ITER = 1000
FIRST = 20  # passes until a certificate is made in any case
SMALL = 20_000  # slots
PROMISING = 1.2  # a certificate is worth its price when the guess is this near tol
MULTIPLES = 2  # tried per certificate, beside 1
GROWTH_PASSES = 400  # before growth of the dual is judged
# By how much the dual may be above the primal for rounding (a hard margin is held to
# 1e-7 of the loss), relative.
ROUNDING = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-6}
LARGE_MASS = 1e8  # from here on, a contradiction may well be rounding


def drive(objective: Objective, solver, limits: Limits) -> Solution:
    """Run ``solver`` until its certificate is good enough or a limit is reached."""
    objective.prepare()
    solver.prepare()
    began = time.perf_counter()
    best = _Best(objective)
    history: list[dict] = []
    max_iter = DEFAULT_MAX_ITER if limits.max_iter is None else limits.max_iter
    status = ""
    last_certified = 0
    # On small data a certificate after every pass costs nothing and plots well.
    small = len(objective.batch.y) <= SMALL and isinstance(objective.batch, tuple)
    iteration = 0
    stepping = False
    try:
        while not status:
            stepping = True
            solver.step()
            iteration += 1
            stepping = False
            best.see_dual(solver.dual)
            elapsed = time.perf_counter() - began
            if iteration >= max_iter:
                status = f"stopped after max_iter={max_iter} passes"
            elif limits.max_time is not None and elapsed >= limits.max_time:
                status = f"stopped after max_time={limits.max_time:g} seconds"
            stationary = getattr(solver, "stationary", False)
            promising = best.guess(solver.estimate) <= PROMISING * limits.tol
            due = small or iteration >= max(FIRST, 2 * last_certified)
            # A certificate costs a full pass: not more than one every tenth.
            spaced = iteration >= 1.1 * last_certified
            if status or due or stationary or (promising and spaced):
                last_certified = iteration
                best.certify(solver, limits.tol)
                best.see_dual(solver.dual)
            if best.relative_gap() <= limits.tol or stationary:
                status = "converged"
            row = _row(objective, solver, best, iteration, time.perf_counter() - began)
            history.append(row)
            _report(row, limits.verbose)
            if objective.hard:
                _check_separable(best, history)
            for callback in limits.callbacks:
                if callback(row):
                    status = status or "stopped by a callback"
        if last_certified < iteration:  # a callback ended it: the last passes count too
            best.certify(solver, limits.tol)
            best.see_dual(solver.dual)
        best.ask_again()
    except KeyboardInterrupt:
        status = "interrupted"
        if best.w is None:
            best.certify(solver, limits.tol)
            best.see_dual(solver.dual)  # the steps of an unfinished pass count too
    best.check(best.primal)
    if stepping or not history:
        seconds = time.perf_counter() - began
        history.append(_row(objective, solver, best, len(history) + 1, seconds))
    else:
        history[-1].update(best.bounds())
    if limits.verbose:
        print(file=sys.stderr)
    return Solution(
        w=best.w,
        certificate=best.certificate(),
        history=history,
        converged=status == "converged",
        status=status,
        search_gap=best.search_gap(),
    )


def _check_separable(best: _Best, history: list[dict]) -> None:
    """With a hard margin, give up when it seems that no weights separate the data.

    If weights exist the dual is bounded, and its growth flattens; if not, it grows for
    ever, about in proportion to the passes. That is a sign, not a proof.
    """
    if best.primal < math.inf:
        return
    passes = len(history)
    dual, half = history[-1]["dual"], history[passes // 2]["dual"]
    if passes >= GROWTH_PASSES and dual > 1.8 * half:
        raise NotSeparable(
            f"There are no separating weights after {passes} passes, and the dual keeps "
            "growing: most likely the data cannot be separated with a hard margin. "
            + REMEDY
        )


REMEDY = (
    "Choose a finite C, or look for examples with equal inputs and different outputs."
)


def not_separable(reason: str) -> str:
    """The sentence for a proof that no weights separate the data."""
    return f"The data cannot be separated with a hard margin: {reason}. {REMEDY}"


class _Best:
    """The best weights certified so far and the best dual value reached so far."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.w = None
        self.sweep = None  # at these weights
        self.primal = math.inf
        self.dual = 0.0  # alpha = 0 is feasible, so 0 bounds the optimum from below
        self.rounds = 0
        self.winner = 0
        self.ratio = 1.0  # certified gap / the gap that the solver estimated, last time
        self.share = 0.1  # of the gap that the last search along w could close

    def see_dual(self, dual: float) -> None:
        self.dual = max(self.dual, dual)

    def guess(self, estimate: float) -> float:
        """The relative gap that a certificate would find, judged by the last one."""
        if not 0 < estimate < math.inf:
            return math.inf
        return self.ratio * (estimate - self.dual) / estimate

    def certify(self, solver, tol: float) -> None:
        """Exact primal of the solver's candidates; keeps the best weights."""
        candidates = solver.candidates()
        # One full pass each: ask the candidate that won last time first, and the
        # others only when it does not settle the matter, every third time.
        order = sorted(range(len(candidates)), key=lambda c: c != self.winner)
        others = self.rounds % 3 == 2
        self.rounds += 1
        round_best = math.inf
        for position, c in enumerate(order):
            if position > 0 and (not others or self.relative_gap() <= tol):
                break
            w = candidates[c]
            primal, multiple, sweep = self.objective.primal(w)
            self.check(primal)
            solver.learn_from(sweep)
            primal, multiple, sweep = self._best_multiple(
                w, primal, multiple, sweep, tol
            )
            if primal < round_best:
                round_best = primal
                self.winner = c
            if primal < self.primal or self.w is None:
                self.primal = primal
                self.sweep = sweep
                # A copy, unless training ends here: then the solver needs w no more.
                out = w if self.relative_gap() <= tol else self.w
                self.w = np.multiply(w, w.dtype.type(multiple), out=out)
        if self.dual < solver.estimate < math.inf and round_best < math.inf:
            ratio = (round_best - self.dual) / (solver.estimate - self.dual)
            self.ratio = min(max(ratio, 0.1), 10.0)

    def check(self, primal: float) -> None:
        """Numbers that cannot be must not pass for a certificate."""
        if math.isnan(primal) or math.isnan(self.dual):
            raise ValueError(
                "Training overflowed: the scores are no longer finite numbers. Scale the "
                "features to a moderate range, or choose a smaller C."
            )
        objective = self.objective
        rounding = ROUNDING.get(objective.dtype, 1e-6)
        if not objective.exact or primal >= self.dual * (1 - rounding) - 1e-9:
            return
        large = float(
            objective.mass.max(initial=0.0, where=np.isfinite(objective.mass))
        )
        if not isinstance(objective.batch, tuple) and large < LARGE_MASS:
            raise ValueError(
                f"The oracle contradicts itself: at the same weights it once found "
                f"outputs that prove an objective of at least {self.dual:.6g}, and now "
                f"claims that {primal:.6g} is possible. Check that "
                "loss_augmented_argmax adds the loss and really finds the maximum; if "
                "it is approximate by design, set exact = False on the problem."
            )
        remedy = "choose a smaller C or smaller weights, or scale the features"
        if objective.dtype == np.float32:
            remedy += ", or set tol below 1e-4, which computes in double precision"
        raise ValueError(
            f"Training lost precision: C times the sample weight is too large (up to "
            f"{large:.3g}) beside the features, so that the dual {self.dual:.6g} came "
            f"out above the primal {primal:.6g} and nothing is proved: {remedy}."
        )

    def ask_again(self) -> None:
        """Let a Python batch look for outputs that its oracle should have found."""
        question = getattr(self.objective.batch, "check_maxima", None)
        if question is not None and self.objective.exact and self.primal < math.inf:
            question(
                self.w, self.objective.form, self.objective.mass, self.sweep.hinges
            )

    def search_gap(self) -> float:
        """What the bounds of the search add to the primal, over the outputs found."""
        objective, form = self.objective, self.objective.form
        if not (form.slack or form.quadratic) or objective.hard:
            return 0.0
        c = np.sqrt(self.sweep.losses) if form.quadratic else self.sweep.losses
        found = c - (c if form.slack else 1.0) * self.sweep.margins
        bound = objective.primal_from_hinges(0.0, self.sweep.hinges)
        return bound - objective.primal_from_hinges(0.0, np.maximum(found, 0.0))

    def _best_multiple(self, w, primal, multiple, sweep, tol):
        """Try t w for a t near 1, where the slope of the primal says that it pays.

        Near the optimum of the dual, many margins fall just short of what is asked; a
        slightly longer w then has a much smaller primal (CoNLL-2000 tokens: a gap of
        2.5% instead of 6.4% for t = 1.01). A parabola with the slope at t = 1 and a
        minimum that closes as much of the gap as the last one did gives the first t,
        the slopes at both the second.
        """
        objective = self.objective
        squared = sum_of_squares(w)
        gap = primal - self.dual
        if not objective.scalable or squared == 0 or gap <= tol * primal:
            return primal, multiple, sweep
        # Nearly separated, and C is large: a little longer, w violates nothing.
        t = objective.obeying_multiple(sweep, sweep.hinges > 0)
        if 0.5 * t * t * squared < self.dual + 0.5 * gap:
            other, t, after = objective.primal(w, t)
            if other < primal:
                primal, multiple, sweep = other, t, after
                gap = primal - self.dual
                if gap <= tol * primal:
                    return primal, multiple, sweep
        slope = multiple * squared - objective.pull(sweep) / multiple
        if abs(slope) < 1e-9 * squared or gap - tol * primal > 3.0 * self.share * gap:
            return primal, multiple, sweep  # it cannot be enough
        best, best_multiple, best_sweep = primal, multiple, sweep
        t, step = multiple, -2.0 * self.share * gap / slope
        for _ in range(MULTIPLES):
            step = min(max(step, -0.3), 0.3)
            t += step
            other, _, sweep = objective.primal(w, t)
            if other < best:
                best, best_multiple, best_sweep = other, t, sweep
            slope, before = t * squared - objective.pull(sweep) / t, slope
            bend = (slope - before) / step
            if bend <= 0 or best - self.dual <= tol * best:
                break
            step = -slope / bend
            if other + 0.5 * step * slope - self.dual > tol * best:
                break  # not even the bottom of the parabola is low enough
        self.share = min(max((primal - best) / gap, 0.5 * self.share, 0.02), 0.9)
        return best, best_multiple, best_sweep

    def relative_gap(self) -> float:
        return self.certificate().relative_gap

    def certificate(self) -> Certificate:
        return Certificate.of(self.primal, self.dual, self.objective.exact)

    def bounds(self) -> dict:
        """The certificate as a part of a history row."""
        certificate = self.certificate()
        names = ("primal", "dual", "gap")
        return {name: getattr(certificate, name) for name in names}


def _row(objective, solver, best, iteration, seconds) -> dict:
    """One line of history: the certified state after this pass.

    ``primal`` is the exact primal of the best weights certified so far and ``dual`` the
    best dual so far, so ``gap`` is a proved bound in every row.
    """
    # a user's Python oracle is timed call by call; compiled passes are timed whole
    timed = getattr(objective.batch, "seconds", None)
    update = solver.update_seconds if timed is None else seconds - timed
    return {
        "iteration": iteration,
        "seconds": seconds,
        **best.bounds(),
        "oracle_calls": objective.oracle_calls,
        "oracle_seconds": seconds - update,
        "update_seconds": update,
    }


def _report(row: dict, verbose: int) -> None:
    if not verbose:
        return
    line = (
        f"pass {row['iteration']:4d}  {row['seconds']:8.2f} s  "
        f"primal {row['primal']:.6g}  dual {row['dual']:.6g}  gap {row['gap']:.3g}"
    )
    end = "\r" if verbose == 1 and sys.stderr.isatty() else "\n"
    print(line, end=end, file=sys.stderr, flush=True)
