"""Aligned pairs as Clustal writes alignments: blocks of columns, and marks below them.

Every pair is an alignment with a header of its own, as `Bio.AlignIO.parse` reads several.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from maxmargin.alignments.files.pairs import gapped

if TYPE_CHECKING:
    from maxmargin.alignments.files.pairs import PairAlignment

HEADER = "CLUSTAL multiple sequence alignment by maxmargin"
WIDTH = 60  # columns of a block


def clustal_lines(pairs: Iterable[PairAlignment]) -> list[str]:
    """The lines of a file; columns with equal letters have a * below them."""
    lines: list[str] = []
    for pair in pairs:
        rows = gapped(pair.a, pair.b, pair.pairs)
        names = ["_".join(name.split()) or "-" for name in (pair.name_a, pair.name_b)]
        width = max(map(len, names)) + 4
        lines += [HEADER, ""]
        equal = "".join("*" if a == b else " " for a, b in zip(*rows, strict=True))
        for k in range(0, len(equal), WIDTH):
            lines.append("")
            for name, text in zip([*names, ""], [*rows, equal], strict=True):
                lines.append(f"{name:<{width}}{text[k : k + WIDTH]}")
        lines += ["", ""]
    return lines
