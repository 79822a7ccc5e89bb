"""The modules that build the documentation, which are no part of the package."""

import importlib
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "docs" / "site"


def tool(name: str):
    """A module of docs/site."""
    if str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))
    return importlib.import_module(name)
