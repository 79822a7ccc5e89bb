"""Warnings that point at the user's line, however deep in the library they arise."""

from __future__ import annotations

import os
import sys
import warnings

LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """``warnings.warn`` for the first caller who is not of the library."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(LIBRARY):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
