"""Modules that the libraries below import and a command hardly ever uses.

They are half of what a command spends on imports. As a program we let them wait until
somebody asks for something in them; a library must not decide that for its users.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader

# Imported as whole modules by scikit-learn, scipy, joblib and numba, used in functions.
MODULES = (
    "asyncio",
    "numpy.f2py",
    "numpy.testing",
    "pycparser",
    "scipy.special",
    "scipy.stats",
    "yaml",
)


class _Postponed:
    """Finds modules as Python would, and runs them at the first use of a name in them."""

    @staticmethod
    def find_spec(name: str, path=None, target=None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in MODULES else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def postpone() -> None:
    """From here on, these modules wait."""
    sys.meta_path.insert(0, _Postponed)
