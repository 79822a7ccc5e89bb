"""Formats of files of label sequences: a new one is a module in ``files/`` and a record.

The module has the format's name, and so have its public functions: ``read_...`` and
``write_...``. A format of columns, of which features are made, has two more:

    read_piece(raw, separator, comment) -> Columns, or None if there is no token
    written(words, labels, separator) -> str   a tagged sentence; only where labels cannot
                                               be added to a copy of the file
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Format:
    """What has to be known of a format before a file is read."""

    name: str
    module: str = ""  # below maxmargin.tags.files; by default of the same name
    features: bool = False  # whether it holds features, rather than columns
    fixed: str = ""  # why a separator and a mark of comments cannot be chosen
    # these two, where they are fixed
    usual: tuple[str | None, str | None] = (None, None)

    def part(self, name: str) -> Callable[..., Any] | None:
        """A function of its module, None if it has none."""
        module = f"maxmargin.tags.files.{self.module or self.name}"
        return getattr(importlib.import_module(module), name, None)


FORMATS = {
    record.name: record
    for record in (
        Format("columns", module="reader"),
        Format(
            "conllu",
            fixed="CoNLL-U has tabs between columns, and comments begin with #",
            usual=("\t", "#"),
        ),
        Format("slashed"),
        Format("svmhmm", features=True),
        Format("crfsuite", features=True),
    )
}


def public() -> dict[str, str]:
    """{function: module} of the readers and writers that formats bring with them."""
    own = [name for name, record in FORMATS.items() if not record.module]
    return {
        f"{does}_{name}": f"files.{name}" for name in own for does in ("read", "write")
    }
