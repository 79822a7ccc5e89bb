"""Passes over blocks in closed form (``exact_blocks.py``), by one thread or several.

Several threads share w in one of two ways. Where an example reaches few of its rows, as of
words, each row has a lock while somebody adds to it. Where examples reach many of them, all
threads would write to the same places all the time: each steps on a copy of w then, and
every few blocks adds what it has changed to w and takes what others have added.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from maxmargin.core.by_label import OutputsByLabel
from maxmargin.core.contract import score, solve_block
from maxmargin.core.kernel import inlined, kernel, prepared
from maxmargin.core.row_changes import NO_LOCKS, leave_row, row_locks, take_row

# blocks, and visits of all of w, until a thread tells what it has changed
LEAST, VISITS = 16, 4
UNTOLD = 4  # features for a block whose change others do not know yet
FEW = 0.1  # share of the rows up to which they have locks
ROOM = 0.05  # of the memory of the data that copies may take
FREE = 1 << 20  # bytes that they may take in any case


class BlockThreads:
    """The threads of a fit, and what each of them needs."""

    def __init__(self, objective):
        self.objective, self.team = objective, objective.team
        self.locks = row_locks() if self.team.size > 1 else NO_LOCKS
        self.most = self.team.size
        self.copies = self.team.size > 1 and reach(objective.batch) > FEW
        if self.copies:
            self.between = max(LEAST, round(VISITS / reach(objective.batch)))
            room = max(FREE, int(ROOM * objective.batch.values.nbytes))
            apart = max(objective.batch.n_features // (UNTOLD * self.between), 2)
            room //= 2 * objective.weights().nbytes
            self.most = min(apart, room, self.most)
            self.copies = self.most > 1
        self._memory: list = []
        # passes may be so short that looking them up counts
        self._passes: dict[Callable, Callable] = {}

    def prepare(self, *arguments) -> None:
        """Compile (or load) what ``visit`` may need."""
        nobody = np.zeros(0, np.int64)
        for way in (self._alone, self._together):
            way(0, nobody, *arguments)

    def visit(self, order, *arguments) -> None:
        """Solve these blocks, each once; w, alpha, gaps and hinges change.

        ``arguments`` are mass, alpha, w, gaps and hinges.
        """

        def part(worker, blocks):
            self._together(worker, blocks, *arguments)

        def alone(worker, blocks):
            self._alone(worker, blocks, *arguments)

        how = {"alone": alone, "steps": True}
        self.team.share(part, exact_block_pass, order, self.most, **how)

    def _alone(self, worker, blocks, mass, alpha, w, gaps, hinges) -> None:
        theta, *_ = self._memory_of(worker, w)
        own = mass, alpha, blocks, theta, w, NO_LOCKS
        self._run(exact_block_pass, *own, gaps, hinges)

    def _together(self, worker, blocks, mass, alpha, w, gaps, hinges) -> None:
        theta, *copies = self._memory_of(worker, w)
        own = mass, alpha, blocks, theta
        if self.copies:
            shared = *copies, self.between, w, self.locks
            self._run(copied_block_pass, *own, *shared, gaps, hinges)
        else:
            self._run(exact_block_pass, *own, w, self.locks, gaps, hinges)

    def _run(self, function: Callable, *arguments) -> None:
        if function not in self._passes:
            batch = self.objective.batch
            self._passes[function] = prepared(function, batch, *arguments)
        self._passes[function](*arguments)

    def _memory_of(self, worker: int, w: np.ndarray) -> list:
        while len(self._memory) <= worker:
            copies = [np.empty_like(w) for _ in range(2 * self.copies)]
            self._memory.append([self.objective.buffers().theta, *copies])
        return self._memory[worker]


def reach(batch: OutputsByLabel) -> float:
    """The share of the rows of w that an example reaches, on average."""
    return batch.values.size / max(len(batch.y) * batch.n_features, 1)


@inlined
def visit_block(batch, i, mass, alpha, theta, w, locks, gaps, hinges):
    if mass[i] == 0.0:
        gaps[i] = 0.0
        hinges[i] = 0.0
    else:
        score(batch, i, w, theta)
        found = solve_block(batch, i, theta, mass[i], alpha[i], w, locks)
        gaps[i], hinges[i] = found


@kernel
def exact_block_pass(batch, mass, alpha, order, theta, w, locks, gaps, hinges):
    for i in order:
        visit_block(batch, i, mass, alpha, theta, w, locks, gaps, hinges)


@kernel
def copied_block_pass(
    batch, mass, alpha, order, theta, own, told, between, w, locks, gaps, hinges
):
    """The same on a copy of w; ``told`` is what of it others know."""
    none = locks[:0]
    for j in range(len(w)):
        own[j] = told[j] = w[j]
    for t in range(len(order)):
        i = order[t]
        visit_block(batch, i, mass, alpha, theta, own, none, gaps, hinges)
        if (t + 1) % between == 0 or t + 1 == len(order):
            take_row(locks, 0)
            exchange(own, told, w)
            leave_row(locks, 0)


@inlined
def exchange(own, told, w):
    for j in range(len(w)):
        x = w[j] + (own[j] - told[j])
        w[j] = x
        own[j] = x
        told[j] = x
