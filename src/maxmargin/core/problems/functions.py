"""A user's Python functions behind the same contract as compiled structures.

An output of example i is a labelling of one slot: its number among the outputs known of
that example (``known.py``), each with its features and loss. The solvers' sources run
uncompiled on this batch (``kernel.run``) and call these methods.

Three ways to search, the best of those that the problem offers:

    outputs(x)                  all outputs are known from the start: a matrix product
    most_violated(...)          the user's search, exact in every formulation
    loss_augmented_argmax(...)  exact for margin rescaling with linear slacks; else the
                                search of ``oracle.py``, which bounds. It begins with the
                                most violated output known, and all that it meets is kept.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Sequence

import numpy as np

from maxmargin.core.formulation import words
from maxmargin.core.kernel import interpreted
from maxmargin.core.problem import check_problem, has_own
from maxmargin.core.problems.answers import Answers, read_only
from maxmargin.core.problems.cached_outputs import (
    CachedOutputs,
    checked_cache,
    state_of_cache,
)
from maxmargin.core.problems.oracle_processes import SearchTeam
from maxmargin.core.rescale import violation as violation_kernel
from maxmargin.core.state import Stateful, restored
from maxmargin.engine.threads import Team
from maxmargin.waiting import seen

violation = interpreted(violation_kernel)

SLOP = 1e-9
FAR = (0.1, 0.3, 1.0, 3.0, 10.0)  # off the direction of w: where explore() looks
MEMORY = 4_000_000  # numbers in feature vectors of outputs that no plane refers to
APPROXIMATE = (
    "if the search is approximate by design, set exact = False on the problem."
)


class FunctionBatch(Stateful):
    """Examples of a :class:`maxmargin.Problem`.

    ``asked`` is the problem as the user gave it, where a later fit has to compare: the
    methods of ``problem`` itself may count or remember.
    """

    def __init__(self, problem, X, Y, asked=None):
        check_problem(problem)
        self.asked = asked
        self.answers = Answers(problem)
        self.exact = bool(getattr(problem, "exact", True))
        self.listed = has_own(problem, "outputs")
        self.searched = has_own(problem, "most_violated") and not self.listed
        self.augmented = has_own(problem, "loss_augmented_argmax")
        self.recalls = False  # whether outputs are remembered for the search
        self.X, self.Y = X, Y
        self.numbers: Sequence[int] = range(len(X))  # in the list that the user gave
        self.start = np.arange(len(X) + 1, dtype=np.int64)
        self.y = np.zeros(len(X), np.int32)
        self.w = None
        self.scores: dict | None = None  # of the example at hand, by number
        self.cached = False  # whether a pass over stored planes is under way
        self.others: SearchTeam | None = None  # processes that search too
        self.known: list[CachedOutputs] = [
            self._first(i) for i in seen(range(len(X)), len(X))
        ]

    def __getstate__(self):
        return {**vars(self), "others": None}

    def team(self, n_jobs: int, form) -> Team:
        """Who searches: other processes too, where an example is asked for once."""
        at_once = self.searched or not (form.slack or form.quadratic)
        helped = n_jobs > 1 and at_once and not self.listed
        self.others = SearchTeam(self, n_jobs) if helped else None
        return self.others or Team()

    @property
    def n_features(self):
        return self.answers.n_features

    @property
    def seconds(self) -> float:
        """Spent inside the user's functions."""
        return self.answers.seconds

    def at(self, i) -> int:
        """The number of sample i in the list that the user gave."""
        return self.numbers[i]

    def piece(self, examples: Sequence[int]):
        """Some of the samples (``core/cutting.py``).

        It begins with the outputs known here, under the same numbers. Those that it meets
        are its own: pieces in threads must not number them in an order of chance.
        """
        piece = copy.copy(self)
        piece.numbers = [self.numbers[i] for i in examples]
        piece.X, piece.Y = [self.X[i] for i in examples], [self.Y[i] for i in examples]
        piece.start = np.arange(len(examples) + 1, dtype=np.int64)
        piece.y = self.y[examples]
        piece.known = [self.known[i].copy() for i in examples]
        piece.answers = copy.copy(self.answers)
        piece.w, piece.scores, piece.cached = None, None, False
        return piece

    # checkpoints ---------------------------------------------------------------------

    def fingerprint(self):
        """What a solver has seen of the examples so far: all that tells data apart."""
        entries = [
            entry[1:] for known in self.known for entry in known.entries.values()
        ]
        return type(self.answers.problem).__qualname__, self.n_features, entries

    def state(self) -> dict:
        known = None if self.listed else state_of_cache(self.known)
        seconds = self.answers.seconds
        return {"known": known, "recalls": self.recalls, "seconds": seconds}

    def restore(self, state) -> None:
        self.recalls = restored(False, state["recalls"], "recalls")
        self.answers.seconds = restored(0.0, state["seconds"], "seconds")
        if not self.listed:
            self._adopt_known(state["known"], [one[0] for one in self.known])

    def _adopt_known(self, state, truths) -> None:
        self.known = checked_cache(state, self.n_features, self._entry, truths)

    def possible(self, i, y) -> bool:
        return int(y[0]) in self.known[i].entries

    # the contract ------------------------------------------------------------------

    def shape(self):
        return 1, 1

    def capacity(self):
        return self.n_features

    def score(self, i, w, theta):
        self.w, self.scores, self.cached = w, None, False

    def score_planes(self, i, w, labellings, count, theta):
        self.w, self.scores, self.cached = w, None, True

    def rescale_scores(self, i, factor, theta):
        self.w, self.scores = self.w * factor, None

    def shift(self, i, step, s, rs, a, ra, theta):
        """Cheap for known outputs; a user's search is not, so a visit ends with it."""
        self.scores = None
        return self.listed or self.cached

    def argmax(self, i, theta, scale, y):
        if self.listed:
            numbers, losses, scores = self.known[i].all(self.w)
            y[0] = numbers[(scale * losses + scores).argmax()]
            return
        # scale * loss + w.Psi has the same argmax as loss + (w / scale).Psi
        w = read_only(self.w if scale in (0.0, 1.0) else self.w / scale)
        name, what, more = "argmax", "score", ()
        if scale != 0.0:
            name, what = "loss_augmented_argmax", "score plus loss"
            if not self.augmented:
                name, more = "most_violated", ("margin", "linear")
        entry, sure = self._search(name, i, w, *more)
        known = self.known[i]
        number = known.number(entry)
        best = scale * known[number].loss + self._dot(known[number])
        least = self._dot(known[0])
        y[0] = number
        if best < least - SLOP * (1.0 + abs(best) + abs(least)):
            values = best / (scale or 1), least / (scale or 1)
            self._complain(i, name, what, *values, "true output", sure)
            y[0] = 0

    def argmax_rescaled(self, i, theta, form, y):
        if self.listed:
            y[0] = self._best_known(i, form)[0]
            return True
        if not self.searched:
            return False
        name = "most_violated"
        entry, sure = self._search(name, i, read_only(self.w), *words(form))
        number = self.known[i].number(entry)
        found = violation(form, entry.loss, self.margin(i, theta, (number,)))
        other, best = self._best_known(i, form)
        if found < best - SLOP * (1.0 + abs(found) + abs(best)) * max(1.0, entry.loss):
            which = "true output" if other == 0 else "output that it returned earlier"
            self._complain(i, name, "violation", found, best, which, sure)
            number = other
        y[0] = number
        return True

    def recall(self, i, theta, form, y):
        self.recalls = True
        y[0] = self._best_known(i, form)[0]

    def value(self, i, theta, y):
        if self.scores is None:
            numbers, _, scores = self.known[i].all(self.w)
            self.scores = dict(zip(numbers.tolist(), scores.tolist(), strict=True))
        number = int(y[0])
        if number not in self.scores:
            self.scores[number] = self._dot(self.known[i][number])
        return self.scores[number]

    def margin(self, i, theta, y):
        return self.value(i, theta, (0,)) - self.value(i, theta, y)

    def loss(self, i, y):
        return self.known[i][y[0]].loss

    def difference(self, i, s, rs, a, ra, index, values):
        m = 0
        parts = ((0, rs - ra), (s[0], -rs), (a[0], ra))
        for number, coefficient in parts:
            if coefficient != 0.0:
                entry = self.known[i][number]
                end = m + len(entry.index)
                index[m:end] = entry.index
                values[m:end] = coefficient * entry.values
                m = end
        return m

    def least_loss(self):
        return self.answers.smallest

    # planes --------------------------------------------------------------------------

    def forget(self, planes):
        """Drop outputs that no stored plane refers to, where they are not of use."""
        if self.listed:
            return
        if self.recalls and sum(known.size for known in self.known) <= MEMORY:
            return
        rows = planes.labels.reshape(planes.alpha.shape).tolist()
        for known, row, count in zip(self.known, rows, planes.count, strict=True):
            known.drop(set(row[:count]))

    def outputs_of(self, planes) -> list[list]:
        """The outputs of all planes but the true ones, by example."""
        rows = planes.labels.reshape(planes.alpha.shape).tolist()
        return [
            [known[number].output for number in row[1:count]]
            for known, row, count in zip(self.known, rows, planes.count, strict=True)
        ]

    def adopt(self, planes, outputs) -> None:
        """Number these outputs, of an earlier batch of the same examples, anew."""
        rows = planes.labels.reshape(planes.alpha.shape)
        for i in range(len(self.X)):
            rows[i, 0] = 0
            for p in range(1, planes.count[i]):
                rows[i, p] = self._number(i, outputs[i][p - 1])

    def known_hinges(self, w, form, mass) -> np.ndarray:
        """The largest violation at w among the outputs known, for every example."""
        self.w, self.scores = w, None
        return np.array(
            [
                self._best_known(i, form)[1] if mass[i] > 0 else 0.0
                for i in range(len(self.X))
            ]
        )

    def explore(self, w, form, mass, rng) -> bool:
        """Ask the oracle near w for outputs that its search at w does not see.

        There it sees corners of the hull of (loss, margin) only; a more violated output
        may lie behind. Returns whether one was met.
        """
        before = self.known_hinges(w, form, mass)
        ahead = w / max(float(np.linalg.norm(w)), 1e-300)
        for i in np.flatnonzero(mass > 0).tolist():
            entries = self.known[i].entries.values()
            # where scores are of the size of losses, both decide
            size = max(e.loss for e in entries) / max(
                max(float(np.linalg.norm(e.values)) for e in entries), 1e-300
            )
            for far in FAR:
                aside = far * rng.normal(size=len(w)) / np.sqrt(len(w))
                other = size * 10.0 ** rng.uniform(-0.5, 1.5) * (ahead + aside)
                name = "loss_augmented_argmax"
                output = self.answers.ask(
                    name, self.at(i), self.X[i], self.Y[i], read_only(other)
                )
                self._number(i, output, name)
        after = self.known_hinges(w, form, mass)
        return bool((after > before + SLOP * (1.0 + before)).any())

    def check_maxima(self, w, form, mass, hinges) -> None:
        """Compare the violations that the oracle found at w with those of argmax().

        An oracle that misses the maximum makes the fit look better than it is: one that
        always answers with the truth looks perfect.
        """
        if not has_own(self.answers.problem, "argmax"):
            return
        examples = np.flatnonzero(mass > 0)
        with (self.others or Team()).expecting(examples):
            for i in examples.tolist():
                entry = None
                with contextlib.suppress(Exception):  # prediction will say so
                    entry, _ = self._search("argmax", i, read_only(w))
                if entry is None:
                    return
                truth = self.known[i][0]
                a, b = (float(w[e.index] @ e.values) for e in (truth, entry))
                found = violation(form, entry.loss, a - b)
                slop = 1e-7 * (1.0 + abs(a) + abs(b) + entry.loss)
                if found > hinges[i] + slop * max(1.0, entry.loss):
                    raise ValueError(self._missed(i, form, hinges[i], found))

    def _missed(self, i, form, reported, found) -> str:
        at_most = f"a violation of at most {reported:.6g}, but the output of argmax at "
        at_most += f"the same weights has one of {found:.6g}"
        if self.listed:
            return (
                f"outputs for sample {self.at(i)} does not list every output: those listed "
                f"have {at_most}. List it too, or correct argmax."
            )
        rescaled = form.slack or form.quadratic
        name = "loss_augmented_argmax"
        if self.searched and (rescaled or not self.augmented):
            name = "most_violated"
        also = ""
        if rescaled and not self.searched and self.least_loss() > 0:
            also = ", and that no loss but zero is below smallest_loss"
        return (
            f"{name} for sample {self.at(i)} returned an output that is not the maximum: "
            f"it reports {at_most}. Check that it adds the loss and tries every "
            f"output{also}; {APPROXIMATE}"
        )

    # helpers -------------------------------------------------------------------------

    def _first(self, i) -> CachedOutputs:
        """The truth, or all outputs where they are listed."""
        x, y = self.X[i], self.Y[i]
        truth = self.answers.entry(self.at(i), x, y, y)
        if truth.loss != 0.0:
            raise ValueError(
                f"loss(y, y) is {truth.loss:g} for sample {self.at(i)}, but the loss of "
                "the true output must be zero: correct loss()."
            )
        if not self.listed:
            return CachedOutputs([truth])
        return CachedOutputs(self.answers.listed_entries(self.at(i), x, y))

    def _entry(self, i, output, source=""):
        return self.answers.entry(self.at(i), self.X[i], self.Y[i], output, source)

    def ask_entry(self, name, i, *arguments):
        """The output that a search of the user's finds for example i."""
        return self.answers.searched(name, self.at(i), self.X[i], self.Y[i], *arguments)

    def _search(self, name, i, *arguments):
        """(what is found, whether it was searched at this very w)."""
        if self.others is None:
            return self.ask_entry(name, i, *arguments), True
        return self.others.search(name, i, *arguments)

    def _number(self, i, output, source="") -> int:
        return self.known[i].number(self._entry(i, output, source))

    def _best_known(self, i, form):
        """(number, violation) of the most violated output known."""
        numbers, losses, scores = self.known[i].all(self.w)
        c = np.sqrt(losses) if form.quadratic else losses
        violations = c - (c if form.slack else 1.0) * (scores[0] - scores)
        best = int(violations.argmax())
        return int(numbers[best]), float(violations[best])

    def _complain(self, i, name, what, found, known, which, sure) -> None:
        if self.exact and sure:
            raise ValueError(
                f"{name} for sample {self.at(i)} returned an output whose {what} is "
                f"{found:.6g}, below the {known:.6g} of the {which}, so it is not the "
                f"maximum. Check the method and joint_feature; {APPROXIMATE}"
            )

    def _dot(self, entry) -> float:
        return float(self.w[entry.index] @ entry.values)
