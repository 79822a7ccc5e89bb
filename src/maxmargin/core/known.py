"""The outputs of one example that have been met, by number; number 0 is the truth."""

from __future__ import annotations

import numpy as np

from maxmargin.core.answers import Entry


class Known:
    """Numbers are never reused while anybody may refer to them (``drop``)."""

    def __init__(self, entries=()):
        self.entries: dict[int, Entry] = {}
        self.numbers: dict = {}
        self.next = 0
        self._rows = None
        for entry in entries:
            self.number(entry)

    def __getitem__(self, number) -> Entry:
        return self.entries[int(number)]

    def number(self, entry: Entry) -> int:
        """The number of this output, a new one if it was never met."""
        key = entry.key
        if key not in self.numbers:
            self.numbers[key] = self.next
            self.entries[self.next] = entry
            self.next += 1
            self._rows = None
        return self.numbers[key]

    def replace_first(self, entry: Entry, keep_old: bool) -> None:
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
