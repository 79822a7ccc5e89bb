"""A user's problem with hidden parts behind the door for Python functions.

An output is a pair (y, h). The methods of a :class:`maxmargin.LatentProblem` take y and h
apart; :class:`Paired` hands them over so, and to ``functions.py`` it is a problem like any
other, with pairs for outputs.
"""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy as np

from maxmargin.core.problem import Problem, has_own
from maxmargin.core.problems.answers import Answers
from maxmargin.core.problems.cached_outputs import LOST, read, state_of_cache, written
from maxmargin.core.problems.functions import SLOP, FunctionBatch

SEARCHES = ("argmax", "loss_augmented_argmax", "most_violated")


class Paired:
    """A problem whose outputs are pairs (y, h); has the methods that the user wrote."""

    def __init__(self, problem):
        self.problem = problem
        self.exact = getattr(problem, "exact", True)
        self.smallest_loss = getattr(problem, "smallest_loss", 0.0)
        self.of_three = _arguments(problem.loss) >= 3
        for name in SEARCHES:
            if has_own(problem, name):
                setattr(self, name, self._search(name))
        if has_own(problem, "outputs"):
            self.outputs = self._outputs

    def joint_feature(self, x, output):
        return self.problem.joint_feature(x, *output)

    def loss(self, truth, output) -> float:
        if self.of_three:
            return self.problem.loss(truth[0], *output)
        return self.problem.loss(truth[0], output[0])

    def _search(self, name):
        method = getattr(self.problem, name)

        def ask(x, *rest):
            if name != "argmax":
                rest = (rest[0][0], *rest[1:])  # the true y alone
            return pair(method(x, *rest), name)

        return ask

    def _outputs(self, x):
        for output in self.problem.outputs(x):
            yield pair(output, "outputs")

    def complete(self, x, y, w) -> Any:
        """h for the true y: the user's, or the best pair that outputs() lists with y."""
        if has_own(self.problem, "complete"):
            return self.problem.complete(x, y, w)
        options = [h for z, h in self._outputs(x) if bool(z == y)]
        if not options:
            raise ValueError(f"outputs lists no pair with the true output {y!r}")
        if w is None:
            return options[0]
        scores = [_dot(self.problem.joint_feature(x, y, h), w) for h in options]
        return options[scores.index(max(scores))]


class LatentBatch(FunctionBatch):
    """Examples whose true outputs are pairs (y, h); h changes as training goes on."""

    hides = True

    def __init__(self, problem: Paired, X, Y, truths, asked=None):
        self.given = Y
        super().__init__(problem, X, list(truths), asked)

    def _first(self, i):
        self._checked(i, self.Y[i])
        return super()._first(i)

    @classmethod
    def begin(cls, problem: Paired, X, Y, init):
        """With first completions: listed, given, or those of weights that are zero."""
        if isinstance(init, (list, tuple)):
            return cls(problem, X, Y, _given(Y, init))
        answers = Answers(problem)
        size = getattr(problem.problem, "n_features", None)
        w = None if size is None else np.zeros(_whole(problem.problem, size))
        if w is None and not has_own(problem.problem, "outputs"):
            name = type(problem.problem).__name__
            raise ValueError(
                f"{name} does not say how many features there are: set n_features, the "
                "length of joint_feature(x, y, h), or give init as a list of hidden "
                "parts."
            )
        hs = [answers.ask("complete", i, x, Y[i], w) for i, x in enumerate(X)]
        return cls(problem, X, Y, list(zip(Y, hs, strict=True)))

    def piece(self, examples):
        piece = super().piece(examples)
        piece.given = [self.given[i] for i in examples]
        return piece

    def state(self) -> dict:
        text = json.dumps([written(h) for _, h in self.Y]).encode()
        hidden = np.frombuffer(text, np.uint8)
        return {
            **super().state(),
            "known": state_of_cache(self.known),
            "hidden": hidden,
        }

    def restore(self, state) -> None:
        hidden = map(read, json.loads(state["hidden"].tobytes()))
        self.Y = list(zip(self.given, hidden, strict=True))
        lost = [h is LOST for _, h in self.Y]
        self._truths = [
            None if lost[i] else self._checked(i, y) for i, y in enumerate(self.Y)
        ]
        super().restore(state)
        if self.listed:
            self._adopt_known(state["known"], self._truths)

    def _adopt_known(self, state, truths) -> None:
        super()._adopt_known(state, self._truths)

    def again(self):
        """The same examples, for a start of their own."""
        return LatentBatch(self.answers.problem, self.X, self.given, self.Y, self.asked)

    def with_hidden(self, hidden) -> list:
        """Truths with these hidden parts."""
        return _given(self.given, hidden)

    def complete_all(self, w, trusted=True) -> list:
        """Completions under w; ``trusted``: they must not be worse than the present."""
        truths = []
        for i, (x, y) in enumerate(zip(self.X, self.given, strict=True)):
            h = self.answers.ask("complete", self.at(i), x, y, w)
            entry = self._checked(i, (y, h))
            if trusted and self.exact:
                self.w = w
                found, present = self._dot(entry), self._dot(self.known[i][0])
                if found < present - SLOP * (1.0 + abs(found) + abs(present)):
                    raise ValueError(
                        f"complete for sample {self.at(i)} returned h with a score of "
                        f"{found:.6g}, but an h that it returned earlier has "
                        f"{present:.6g}: it must return the best h for y. If it is "
                        "approximate by design, set exact = False on the problem."
                    )
            truths.append((y, h))
        return truths

    def set_truths(self, truths) -> None:
        for i, truth in enumerate(truths):
            if not self._is_present(i, truth):
                self.known[i].replace_first(self._checked(i, truth), self.listed)
        self.Y = list(truths)

    def count_changed(self, truths) -> int:
        return sum(not self._is_present(i, truth) for i, truth in enumerate(truths))

    def _is_present(self, i, truth) -> bool:
        return self._checked(i, truth).key == self.known[i][0].key

    def _checked(self, i, truth):
        """The entry of a completed truth: its loss must be zero."""
        entry = self.answers.entry(self.at(i), self.X[i], self.Y[i], truth, "complete")
        if entry.loss != 0.0:
            raise ValueError(
                f"complete for sample {self.at(i)} returned {truth[1]!r}, which does not "
                f"agree with the true y: its loss is {entry.loss:g}, but it must be zero."
            )
        return entry


def _given(Y, init) -> list:
    if len(init) != len(Y):
        raise ValueError(
            f"init has {len(init)} hidden parts, but there are {len(Y)} samples: give one "
            "for each."
        )
    return list(zip(Y, init, strict=True))


def _whole(problem, size) -> int:
    if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 1:
        raise ValueError(
            f"n_features of {type(problem).__name__} is {size!r}, but it must be a whole "
            "number >= 1: the length of joint_feature(x, y, h)."
        )
    return int(size)


def pair(output, source: str) -> tuple:
    """An answer of the user as (y, h)."""
    if not isinstance(output, tuple) or len(output) != 2:
        raise ValueError(
            f"{source} returned {output!r}; with hidden parts it must return a pair "
            "(y, h)"
        )
    return output


def check_latent(problem) -> None:
    """Say which methods are missing, before any work."""
    if not has_own(problem, "outputs") and not has_own(problem, "complete"):
        raise ValueError(
            f"{type(problem).__name__} has no complete(): write complete(x, y, w), which "
            "returns the best h for the true y, or outputs(x), all pairs (y, h)."
        )


def _dot(psi, w) -> float:
    return float((psi @ w).item() if hasattr(psi @ w, "item") else psi @ w)


def _arguments(method) -> int:
    try:
        inspect.signature(method).bind(None, None, None)
    except TypeError:
        return 2
    return 3


class LatentProblem(Problem):
    """Base class of problems with hidden parts, given as Python functions.

    An output is a pair (y, h): y is known in training, h never. Requires

    * ``joint_feature(x, y, h)``: a vector Psi(x, y, h), always of the same length;
    * ``loss(y, y_hat, h_hat)``: what predicting (y_hat, h_hat) costs when y is true,
      finite and >= 0; 0 for y itself with any h that ``complete`` may return. It cannot
      depend on the true h, which nobody knows. ``loss(y, y_hat)`` is accepted, too;

    and either ``outputs(x)``, all pairs (y, h) if they are few, or

    * ``argmax(x, w)``: the pair (y, h) that maximises ``w @ joint_feature(x, y, h)``;
    * ``loss_augmented_argmax(x, y, w)``: the pair (y', h') that maximises
      ``w @ joint_feature(x, y', h') + loss(y, y', h')``;
    * ``complete(x, y, w)``: the h that maximises ``w @ joint_feature(x, y, h)``;
    * ``n_features``, an attribute: the length of ``joint_feature(x, y, h)``.

    The rest is as in :class:`maxmargin.Problem`.
    """
