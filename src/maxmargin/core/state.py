"""What a fit has to remember to go on as if it had never stopped.

A :class:`Stateful` object names its attributes that change while a fit runs. Its state is
a dict of arrays, plain values, and lists, tuples and dicts of these; objects that have a
state themselves, and random generators, stand in it with theirs. All else is made anew by
whoever makes the object, from the same data and settings.

A state may come from a file that anybody wrote, and compiled code does not check indices.
So each value that is restored must look like the one that is there: the same type, dtype
and shape, no NaN, counters that count. What else must hold (indices in range, masses that
add up) is for ``finite`` and ``check_restored``; whether the numbers are true, for
``solvers/checkpoints/proofs.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LARGEST = 1 << 53  # of a counter


class Stateful:
    """Something whose state is that of its attributes ``kept``.

    ``grows`` are those of them whose arrays change their shape while a fit runs, ``finite``
    those that are neither infinite nor hold what is.
    """

    kept: tuple[str, ...] = ()
    grows: tuple[str, ...] = ()
    finite: tuple[str, ...] = ()

    def state(self) -> dict[str, Any]:
        """The state, not copied: to be written before anything goes on."""
        return {name: state_of(getattr(self, name, None)) for name in self.kept}

    def restore(self, state: dict[str, Any]) -> None:
        """Take over a state of an object that was made in the same way."""
        if type(state) is not dict:
            raise ValueError("a state is not a dict")
        for name in self.kept:
            now, saved = getattr(self, name, None), state[name]
            if now is None and saved is not None:
                now = self.example(name)
            if now is None:
                setattr(self, name, saved)
            else:
                setattr(self, name, restored(now, saved, name, name in self.grows))
        for name in self.finite:
            value = getattr(self, name)
            require(value is None or np.isfinite(value).all(), name, "infinite")
        self.check_restored()

    def example(self, name: str) -> Any:
        """What an attribute looks like that is None at first.

        None if only ``check_restored`` can say that.
        """
        return None

    def check_restored(self) -> None:
        """Raise ValueError if what was restored does not hold together."""


def state_of(value: Any) -> Any:
    if isinstance(value, Stateful):
        return value.state()
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    return value


def restored(now: Any, saved: Any, name: str = "it", grows: bool = False) -> Any:
    """The saved value in place of the present one, which says what it must look like."""
    if isinstance(now, Stateful):
        now.restore(saved)
        return now
    if isinstance(now, np.random.Generator):
        now.bit_generator.state = saved
        return now
    if hasattr(now, "_fields"):  # named tuples are saved as tuples
        require(type(saved) is tuple and len(saved) == len(now), name, "not complete")
        names = (f"{name}.{field}" for field in now._fields)
        values = zip(now, saved, names, strict=True)
        return type(now)(*(restored(a, b, c, grows) for a, b, c in values))
    if isinstance(now, np.ndarray):
        return _array(now, saved, name, grows)
    if isinstance(now, (bool, np.bool_)):
        require(isinstance(saved, (bool, np.bool_)), name, "neither true nor false")
    elif isinstance(now, (int, np.integer)):
        whole = isinstance(saved, (int, np.integer)) and not isinstance(saved, bool)
        require(whole and 0 <= saved <= LARGEST, name, "no counter")
    elif isinstance(now, (float, np.floating)):
        real = isinstance(saved, (float, np.floating))
        require(real and not math.isnan(saved), name, "no number")
    elif now is not None:
        require(type(saved) is type(now), name, f"no {type(now).__name__}")
    return saved


def _array(now: np.ndarray, saved: Any, name: str, grows: bool) -> np.ndarray:
    same = isinstance(saved, np.ndarray) and saved.dtype == now.dtype
    require(same and saved.ndim == now.ndim, name, "not an array of the right type")
    fits = grows or saved.shape == now.shape
    require(fits, name, f"of shape {saved.shape} and not {now.shape}")
    if saved.dtype.kind == "f":
        require(not np.isnan(saved).any(), name, "not all numbers")
    return saved


def require(good: Any, name: str, what: str) -> None:
    """Raise ValueError, which says that ``name`` is ``what``, unless it is good."""
    if not good:
        raise ValueError(f"{name!r} is {what}")


def require_within(array: np.ndarray, low: float, high: float, name: str) -> None:
    """The same for numbers outside of a range."""
    good = array.size == 0 or (low <= array.min() and array.max() <= high)
    require(good, name, "out of range")
