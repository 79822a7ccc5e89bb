"""Stockholm files: multiple alignments with annotations, one after the other.

    # STOCKHOLM 1.0                    every alignment begins so
    #=GF ID   RV11/BBS11001            its name
    1aab_          KKPRGKMSSYAFFVQ     a row: name, letters and gaps (- or .)
    #=GR 1aab_ SS  CCCCCCCCHHHHHHH     annotation of a row: here secondary structure
    1j46_A         DRVKRPMNAFIVWSR
    #=GC core      011111111111111     annotation of the columns

    1aab_          TSREEHKKKHPDASV     after a blank line, rows may go on
    ...
    //                                 every alignment ends so

Names of annotations become lower case ("ss"), letters upper case. Other lines that begin
with # are comments.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from maxmargin.alignments.files.pairs import (
    GAPS,
    MultipleAlignment,
    PairAlignment,
    check_row,
    pairs_of,
)
from maxmargin.files.messages import short
from maxmargin.files.text_files import RawText, read_text, write_text

HEADER = "# STOCKHOLM"


def read_stockholm(
    path: str | os.PathLike | RawText, encoding: str = "utf-8"
) -> list[MultipleAlignment]:
    """The alignments of a Stockholm file; gzip is fine, "-" is standard input.

    An alignment without a name gets its number in the file, counted from 1. Errors are
    ValueErrors that name the file and the line.
    """
    text, name = read_text(path, encoding)
    made: list[MultipleAlignment] = []
    current: _Alignment | None = None
    for number, line in enumerate(text.decode().split("\n"), 1):
        line = line.rstrip()
        try:
            if line.startswith(HEADER):
                if current is not None:
                    raise ValueError(
                        "a new alignment begins, but the one before did not end with //"
                    )
                current = _Alignment(number)
            elif current is not None and line == "//":
                made.append(current.finish(str(len(made) + 1)))
                current = None
            elif current is not None:
                current.take(line, number)
            elif line and (not line.startswith("#") or line.startswith("#=")):
                raise ValueError(
                    f"{short(line)} stands outside of an alignment; an alignment begins "
                    f"with the line '{HEADER} 1.0'"
                )
        except ValueError as error:
            raise ValueError(f"{name}, line {number}: {error}.") from None
    if current is not None:
        raise ValueError(
            f"{name} is cut off: the alignment that begins in line {current.began} does "
            "not end with //."
        )
    if not made:
        raise ValueError(f"{name} has no alignment: '{HEADER} 1.0' begins one.")
    return made


def read_stockholm_pairs(
    path: str | os.PathLike | RawText, encoding: str = "utf-8"
) -> list[PairAlignment]:
    """All pairs of rows of all alignments of a Stockholm file."""
    return [
        p for alignment in read_stockholm(path, encoding) for p in pairs_of(alignment)
    ]


class _Alignment:
    """The lines of one alignment, gathered."""

    def __init__(self, began: int):
        self.began = began
        self.name = ""
        self.rows: dict[str, list[str]] = {}
        self.tracks: dict[tuple[str, str], list[str]] = {}
        self.columns: dict[str, list[str]] = {}
        self.lines: dict[object, int] = {}  # where each of these was seen last
        self.block: set[object] = set()  # what the current block has already

    def take(self, line: str, number: int) -> None:
        words = line.split()
        if not words:
            self.block.clear()
        elif words[0] == "#=GF":
            if len(words) > 2 and words[1] == "ID":
                self.name = " ".join(words[2:])
        elif words[0] == "#=GR":
            _, row, track, text = _exactly(words, 4, "#=GR, a row, a name and a text")
            self._append(self.tracks, (row, track.lower()), text, number)
        elif words[0] == "#=GC":
            _, track, text = _exactly(words, 3, "#=GC, a name and a text")
            self._append(self.columns, track.lower(), text, number)
        elif not line.startswith("#"):
            row, text = _exactly(words, 2, "the name of a row and its letters")
            check_row(text, f"row {row!r}")
            self._append(self.rows, row, text.replace(".", "-").upper(), number)

    def _append(self, table: dict, key, text: str, number: int) -> None:
        what = (id(table), key)
        if what in self.block:
            raise ValueError(
                f"{_called(key)} was given in line {self.lines[what]} already; give every "
                "row its own name, and put a blank line before rows that go on"
            )
        self.block.add(what)
        self.lines[what] = number
        table.setdefault(key, []).append(text)

    def finish(self, number: str) -> MultipleAlignment:
        rows = {key: "".join(parts) for key, parts in self.rows.items()}
        if not rows:
            raise ValueError(f"the alignment of line {self.began} has no rows")
        first = next(iter(rows))
        tracks = {key: "".join(parts) for key, parts in self.tracks.items()}
        columns = {key: "".join(parts) for key, parts in self.columns.items()}
        for table, texts in (
            (self.rows, rows),
            (self.tracks, tracks),
            (self.columns, columns),
        ):
            for key, text in texts.items():
                if len(text) != len(rows[first]):
                    raise ValueError(
                        f"{_called(key)} (last seen in line {self.lines[id(table), key]}) "
                        f"has {len(text)} columns, but row {first!r} has "
                        f"{len(rows[first])}: all lines of an alignment must be equally "
                        "long"
                    )
        for key, row in rows.items():
            if not row.strip(GAPS):
                raise ValueError(f"row {key!r} has no letters, only gaps")
        for row, track in tracks:
            if row not in rows:
                raise ValueError(
                    f"annotation {track!r} is of row {row!r}, which is not there"
                )
        check_mask(columns.get("core"), "the columns 'core'")
        of_row: dict[str, dict[str, str]] = {key: {} for key in rows}
        for (row, track), text in tracks.items():
            of_row[row][track] = text
        letters, own = list(rows.values()), list(of_row.values())
        return MultipleAlignment(self.name or number, list(rows), letters, own, columns)


def check_mask(mask: str | None, what: str) -> None:
    """A mask of columns has 1 and 0; gaps count as 0."""
    for k, x in enumerate(mask or ""):
        if x not in "01-.":
            raise ValueError(
                f"{what} have {x!r} at position {k + 1}, but only 0 and 1 are possible"
            )


def _exactly(words: list[str], n: int, what: str) -> list[str]:
    if len(words) != n:
        raise ValueError(
            f"{short(' '.join(words))} has {len(words)} words, but it must have {n}: {what}"
        )
    return words


def _called(key) -> str:
    return f"row {key!r}" if isinstance(key, str) else f"{key[1]!r} of row {key[0]!r}"


def write_stockholm(
    path: str | os.PathLike,
    alignments: Iterable[MultipleAlignment],
    encoding: str = "utf-8",
) -> None:
    """Write alignments, each row on one line; a path that ends in .gz is compressed."""
    lines = []
    for alignment in alignments:
        lines += [f"{HEADER} 1.0", f"#=GF ID {alignment.name or '1'}"]
        body = []
        for name, row, tracks in zip(
            alignment.names, alignment.rows, alignment.tracks, strict=True
        ):
            if not name or len(name.split()) != 1 or name.startswith(("#", "//")):
                raise ValueError(
                    f"{name!r} cannot be the name of a row: it must be one word that does "
                    "not begin with # or //."
                )
            body.append((name, row))
            body += [(f"#=GR {name} {t.upper()}", text) for t, text in tracks.items()]
        body += [(f"#=GC {t}", text) for t, text in alignment.columns.items()]
        width = max(len(head) for head, _ in body)
        lines += [f"{head:<{width}} {text}" for head, text in body]
        lines.append("//")
    if not lines:
        raise ValueError(f"there is no alignment to write to {os.fsdecode(path)}.")
    write_text(path, "\n".join([*lines, ""]), encoding)
