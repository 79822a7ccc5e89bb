"""The loop that trains a network: Adam, held-out data, Ctrl-C, checkpoints.

Batches are drawn anew in every pass, and random numbers are seeded by pass. So equal seeds
give equal weights on a CPU, also where a fit went on from a checkpoint.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from maxmargin.engine.interrupts import INTERRUPTED, STOPPED, undisturbed
from maxmargin.neural.batches import batch_of
from maxmargin.neural.building import device_of, is_pretrained, new_network
from maxmargin.neural.keeping import Best, Checkpoints, copied
from maxmargin.neural.progress import Watched
from maxmargin.neural.tokens import Tokens
from maxmargin.solvers.watching.held_out import STOPPED_EARLY

RATE = 3e-3  # of new weights, at its highest
PRETRAINED_RATE = 5e-5  # of those that a pretrained model brings along
CLIP = 5.0  # longest gradient
BATCH, STEPS = 32, 64  # sequences per step; steps per pass, at least
LEAST = 0.5  # share of the passes before which held-out scores end nothing
POOL = 20  # batches whose sequences are sorted by length together
RISE = 0.3  # share of the steps in which a rate of one cycle rises
START, END = 25.0, 1e4  # what it begins and ends with, as parts of its highest
LINEAR_RISE = 0.1


class Data(NamedTuple):
    """What is learned from."""

    tokens: Tokens
    labels: np.ndarray  # of every token, -1 where it is not known
    weights: np.ndarray  # of every sequence
    hiding: list  # of every column, the chance of its values to be hidden


class Outcome(NamedTuple):
    """What a fit found."""

    network: Any
    history: list[dict]
    status: str
    dev: tuple | None  # (score, pass) of the weights that were kept


@dataclass
class Plan:
    """What a fit is told."""

    seed: int
    threads: int
    place: Any  # of checkpoints
    identity: dict


def train(
    tagger: Any, plan: Plan, reader: Any, labels: list, data: Data, judge: Any
) -> Outcome:
    """Train a new network; ``judge(network)`` is its score on held-out data, or None."""
    device = device_of(tagger.device)
    with threads(plan.threads), seeded(plan.seed, device):
        network = new_network(tagger, reader, labels).to(device)
        if network.embedding is not None:
            hiding = [torch.from_numpy(found).to(device) for found in data.hiding]
            network.embedding.hiding = hiding
        if judge is not None:
            judge.begin(network)
        fit = Fit(tagger, plan, network, data, judge)
        outcome = fit.run()
        if network.embedding is not None:
            network.embedding.hiding = []
    return outcome


class Fit:
    """One run of the loop."""

    def __init__(self, tagger, plan: Plan, network, data: Data, judge):
        self.tagger, self.plan, self.network, self.data = tagger, plan, network, data
        self.judge = judge
        known = np.zeros(len(data.tokens), np.int64)
        owner = np.repeat(np.arange(len(known)), data.tokens.sizes)
        np.add.at(known, owner, data.labels >= 0)
        self.useful = np.flatnonzero((known > 0) & (data.weights > 0))
        few = max(len(self.useful) // STEPS, 1)
        self.size = tagger.batch_size or min(BATCH, few)
        self.steps = max(math.ceil(len(self.useful) / self.size), 1)
        self.optimizer = torch.optim.AdamW(
            _groups(tagger, network), weight_decay=tagger.weight_decay
        )
        self.history: list[dict] = []
        self.lost, self.counted = 0.0, 0  # loss and tokens of the last pass
        self.best = Best(tagger.patience)
        smaller = bool(judge is not None and judge.smaller)
        self.best.smaller = smaller

    def run(self) -> Outcome:
        tagger = self.tagger
        watched = Watched(tagger.verbose, tagger.callbacks, tagger.max_iter)
        checkpoints = Checkpoints(self, self.plan, tagger.verbose)
        began = time.perf_counter() - self._seconds()
        status = checkpoints.ended() or self._over(began)
        try:
            while not status:
                self._pass(watched)
                row = self._row(time.perf_counter() - began)
                if self.judge is not None:
                    row["dev_score"] = self.judge(self.network)
                with undisturbed():
                    self.history.append(row)
                    self.best.see(row, self.network)
                status = self._over(began)
                if watched(row, tagger.max_time):
                    status = status or STOPPED
                checkpoints.note(status)
        except KeyboardInterrupt:
            status = INTERRUPTED
            checkpoints.interrupted()
        if not self.history:
            self.history.append(self._row(time.perf_counter() - began))
        dev = self.best.restore(self.network)
        self.network.eval()
        return Outcome(self.network, self.history, watched.end(status), dev)

    def _seconds(self) -> float:
        return self.history[-1]["seconds"] if self.history else 0.0

    def _row(self, seconds: float) -> dict:
        number = len(self.history) + 1
        rate = self._rate((number - 1) * self.steps)
        return {
            "iteration": number,
            "seconds": seconds,
            "loss": self.lost / max(self.counted, 1),
            "learning_rate": rate,
        }

    def _over(self, began: float) -> str:
        """How the fit ended; empty if it goes on."""
        tagger = self.tagger
        late = len(self.history) >= LEAST * tagger.max_iter
        if late and self.best.waited >= tagger.patience:
            return STOPPED_EARLY
        if len(self.history) >= tagger.max_iter:
            return f"stopped after max_iter={tagger.max_iter} passes"
        spent = time.perf_counter() - began
        if tagger.max_time is not None and spent >= tagger.max_time:
            return f"stopped after max_time={tagger.max_time:g} seconds"
        return ""

    # a pass -----------------------------------------------------------------------------

    def _pass(self, watched: Watched) -> None:
        """One pass over the data."""
        number = len(self.history)
        torch.manual_seed(_of_pass(self.plan.seed, number))
        self.network.train()
        self.lost, self.counted = 0.0, 0
        batches = list(self._batches(number))
        for k, sequences in enumerate(batches):
            lost, n = self._step(sequences, number * self.steps + k)
            self.lost, self.counted = self.lost + lost, self.counted + n
            done = number + (k + 1) / len(batches)
            watched.lines.within(done, self.lost / self.counted)

    def _batches(self, number: int) -> Iterator[np.ndarray]:
        """Sequences of every step: at random, of about the same length."""
        rng = np.random.default_rng([self.plan.seed, number])
        size = self.size
        order = rng.permutation(self.useful)
        lengths = self.data.tokens.sizes
        batches = []
        for begin in range(0, len(order), POOL * size):
            pool = order[begin : begin + POOL * size]
            pool = pool[np.argsort(lengths[pool], kind="stable")]
            batches += [pool[a : a + size] for a in range(0, len(pool), size)]
        for k in rng.permutation(len(batches)):
            yield batches[k]

    def _step(self, sequences: np.ndarray, step: int) -> tuple[float, int]:
        data, network = self.data, self.network
        batch = batch_of(data.tokens, sequences, network.device)
        labels = data.labels[data.tokens.places(sequences)]
        emissions = network(batch)
        if not bool(torch.isfinite(emissions.detach()).all()):
            raise ValueError(
                f"scores are no longer finite numbers after {step} steps: choose a smaller "
                "learning_rate, or look for numbers of very different sizes in X."
            )
        truth = torch.from_numpy(labels).to(network.device)
        scored = network.chain.scored(emissions, truth, batch.lengths)
        losses = self._losses(scored, step / (self.steps * self.tagger.max_iter))
        weights = torch.from_numpy(data.weights[sequences]).to(losses)
        loss = (weights * losses).sum()
        for group in self.optimizer.param_groups:
            group["lr"] = group["share"] * self._rate(step)
        self.optimizer.zero_grad(set_to_none=True)
        (loss / len(labels)).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        with undisturbed():
            self.optimizer.step()
        return float(loss.detach()), len(labels)

    def _losses(self, scored: Any, done: float) -> Any:
        """Of every sequence; ``done`` is the share of all passes before this step.

        From a cold start the hinge may find that scores which are all alike violate least
        (the loss of the worst output is then a constant): it begins with the log-loss, or
        with losses that grow.
        """
        tagger = self.tagger
        early = done < tagger.warm_up and tagger.hinge_start != "cold"
        if tagger.objective == "log" or (early and tagger.hinge_start == "log"):
            return scored.log_loss()
        return scored.hinge(scale=done / tagger.warm_up if early else 1.0)

    def _rate(self, step: int) -> float:
        """The learning rate of a step, by the schedule."""
        highest = self.tagger.learning_rate or RATE
        total = self.steps * self.tagger.max_iter
        done = min(step / max(total - 1, 1), 1.0)
        return highest * SCHEDULES[self.tagger.schedule](done)

    # checkpoints ------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        optimizer = self.optimizer.state_dict()["state"]
        return {
            "network": copied(self.network),
            "optimizer": {
                str(k): {name: t.cpu().numpy().copy() for name, t in parts.items()}
                for k, parts in optimizer.items()
            },
            "best": self.best.state(),
            "history": self.history,
        }

    def restore(self, state: dict[str, Any]) -> None:
        found = {k: torch.from_numpy(v.copy()) for k, v in state["network"].items()}
        self.network.load_state_dict(found)
        whole = self.optimizer.state_dict()
        whole["state"] = {
            int(k): {name: torch.from_numpy(np.array(a)) for name, a in parts.items()}
            for k, parts in state["optimizer"].items()
        }
        self.optimizer.load_state_dict(whole)
        self.best.set(state["best"])
        self.history[:] = state["history"]


# settings of torch ----------------------------------------------------------------------


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """So many threads of torch, and then as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def seeded(seed: int, device: Any) -> Iterator[None]:
    """Random numbers of a seed; those of the program go on as if nothing had been."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        yield


def _of_pass(seed: int, number: int) -> int:
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])


def _groups(tagger: Any, network: Any) -> list[dict]:
    """Parameters, with their share of the learning rate; no decay of what is no matrix."""
    brought = is_pretrained(tagger)
    groups: dict[tuple, list] = {}
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            old = brought and name.startswith("encoder.")
            groups.setdefault((old, parameter.dim() > 1), []).append(parameter)
    return [
        {"params": found, "share": PRETRAINED_RATE / RATE if old else 1.0}
        | ({} if matrix else {"weight_decay": 0.0})
        for (old, matrix), found in groups.items()
    ]


# schedules ------------------------------------------------------------------------------


def one_cycle(done: float) -> float:
    """Up and down once, as half waves (Smith & Topin 2019, Super-convergence)."""
    if done < RISE:
        low, share = 1.0 / START, 1.0 - done / RISE
    else:
        low, share = 1.0 / END, (done - RISE) / (1.0 - RISE)
    return low + (1.0 - low) * 0.5 * (1.0 + math.cos(math.pi * share))


def linear(done: float) -> float:
    """Up for a tenth of the steps, then down to zero."""
    if done < LINEAR_RISE:
        return done / LINEAR_RISE
    return (1.0 - done) / (1.0 - LINEAR_RISE)


SCHEDULES: dict[str, Callable[[float], float]] = {
    "one-cycle": one_cycle,
    "linear": linear,
    "constant": lambda done: 1.0,
}
