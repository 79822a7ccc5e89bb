"""What is sent to hosts, as frames: specs of shards, and questions.

Of weights, what changed in them since the last question is sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.engine.dask_host import First
from maxmargin.engine.packing import Sparse, comparable, difference, dumps, pack


class Weights:
    """The first common argument as it was sent last, and what changed since before."""

    def __init__(self):
        self.version = 0
        self.array: np.ndarray | None = None
        self._changes: Sparse | None = None
        self._base = 0  # the version that they change
        self._lent = False  # whether a message that may be on its way is this array

    def see(self, array: np.ndarray) -> None:
        before = self.array
        self._changes = None if before is None else difference(array, before)
        self._base = self.version
        if before is None or self._changes is None or self._lent:
            self.version += self._changes is None or len(self._changes.places) > 0
            self.array = array.copy()  # the caller may write into it
            self._lent = False
        elif len(self._changes.places):
            self.version += 1
            self._changes.onto(before)  # a whole copy takes longer than all messages

    def message(self, version: int | None) -> First:
        """For a host that has this version."""
        if self._changes is not None and version in (self._base, self.version):
            return First(self.version, version, self._changes)
        whole = pack(self.array)
        self._lent |= whole is self.array
        return First(self.version, None, whole)


class Question:
    """The arguments of an ask as frames; those that hosts share are made once."""

    def __init__(self, common: tuple, own: Sequence[tuple], weights: Weights):
        self._weights = None
        if common and comparable(common[0]):
            weights.see(common[0])
            self._weights, common = weights, common[1:]
        self._rest = pack(common)
        self._own = own
        self._shared: dict[int | None, list[np.ndarray]] = {}

    @property
    def version(self) -> int | None:
        """Of the weights that a host has who was asked."""
        return self._weights and self._weights.version

    def common(self, version: int | None) -> list[np.ndarray]:
        """The common arguments, for a host that has this version of the weights."""
        if version not in self._shared:
            first = self._weights and self._weights.message(version)
            self._shared[version] = dumps((first, self._rest))
        return self._shared[version]

    def own(self, numbers: set[int]) -> list[np.ndarray]:
        """The arguments of some shards."""
        return dumps(pack({k: self._own[k] for k in sorted(numbers)}))


def spec_frames(k: int, spec) -> list[np.ndarray]:
    """A spec as it is sent; refuses one that cannot be, and says what it is in it."""
    try:
        return dumps(spec)
    except Exception as error:
        where, value = _culprit(spec, ())
        name = ".".join(where) or "it"
        raise ValueError(
            f"Shard {k} cannot be sent to a cluster, as {name} is a "
            f"{type(value).__name__} that cannot be pickled ({error}): keep open files, "
            "locks and the like out of what is fitted, or leave out engine."
        ) from None


def _culprit(value: Any, where: tuple[str, ...]) -> tuple[tuple[str, ...], Any]:
    """The innermost attribute that cannot be pickled."""
    inside = value if isinstance(value, dict) else getattr(value, "__dict__", None)
    if inside is None and isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", range(len(value)))
        inside = dict(zip(names, value, strict=True))
    for name, part in (inside or {}).items() if len(where) < 20 else ():
        try:
            dumps(part)
        except Exception:
            return _culprit(part, (*where, str(name)))
    return where, value
