"""A transition-based parser: what benchmarks/dependencies.py compares with.

Arc-standard transitions (Nivre 2004), greedy, chosen by an averaged perceptron (Collins
2002) with features as in Zhang & Nivre (2011), without beam. It learns from the moves of a
static oracle, which projective trees have. Weights are rows of numpy, one number per move.
"""

from __future__ import annotations

import random

import numpy as np

SHIFT = 0
ROOT = ("ROOT", "ROOT")


class State:
    """A stack and a buffer of words 1 .. n; 0 is the root, at the bottom of the stack."""

    def __init__(self, sentence):
        self.tokens = [ROOT, *sentence]
        self.n = len(sentence)
        self.stack, self.next = [0], 1
        self.heads = [0] * (self.n + 1)
        self.labels = [""] * (self.n + 1)
        self.left = [[] for _ in range(self.n + 1)]
        self.right = [[] for _ in range(self.n + 1)]

    def done(self) -> bool:
        return self.next > self.n and len(self.stack) == 1

    def possible(self, left: int, right: int) -> list[bool]:
        """Of shift, an arc to the left, an arc to the right."""
        two = len(self.stack) >= 2
        below = two and self.stack[-2] != 0
        last = two and (
            below or self.next > self.n
        )  # the root has one word, at the end
        return [self.next <= self.n, below, last]

    def take(self, kind: int, label: str) -> None:
        if kind == 0:
            self.stack.append(self.next)
            self.next += 1
            return
        top = self.stack.pop()
        if kind == 1:
            modifier = self.stack.pop()
            self.stack.append(top)
            self.left[top].append(modifier)
            head = top
        else:
            modifier, head = top, self.stack[-1]
            self.right[head].append(modifier)
        self.heads[modifier], self.labels[modifier] = head, label

    def features(self) -> list[tuple]:
        tokens, stack = self.tokens, self.stack

        def at(k: int | None):
            return tokens[k] if k is not None and 0 <= k <= self.n else ("-", "-")

        a = stack[-1]
        b = stack[-2] if len(stack) > 1 else None
        c = stack[-3] if len(stack) > 2 else None
        (aw, at_), (bw, bt), ct = at(a), at(b), at(c)[1]
        queue = [self.next + k if self.next + k <= self.n else None for k in range(3)]
        (nw, nt), (mw, mt), lt = at(queue[0]), at(queue[1]), at(queue[2])[1]
        al, ar = (self._outer(a, side) for side in (self.left, self.right))
        bl, br = (self._outer(b, side) for side in (self.left, self.right))
        far = min(a - b, 6) if b is not None else 0
        sizes = [
            min(len(side[k]), 3) if k is not None else 0
            for k in (a, b)
            for side in (self.left, self.right)
        ]
        values = [
            (aw,), (at_,), (aw, at_), (bw,), (bt,), (bw, bt), (nw,), (nt,), (nw, nt),
            (mw,), (mt,), (mw, mt), (ct,), (lt,),
            (aw, at_, bw, bt), (aw, at_, bw), (aw, at_, bt), (aw, bw, bt), (at_, bw, bt),
            (aw, bw), (at_, bt), (at_, nt), (bt, nt), (aw, nw), (at_, nw), (aw, nt),
            (at_, bt, nt), (at_, bt, ct), (at_, nt, mt), (at_, bt, al[0]), (at_, bt, ar[0]),
            (at_, bt, bl[0]), (at_, bt, br[0]), (aw, bt, nt), (at_, bw, nt), (at_, bt, nw),
            (at_, far), (bt, far), (at_, bt, far), (aw, far), (bw, far),
            (at_, sizes[0]), (at_, sizes[1]), (bt, sizes[2]), (bt, sizes[3]),
            (at_, *al), (at_, *ar), (bt, *bl), (bt, *br),
            (at_, bt, al[1], ar[1]), (at_, bt, bl[1], br[1]), (nt, mt, lt),
        ]  # fmt: skip
        return list(enumerate(values))

    def _outer(self, k, side) -> tuple[str, str]:
        """Tag and label of the outermost modifier on a side."""
        if k is None or not side[k]:
            return "-", "-"
        last = side[k][-1]
        return self.tokens[last][1], self.labels[last]


class TransitionParser:
    """``fit(X, y)`` and ``predict(X)`` like `DependencyParser` with labels."""

    def __init__(self, epochs: int = 10, seed: int = 0):
        self.epochs, self.seed = epochs, seed

    def fit(self, X, y):
        labels = sorted({label for row in y for _, label in row})
        self.moves = [(0, "")]
        self.moves += [(kind, label) for kind in (1, 2) for label in labels]
        self.kinds = np.array([kind for kind, _ in self.moves])
        number = {move: k for k, move in enumerate(self.moves)}
        rows: dict = {}  # feature: (weights, weights times the step)
        order, step = list(range(len(X))), 1
        shuffle = random.Random(self.seed)
        for _ in range(self.epochs):
            shuffle.shuffle(order)
            for i in order:
                state, gold = State(X[i]), [(0, ""), *y[i]]
                missing = [0] * (len(X[i]) + 1)
                for head, _ in y[i]:
                    missing[head] += 1
                while not state.done():
                    kind, label = oracle(state, gold, missing)
                    truth = number[kind, label]
                    features = state.features()
                    guess = self._best(state, features, rows, 0)
                    if guess != truth:
                        for feature in features:
                            row = rows.get(feature)
                            if row is None:
                                row = rows[feature] = np.zeros((2, len(self.moves)))
                            row[0, truth] += 1.0
                            row[0, guess] -= 1.0
                            row[1, truth] += step
                            row[1, guess] -= step
                    if kind:
                        missing[gold[state.stack[-2 if kind == 1 else -1]][0]] -= 1
                    state.take(kind, label)
                    step += 1
        self.rows = {
            feature: (row[0] - row[1] / step)[None] for feature, row in rows.items()
        }
        return self

    def predict(self, X) -> list[list[tuple[int, str]]]:
        found = []
        for sentence in X:
            state = State(sentence)
            while not state.done():
                move = self._best(state, state.features(), self.rows, 0)
                state.take(*self.moves[move])
            found.append(list(zip(state.heads[1:], state.labels[1:], strict=True)))
        return found

    def _best(self, state, features, rows, place) -> int:
        scores = np.zeros(len(self.moves))
        for feature in features:
            row = rows.get(feature)
            if row is not None:
                scores += row[place]
        possible = np.array(state.possible(1, 2))[self.kinds]
        return int(np.where(possible, scores, -np.inf).argmax())


def oracle(state: State, gold, missing) -> tuple[int, str]:
    """The move that leads to a projective tree; ``missing``: modifiers still to come."""
    if len(state.stack) > 1:
        top, below = state.stack[-1], state.stack[-2]
        if below and gold[below][0] == top and not missing[below]:
            return 1, gold[below][1]
        done = below or state.next > state.n  # the root is given its word at the end
        if done and gold[top][0] == below and not missing[top]:
            return 2, gold[top][1]
    return SHIFT, ""
