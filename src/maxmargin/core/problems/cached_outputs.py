"""The outputs of one example that have been met, by number; number 0 is the truth."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core.problems.answers import SAME, CachedOutput
from maxmargin.core.state import require, require_within
from maxmargin.files.model_values import Refused, Room, decode, encode

LOST = type("Lost", (), {"__repr__": lambda self: "LOST"})()  # an output not kept


class CachedOutputs:
    """Numbers are never reused while anybody may refer to them (``drop``)."""

    def __init__(self, entries=()):
        self.entries: dict[int, CachedOutput] = {}
        self.numbers: dict = {}
        self.next = 0
        self._rows = None
        for entry in entries:
            self.number(entry)

    def copy(self) -> CachedOutputs:
        """The same outputs under the same numbers; from now on each counts alone."""
        other = copy.copy(self)
        other.entries, other.numbers = dict(self.entries), dict(self.numbers)
        return other

    def __getitem__(self, number) -> CachedOutput:
        return self.entries[int(number)]

    def number(self, entry: CachedOutput) -> int:
        """The number of this output, a new one if it was never met."""
        key = entry.key
        if key not in self.numbers:
            self.numbers[key] = self.next
            self.entries[self.next] = entry
            self.next += 1
            self._rows = None
        return self.numbers[key]

    def replace_first(self, entry: CachedOutput, keep_old: bool) -> None:
        """Another truth; the old one stays among the others if that is wanted."""
        old = self.entries[0]
        if self.numbers[old.key] == 0:
            del self.numbers[old.key]
        self.entries[0] = entry
        self.numbers[entry.key] = 0
        self._rows = None
        if keep_old:
            self.number(old)

    def drop(self, kept) -> None:
        """Forget all outputs but the truth and these numbers."""
        gone = [k for k in self.entries if k != 0 and k not in kept]
        for number in gone:
            key = self.entries.pop(number).key
            if self.numbers.get(key) == number:  # else the truth has become equal to it
                del self.numbers[key]
        if gone:
            self._rows = None
        self.next = max(self.entries) + 1

    @property
    def size(self) -> int:
        return sum(len(entry.index) for entry in self.entries.values())

    def all(self, w):
        """(numbers, losses, scores under w) of all outputs, the truth first."""
        if self._rows is None:
            entries = list(self.entries.values())
            sizes = [len(entry.index) for entry in entries]
            self._rows = (
                np.fromiter(self.entries, np.int64, len(entries)),
                np.array([entry.loss for entry in entries]),
                np.repeat(np.arange(len(entries)), sizes),
                np.concatenate([entry.index for entry in entries]),
                np.concatenate([entry.values for entry in entries]),
            )
        numbers, losses, rows, index, values = self._rows
        return numbers, losses, np.bincount(rows, w[index] * values, len(numbers))


# checkpoints ---------------------------------------------------------------------------


def state_of_cache(known: list[CachedOutputs]) -> dict[str, Any]:
    """All outputs known of all examples, by value, with numbers, features and losses.

    Of an output that is no plain value, only the rest is kept: a fit asks for no more.
    """
    flat = [(one, number) for one in known for number in one.entries]
    entries = [one.entries[number] for one, number in flat]
    text = json.dumps([written(entry.output) for entry in entries])
    return {
        "counts": np.array([len(one.entries) for one in known], np.int64),
        "next": np.array([one.next for one in known], np.int64),
        "numbers": np.array([number for _, number in flat], np.int64),
        "found": np.array([one.numbers.get(one[k].key) == k for one, k in flat], bool),
        "losses": np.array([entry.loss for entry in entries]),
        "sizes": np.array([len(entry.index) for entry in entries], np.int64),
        "index": np.concatenate([entry.index for entry in entries]),
        "values": np.concatenate([entry.values for entry in entries]),
        "outputs": np.frombuffer(text.encode(), np.uint8),
    }


LENGTHS = {"counts": 0, "next": 0, "numbers": 1, "found": 1, "losses": 1, "sizes": 1}
TYPES = {"found": np.dtype(bool), "losses": np.dtype(float)}


def restored_known(state: dict[str, Any], n_features: int) -> list[CachedOutputs]:
    """Invert `state_of_cache`; ValueError where a file says what cannot be."""
    _check_arrays(state, n_features)
    texts = json.loads(state["outputs"].tobytes())
    cuts = np.cumsum(state["sizes"])[:-1]
    index, values = (np.split(state[name], cuts) for name in ("index", "values"))
    rows = zip(
        state["numbers"].tolist(),
        state["found"].tolist(),
        map(read, texts),
        index,
        values,
        state["losses"].tolist(),
        strict=True,
    )
    known = []
    for count, after in zip(state["counts"], state["next"].tolist(), strict=True):
        one = CachedOutputs()
        for _ in range(count):
            number, found, *entry = next(rows)
            one.entries[number] = CachedOutput(*entry)
            if found:
                one.numbers[one.entries[number].key] = number
        one.next = after
        good = len(one.entries) == count and 0 in one.entries
        require(good and max(one.entries) < after, "numbers", "not of as many outputs")
        known.append(one)
    return known


def _check_arrays(state: dict[str, Any], n_features: int) -> None:
    total = int(state["counts"].sum()), len(state["counts"])
    for name, which in LENGTHS.items():
        good = state[name].shape == (total[1 - which],)
        require(good and state[name].dtype == TYPES.get(name, np.int64), name, "cut")
    for name in ("counts", "sizes", "numbers", "next"):
        require_within(state[name], 0, 1 << 31, name)
    size = int(state["sizes"].sum())
    for name in ("index", "values"):
        require(state[name].shape == (size,), name, "cut")
    require(state["index"].dtype.kind == "i", "index", "no numbers")
    require_within(state["index"], 0, n_features - 1, "index")
    require(state["values"].dtype == np.float64, "values", "no numbers")
    require(np.isfinite(state["values"]).all(), "values", "infinite")
    require_within(state["losses"], 0.0, 1e300, "losses")
    require(not np.isnan(state["losses"]).any(), "losses", "no numbers")
    require(state["outputs"].dtype == np.uint8, "outputs", "no text")


def checked_cache(
    state: Any, n_features: int, entry_of: Callable, truths: list
) -> list[CachedOutputs]:
    """What a checkpoint knows; ValueError or Refused where the problem disagrees."""
    known = restored_known(state, n_features)
    check_cache(known, entry_of)
    check_truths(truths, known)
    return known


def same_entry(now: CachedOutput, saved: CachedOutput) -> bool:
    """Whether two outputs have the same features and loss."""
    same = np.array_equal(now.index, saved.index)
    same = same and np.allclose(now.values, saved.values, SAME, SAME)
    return same and abs(now.loss - saved.loss) <= SAME * (1.0 + saved.loss)


def check_cache(
    known: list[CachedOutputs], entry_of: Callable[[int, Any], CachedOutput]
) -> None:
    """Refuse outputs of which the problem says something else now.

    Their losses and features are in the dual point, which would bound nothing here.
    ``entry_of(i, output)`` asks the problem.
    """
    for i, one in enumerate(known):
        for number, entry in one.entries.items():
            if not number or entry.output is LOST:
                continue
            try:
                now = entry_of(i, entry.output)
            except ValueError:  # it needs no answer to go on
                now = None
            if now is None or not same_entry(now, entry):
                raise Refused(
                    "it is of another fit, whose problem had other losses or features. "
                    "Give what that fit had, remove the file to start anew, or give "
                    "another folder"
                )


def check_truths(now: list[CachedOutput | None], known: list[CachedOutputs]) -> None:
    """ValueError unless outputs number 0 are these; None: nobody can say."""
    require(len(now) == len(known), "known", "not of as many examples")
    for entry, one in zip(now, known, strict=True):
        same = entry is None or same_entry(entry, one[0])
        require(same, "known", "about other truths")


def written(output: Any) -> Any:
    """An output as JSON can say it; None if it is no plain value."""
    try:
        return [encode(output)]
    except Refused:
        return None


def read(text: Any) -> Any:
    return LOST if text is None else decode(text[0], Room(2**26))
