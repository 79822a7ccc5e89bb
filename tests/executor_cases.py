"""Toy shards, which an executor can run, and what they must reply."""

import os
import threading
import time
from typing import NamedTuple

import numpy as np


class Sum(NamedTuple):
    """A reply that is merged: a number, and whose."""

    value: float
    numbers: set[int]

    def merge(self, other, w):
        return Sum(self.value + other.value, self.numbers | other.numbers)


class Toy:
    """Adds up what it is asked."""

    def __init__(self, number, data, threads):
        self.number, self.data, self.asked = number, data, 0
        self.pool = threads

    def score(self, w, factor=1.0):
        self.asked += 1
        return float(self.data @ w) * factor

    def summed(self, w, factor=1.0):
        return Sum(self.score(w, factor), {self.number})

    def arrays(self, w):
        """Dense, sparse, and a tuple of both with a number."""
        few = np.zeros(2000)
        few[self.number] = -0.0
        few[self.number + 7] = self.number + 1.0
        return w * np.float32(self.number), (few, self.number)

    def flags(self, w):
        return w.flags.aligned, w.flags.writeable, w.dtype.str

    def count(self):
        return self.asked

    def threads(self):
        return self.pool

    def pid(self):
        return os.getpid()

    def slowly(self, w, seconds):
        time.sleep(seconds)
        return self.score(w)

    def slow_on(self, w, pid, seconds):
        """Slow on one worker only."""
        time.sleep(seconds if os.getpid() == pid else 0)
        return self.summed(w)

    def last_words(self, w, pid):
        return Deadly(pid)

    def around(self, w):
        return Around(None)

    def place(self, w):
        return w.ctypes.data

    def fail(self, which):
        if self.number in which:
            raise FileNotFoundError(f"shard {self.number} has no file")
        return self.number

    def strange_error(self):
        class Strange(Exception):
            def __init__(self, a, b):
                super().__init__("it is strange")

        raise Strange(1, 2)

    def strange_reply(self):
        return threading.Lock()

    def die(self):
        os.kill(os.getpid(), 9)


class ToySpec:
    def __init__(self, number, size=3000):
        self.number = number
        self.data = np.random.default_rng(number).normal(size=size)

    def build(self, threads):
        return Toy(self.number, self.data, threads)


class BadSpec(ToySpec):
    def build(self, threads):
        raise FileNotFoundError(f"shard {self.number} has no file")


class Around(NamedTuple):
    """Tells how many weights there were where it was merged."""

    w: int | None

    def merge(self, other, w):
        if len(w) == 1:
            raise ArithmeticError("one weight is not enough")
        return Around(len(w))


class Deadly(NamedTuple):
    """Kills one worker when it is merged there."""

    pid: int

    def merge(self, other, w):
        if os.getpid() == self.pid:
            os.kill(self.pid, 9)
        return self


class Problem:
    """With something in it that may not be picklable."""

    def __init__(self, features):
        self.features = features


def specs(shards=5):
    return [ToySpec(k) for k in range(shards)]


def weights(seed=0, size=3000):
    return np.random.default_rng(seed).normal(size=size)


def scores(w, shards=5, factor=1.0):
    return [float(ToySpec(k).data @ w) * factor for k in range(shards)]
