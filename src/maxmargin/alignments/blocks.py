"""Rows of an alignment in lines of a fixed width: what notebooks show."""

from __future__ import annotations

from collections.abc import Sequence

from maxmargin.views.view import RIGHT, WRONG, escaped

WIDTH = 60  # columns on a line
LONGEST = 14  # letters of a name beside it
MOST = 40  # rows
FILLS = {"right": f"background:{RIGHT}55", "wrong": f"background:{WRONG}66"}


def match_marks(top: str, bottom: str, matched: Sequence[bool]) -> str:
    """``|`` under equal letters that are matched, ``:`` under others that are."""
    return "".join(
        " " if not pair else "|" if a.upper() == b.upper() else ":"
        for a, b, pair in zip(top, bottom, matched, strict=True)
    )


def blocks(
    rows: Sequence[str],
    names: Sequence[str],
    marks: str | None = None,
    kinds: Sequence[str] | None = None,
    width: int = WIDTH,
) -> str:
    """Rows under each other, with the numbers of the first and last letter of a line.

    ``marks`` stands between the first two rows. ``kinds`` has "right", "wrong" or "" for
    every column, which is then filled so.
    """
    names = [n if len(n) <= LONGEST else n[: LONGEST - 1] + "\u2026" for n in names]
    shown = min(len(rows), MOST)
    length = max(map(len, rows), default=0)
    left, digits = max(map(len, names), default=0), len(str(length))
    at = [0] * len(rows)
    lines = []
    for begin in range(0, length, width):
        end = min(begin + width, length)
        for r in range(shown):
            piece = rows[r][begin:end]
            letters = sum(c not in "-." for c in piece)
            first = at[r] + 1 if letters else at[r]
            at[r] += letters
            name = escaped(f"{names[r]:<{left}}  {first:>{digits}} ")
            look = None if kinds is None else kinds[begin:end]
            lines.append(f"{name} {_filled(piece, look)}  {at[r]}")
            if r == 0 and marks is not None:
                lines.append(" " * (left + digits + 4) + marks[begin:end])
        lines.append("")
    if shown < len(rows):
        lines.append(f"... and {len(rows) - shown} rows more")
    return f"<pre>{chr(10).join(lines)}</pre>"


def _filled(piece: str, kinds: Sequence[str] | None) -> str:
    """Letters, where runs of one kind are in one span."""
    if kinds is None:
        return escaped(piece)
    out, start = [], 0
    for k in range(1, len(piece) + 1):
        if k == len(piece) or kinds[k] != kinds[start]:
            text, style = escaped(piece[start:k]), FILLS.get(kinds[start])
            out.append(f'<span style="{style}">{text}</span>' if style else text)
            start = k
    return "".join(out)
