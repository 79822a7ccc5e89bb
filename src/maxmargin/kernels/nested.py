"""Parameters of a kernel inside of an estimator: ``kernel__gamma``, as scikit-learn nests.

A kernel is a frozen value, so that setting a parameter makes a new one. A formula has the
parameters of all kernels in it: each by its own name where only one kernel has it, and
numbered in the order of the formula where several have,

    rbf(0.1) + 1              kernel__gamma, kernel__value
    rbf(0.1) + rbf(2.0)       kernel__gamma_1, kernel__gamma_2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Self

from maxmargin.kernels.base import Kernel

PREFIX = "kernel__"


class NestedKernel:
    """An estimator whose parameter ``kernel`` may be a kernel with parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters; with ``deep``, those of a kernel object as ``kernel__name``."""
        params = super().get_params(deep=deep)
        if deep and isinstance(getattr(self, "kernel", None), Kernel):
            params |= {PREFIX + k: v for k, v in parameters_of(self.kernel).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``kernel__name`` makes a new kernel of the one that is there."""
        inner = {k: v for k, v in params.items() if k.startswith(PREFIX)}
        own = {k: v for k, v in params.items() if k not in inner}
        if inner:
            kernel = own.get("kernel", self.kernel)
            values = {k.removeprefix(PREFIX): v for k, v in inner.items()}
            own["kernel"] = changed(kernel, values)
        return super().set_params(**own)


def parameters_of(kernel: Kernel) -> dict[str, Any]:
    """Names and values of all that can be set in a formula."""
    return {name: value for name, (_, _, value) in _numbered(kernel).items()}


def changed(kernel: Any, values: dict[str, Any]) -> Kernel:
    """The formula with other parameters."""
    first = PREFIX + next(iter(values))
    if not isinstance(kernel, Kernel):
        shown = "a function" if callable(kernel) else repr(kernel)
        own = first.removeprefix(PREFIX)
        raise ValueError(
            f"{first} is of a kernel of maxmargin.kernels, but kernel is {shown}: set "
            f"{own} itself, or give a kernel, as in kernel=kernels.rbf(0.1)."
        )
    known = _numbered(kernel)
    for name in values:
        if name not in known:
            there = ", ".join(PREFIX + k for k in known) or "none"
            raise ValueError(
                f"{PREFIX}{name} is no parameter of the kernel {kernel}: it has {there}."
            )
    new: dict[int, dict[str, Any]] = {}
    for name, value in values.items():
        place, field, _ = known[name]
        new.setdefault(place, {})[field] = value
    return _rebuilt(kernel, iter(range(1 << 30)), new)


def _numbered(kernel: Kernel) -> dict[str, tuple[int, str, Any]]:
    """{name: (number of the kernel in the formula, its own name for it, value)}"""
    found = list(_leaves(kernel, iter(range(1 << 30))))
    times, seen, out = Counter(field for _, field, _ in found), Counter(), {}
    for place, field, value in found:
        seen[field] += 1
        name = field if times[field] == 1 else f"{field}_{seen[field]}"
        out[name] = place, field, value
    return out


def _leaves(kernel: Kernel, numbers: Iterator[int]) -> Iterator[tuple]:
    place = next(numbers)
    for name, value in kernel._own().items():
        yield place, name, value
    for child in kernel._children():
        yield from _leaves(child, numbers)


def _rebuilt(kernel: Kernel, numbers: Iterator[int], new: dict[int, dict]) -> Kernel:
    """The formula with new arguments, by the numbers of ``_leaves``."""
    values = new.get(next(numbers), {})
    kernel = kernel._mapped(lambda child: _rebuilt(child, numbers, new))
    return kernel._with(values) if values else kernel
