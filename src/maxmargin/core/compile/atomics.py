"""What threads do to the same memory in one step each, in compiled code.

On one thread ``atomic_add`` gives the sums of the plain statement, bit for bit. Indices are
not negative.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module


class Intrinsic:
    """A function of ``atomic_code.py``, for kernels to call; it needs numba."""

    def __init__(self, name: str):
        self.__name__ = name

    @cached_property
    def made(self):
        return getattr(
            import_module("maxmargin.core.compile.atomic_code"), self.__name__
        )

    @cached_property
    def _numba_type_(self):
        return import_module("maxmargin.core.compile.atomic_code").type_of(self.made)

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.made, name)


atomic_add = Intrinsic("atomic_add")
swap = Intrinsic("swap")
claim = Intrinsic("claim")
tell = Intrinsic("tell")
look = Intrinsic("look")
let_others = Intrinsic("let_others")
