"""Where data files are: one folder, named by MAXMARGIN_DATA or in the user's cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def data_home() -> Path:
    """The folder that holds data sets; it need not exist.

    The environment variable MAXMARGIN_DATA names it. Without it, it is ``maxmargin`` in
    the user's cache: ``~/.cache``, or ``%LOCALAPPDATA%`` on Windows.
    """
    named = os.environ.get("MAXMARGIN_DATA", "").strip()
    if named:
        return Path(named).expanduser()
    local = os.environ.get("LOCALAPPDATA") if sys.platform == "win32" else None
    cache = Path(local) if local else Path.home() / ".cache"
    return cache / "maxmargin"


def data_file(name: str | os.PathLike) -> Path:
    """The path of a file under :func:`data_home`, such as "conll2000/train.txt.gz".

    Raises FileNotFoundError, with a sentence that says what to do, if it is not there.
    """
    home = data_home()
    path = home / name
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no data file {str(name)!r} in {home}: set the environment "
            f"variable MAXMARGIN_DATA to the folder that holds it, or put it at {path}."
        )
    return path
