"""What a fit has to remember to go on as if it had never stopped.

A :class:`Stateful` object names its attributes that change while a fit runs. Its state is
a dict of arrays, plain values, and lists, tuples and dicts of these; objects that have a
state themselves, and random generators, stand in it with theirs. All else is made anew by
whoever makes the object, from the same data and settings.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Stateful:
    """Something whose state is that of its attributes ``kept``."""

    kept: tuple[str, ...] = ()

    def state(self) -> dict[str, Any]:
        """The state, not copied: to be written before anything goes on."""
        return {name: state_of(getattr(self, name, None)) for name in self.kept}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state of an object that was made in the same way."""
        for name in self.kept:
            now = getattr(self, name, None)
            setattr(self, name, restored(now, state[name], name))


def state_of(value: Any) -> Any:
    if isinstance(value, Stateful):
        return value.state()
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    return value


def restored(now: Any, saved: Any, name: str = "it") -> Any:
    """The saved value in place of the present one, which says what it must look like."""
    if isinstance(now, Stateful):
        now.restore(saved)
        return now
    if isinstance(now, np.random.Generator):
        now.bit_generator.state = saved
        return now
    if hasattr(now, "_fields"):  # named tuples are saved as tuples
        return type(now)(*map(restored, now, saved, now._fields))
    if isinstance(now, np.ndarray):
        same = isinstance(saved, np.ndarray) and saved.dtype == now.dtype
        if not same or saved.ndim != now.ndim:
            raise ValueError(f"{name!r} is not an array of the right type")
    return saved
