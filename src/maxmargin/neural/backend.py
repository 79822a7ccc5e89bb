"""What needs PyTorch, imported when it is needed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def backend(module: str) -> Any:
    """A module of this folder that imports torch; a sentence where that is missing."""
    if find_spec("torch") is None:
        raise ImportError(
            "NeuralTagger needs PyTorch: pip install 'maxmargin[torch]', or install torch "
            "as pytorch.org says for your machine."
        )
    return import_module(f"maxmargin.neural.{module}")
