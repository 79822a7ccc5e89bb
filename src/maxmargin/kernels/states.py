"""Kernels from the states that model files keep; nothing of a file is believed or run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from maxmargin.kernels import arguments, compose, distances, given, strings, vectors
from maxmargin.kernels.base import MAX_DEPTH, Kernel

KINDS: dict[str, type[Kernel]] = {
    cls.kind: cls
    for cls in (
        vectors.Linear,
        vectors.Polynomial,
        vectors.Constant,
        distances.Gaussian,
        distances.Laplace,
        compose.Sum,
        compose.Product,
        compose.Scaled,
        compose.Power,
        compose.Exponential,
        compose.Normalized,
        arguments.After,
        arguments.Of,
        given.Function,
        given.Precomputed,
        given.Pairwise,
        strings.Spectrum,
        strings.Mismatch,
        strings.WeightedDegree,
    )
}
_FUNCTION = {"function": "f", "after": "feature_map"}  # arguments that are code
MAX_SIZE = 10_000  # kernels in one formula


def from_state(state: Any, functions: Mapping[str, Callable] | None = None) -> Kernel:
    """The kernel of a `state`; functions and feature maps in it are given by name.

    >>> from maxmargin.kernels import rbf
    >>> from_state((2 * rbf(0.5) + 1).state())
    2 exp(-0.5 |x - x'|²) + 1
    """
    return _Reader(functions or {}).read(state, 0)


class _Reader:
    def __init__(self, functions: Mapping[str, Callable]) -> None:
        self.functions = functions
        self.left = MAX_SIZE

    def read(self, state: Any, depth: int) -> Kernel:
        self.left -= 1
        if depth > MAX_DEPTH or self.left < 0:
            raise ValueError(
                f"The kernel's state is nested more than {MAX_DEPTH} levels deep, or has "
                f"more than {MAX_SIZE} kernels."
            )
        if not isinstance(state, dict) or not isinstance(state.get("kind"), str):
            raise ValueError(
                'A kernel\'s state must be a dict with a "kind", as k.state() gives it.'
            )
        cls = KINDS.get(state["kind"])
        if cls is None:
            raise ValueError(f"There is no kind of kernel {state['kind'][:50]!r}.")
        values = {
            key: self._value(value, depth)
            for key, value in state.items()
            if key != "kind"
        }
        if cls.kind in _FUNCTION:
            values[_FUNCTION[cls.kind]] = self._function(values.get("name"))
        if cls is given.Pairwise:
            values["parameters"] = self._pairs(values.get("parameters"))
        names = [field.name for field in fields(cls)]
        if set(values) != set(names):
            wanted = ", ".join(sorted(names)) or "nothing"
            raise ValueError(
                f"The state of a kernel of the kind {cls.kind} must have {wanted}."
            )
        return cls(**values)

    def _value(self, value: Any, depth: int) -> Any:
        if isinstance(value, dict) and "kind" in value:
            return self.read(value, depth + 1)
        if isinstance(value, list):
            return tuple(
                self.read(v, depth + 1) if isinstance(v, dict) else v for v in value
            )
        return value

    def _function(self, name: Any) -> Callable:
        if not isinstance(name, str):
            raise ValueError("A function in a kernel's state must have a name.")
        if name not in self.functions:
            raise ValueError(
                f"The kernel needs the function {name[:50]!r}, which is stored by name "
                f"only: give functions={{{name[:50]!r}: ...}}."
            )
        return self.functions[name]

    def _pairs(self, value: Any) -> tuple:
        if not isinstance(value, dict):
            raise ValueError("The parameters of a pairwise kernel must be a dict.")
        return tuple(value.items())
