"""Modules under the names they had before the folders of families.

Imports of the old names, and pickles that hold them, go on working: a finder gives the
module of the new name. Nothing in the library uses the old names.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

_LINES = Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()
MOVED = dict(line.split() for line in _LINES if not line.startswith("#"))


class _Moved:
    """Finder and loader of old names."""

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package != "maxmargin" or module not in MOVED:
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        new = MOVED[spec.name.partition(".")[2]]
        module = importlib.import_module(f"maxmargin.{new}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        # the import system has just written the old name over it
        module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Let old names be imported."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Moved())
