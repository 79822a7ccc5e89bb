"""Files that a command writes: held from before its work until its end.

Whether they can be written is checked by each command (``common.check_output``), which
knows what they are called.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from itertools import combinations

from maxmargin.files.locks import reserve

OUTPUTS = ("output", "plot", "export", "confusion", "fractional")
SHARED = ("log",)  # to which many may append
INPUTS = (
    "train",
    "dev",
    "file",
    "files",
    "template",
    "gazetteer",
    "bitext",
    "negative",
)
INPUTS += ("background", "taxonomy", "like", "against")


@contextlib.contextmanager
def held(args) -> Iterator[None]:
    """Keep others from writing what this command will write; refuse to lose its inputs."""
    outputs = {name: getattr(args, name, None) for name in OUTPUTS + SHARED}
    outputs = {name: path for name, path in outputs.items() if _is_file(path)}
    check_distinct(args, outputs)
    with contextlib.ExitStack() as stack:
        for name, path in outputs.items():
            target = os.path.realpath(path)
            there = os.path.isdir(os.path.dirname(target))
            if name in SHARED or not there or os.path.isdir(target):
                continue  # a folder has its own lock
            if args.command == "shard":
                continue
            try:
                stack.enter_context(reserve(target))
            except OSError as error:
                if error.errno is None:
                    raise
                raise type(error)(
                    f"{path} cannot be written ({error.strerror}): choose a folder that "
                    "can be written to."
                ) from None
        yield


def check_distinct(args, outputs: dict[str, str]) -> None:
    """Refuse an output that is an input, or another output."""
    given = [getattr(args, name, None) for name in INPUTS]
    if args.command != "train":  # where it is a kind of models
        given.append(getattr(args, "model", None))
    files = [
        path
        for value in given
        for path in (value if isinstance(value, list) else [value])
        if isinstance(path, str)
    ]
    for path in outputs.values():
        for other in files:
            if _same(path, other):
                raise ValueError(
                    f"{path} is read and would be overwritten: choose another name for "
                    "what is written."
                )
    for path, other in combinations(outputs.values(), 2):
        if _same(path, other) or os.path.realpath(path) == os.path.realpath(other):
            raise ValueError(f"{path} would be written twice: choose different names.")


def _is_file(path) -> bool:
    """A name for a plain file, which need not be there."""
    if not isinstance(path, str) or path in ("-", "") or "\0" in path:
        return False
    return os.path.isfile(path) or not os.path.exists(path)


def _same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except (OSError, ValueError):
        return False
