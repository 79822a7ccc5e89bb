"""Tables of aligned pairs: one pair per line, columns between tabs, names in line 1.

    #family   name_a  name_b   pid    aln_a      aln_b      ss_a       ss_b       core
    BBS11001  1aab_   1j46_A   19.7   KKPRGKMSS  DRVK--MNA  CCCCCCHHH  CCCC..CHH  111100111

``aln_a`` and ``aln_b`` must be there: two rows of equal length, with gaps - or . ;
everything else may be missing, and columns with other names are left out. Two columns
``NAME_a`` and ``NAME_b`` are an annotation NAME of both sequences, with a character for
every column of the alignment; a lone * says that it is not known. ``core`` or
``consensus`` has 1 in the columns to be relied upon. ``set`` is put before the family, as
in ``RV11/BBS11001``. ``pid`` is the per cent of equal letters.

Sequences that are not aligned have columns ``seq_a`` and ``seq_b`` in place of the rows.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from maxmargin.alignments.files.pairs import (
    GAPS,
    PairAlignment,
    as_row,
    check_letters,
    check_row,
    gapped,
    pair_from_rows,
)
from maxmargin.alignments.files.stockholm import check_mask
from maxmargin.files.messages import short
from maxmargin.files.text_files import RawText, read_text, write_text

NOT_KNOWN = "*"
PLAIN = ("set", "family", "name_a", "name_b", "pid", "aln_a", "aln_b", "seq_a", "seq_b")
MASKS = ("core", "consensus")


def read_pair_table(
    path: str | os.PathLike | RawText, encoding: str = "utf-8"
) -> list[PairAlignment]:
    """The pairs of a table. Rows of the form ``seq_a``, ``seq_b`` have no matched pairs.

    gzip is fine; "-" is standard input. Errors are ValueErrors that name file and line.
    """
    text, name = read_text(path, encoding)
    lines = text.decode().split("\n")
    try:
        columns = _header(lines[0])
    except ValueError as error:
        raise ValueError(f"{name}, line 1: {error}.") from None
    made = []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip() or line.startswith("#"):
            continue
        cells = line.split("\t")
        try:
            if len(cells) != len(columns):
                raise ValueError(
                    f"there are {len(cells)} columns, but the first line names "
                    f"{len(columns)}; they stand between tabs"
                )
            made.append(_pair(dict(zip(columns, cells, strict=True)), number))
        except ValueError as error:
            raise ValueError(
                f"{name}, line {number}: {str(error).rstrip('.')}."
            ) from None
    if not made:
        raise ValueError(f"{name} has no pairs after its first line.")
    return made


def _header(line: str) -> list[str]:
    """The names of the columns; a sentence if they cannot be those of pairs."""
    columns = line.lstrip("#").strip().split("\t")
    named = Counter(columns)
    for wanted in (("aln_a", "aln_b"), ("seq_a", "seq_b")):
        if named.keys() >= {*wanted}:
            break
    else:
        raise ValueError(
            f"{short(line)} does not name the columns of a table of pairs: the first line "
            "must have aln_a and aln_b (or seq_a and seq_b) among names between tabs"
        )
    for column in columns:
        if named[column] > 1:
            raise ValueError(f"the column {column!r} is named twice")
        other = {"_a": "_b", "_b": "_a"}.get(column[-2:])
        if other and column[:-2] + other not in named:
            raise ValueError(
                f"the column {column!r} has no {column[:-2] + other!r} beside it"
            )
    return columns


def _pair(cells: dict[str, str], number: int) -> PairAlignment:
    kind, check = ("aln", check_row) if "aln_a" in cells else ("seq", check_letters)
    rows = []
    for side in "ab":
        row = cells[f"{kind}_{side}"].strip()
        check(row, f"{kind}_{side}")
        if not row.strip(GAPS):
            raise ValueError(f"{kind}_{side} has no letters")
        rows.append(row.replace(".", "-").upper())
    if kind == "aln" and len(rows[0]) != len(rows[1]):
        raise ValueError(
            f"aln_a has {len(rows[0])} columns, but aln_b has {len(rows[1])}: the two rows "
            "of an aligned pair must be equally long"
        )
    mask = next((cells[m] for m in MASKS if m in cells and cells[m] != NOT_KNOWN), None)
    if mask is not None and kind == "aln":
        _same_length(mask, "the mask", rows[0], "aln_a")
        check_mask(mask, "the mask's characters")
    tracks = [_tracks(cells, side, row) for side, row in zip("ab", rows, strict=True)]
    known: dict[str, Any] = {
        "name_a": cells.get("name_a", "").strip() or f"{number}a",
        "name_b": cells.get("name_b", "").strip() or f"{number}b",
        "family": "/".join(cells[c] for c in ("set", "family") if c in cells),
    }
    if "pid" in cells:
        known["identity"] = _number(cells["pid"])
    if kind == "seq":
        return PairAlignment(
            a=rows[0],
            b=rows[1],
            pairs=[],
            tracks_a=tracks[0],
            tracks_b=tracks[1],
            **known,
        )
    (a, b), (of_a, of_b) = rows, tracks
    return pair_from_rows(a, b, of_a, of_b, mask, **known)


def _tracks(cells: dict[str, str], side: str, row: str) -> dict[str, str]:
    found = {}
    for column, text in cells.items():
        if column.endswith(f"_{side}") and column not in PLAIN and text != NOT_KNOWN:
            _same_length(text, column, row, f"the row of {side}")
            found[column[:-2]] = text
    return found


def _same_length(text: str, what: str, row: str, whose: str) -> None:
    if len(text) != len(row):
        raise ValueError(
            f"{what} has {len(text)} characters, but {whose} has {len(row)}: there must be "
            "one for every column"
        )


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan if text in (NOT_KNOWN, "") else math.inf
    if not (math.isnan(value) or 0 <= value <= 100):
        raise ValueError(f"pid is {short(text)}, but it must be a number from 0 to 100")
    return value


def write_pair_table(
    path: str | os.PathLike, pairs: Sequence[PairAlignment], encoding: str = "utf-8"
) -> None:
    """Write aligned pairs; a path that ends in .gz is compressed."""
    if not pairs:
        raise ValueError(f"there are no pairs to write to {os.fsdecode(path)}.")
    tracks = sorted({t for p in pairs for t in (*p.tracks_a, *p.tracks_b)})
    masked = any(p.core is not None for p in pairs)
    head = ["family", "name_a", "name_b", "pid", "aln_a", "aln_b"]
    head += [f"{t}_{side}" for t in tracks for side in "ab"] + ["core"] * masked
    lines = ["#" + "\t".join(head)]
    for p in pairs:
        rows = gapped(p.a, p.b, p.pairs)
        pid = NOT_KNOWN if math.isnan(p.identity) else f"{p.identity:.6g}"
        cells = [p.family, p.name_a, p.name_b, pid, *rows]
        for t in tracks:
            for row, known in zip(rows, (p.tracks_a, p.tracks_b), strict=True):
                cells.append(as_row(row, known[t]) if t in known else NOT_KNOWN)
        if masked:
            cells.append(NOT_KNOWN if p.core is None else _columns_of(rows, p.core))
        for cell in cells:
            if "\t" in cell or "\n" in cell or "\r" in cell:
                raise ValueError(
                    f"{short(cell)} cannot be written: it has a tab or a new line in it."
                )
        lines.append("\t".join(cells))
    write_text(path, "\n".join([*lines, ""]), encoding)


def _columns_of(rows: tuple[str, str], core: Iterable[bool]) -> str:
    """A mask of matched pairs as one of columns."""
    following = iter(core)
    return "".join(
        "0" if x in GAPS or y in GAPS else "01"[next(following)]
        for x, y in zip(*rows, strict=True)
    )
