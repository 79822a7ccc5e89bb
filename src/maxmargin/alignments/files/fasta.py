"""FASTA files: sequences, or rows of alignments with gaps.

    >1aab_ first of two          a name, then a comment
    KKPRGKMSSYAFFVQTSR-EHKKKHPD   letters on any number of lines; - and . are gaps
    ASVNFSEF

Letters become upper case: what lower case means (masked, inserted, ...) differs from file
to file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from maxmargin.alignments.files.pairs import (
    GAPS,
    MultipleAlignment,
    PairAlignment,
    check_letters,
    check_row,
    multiple_alignment,
    pair_from_rows,
)
from maxmargin.files.messages import short
from maxmargin.files.text_files import RawText, read_raw, read_text, write_text

WIDTH = 60  # letters on a line, when writing


class FastaRecord(NamedTuple):
    """A sequence, or a row with gaps, and the line of the file where it starts."""

    name: str
    comment: str
    sequence: str
    line: int


def read_fasta(
    path: str | os.PathLike | RawText, gaps: bool = False, encoding: str = "utf-8"
) -> list[FastaRecord]:
    """The records of a FASTA file, in order; with ``gaps``, letters and gaps.

    gzip is fine; "-" is standard input. Errors are ValueErrors that name the file and the
    line. Names may repeat; the caller decides what that means.
    """
    text, name = read_text(path, encoding)
    records: list[FastaRecord] = []
    parts: list[str] = []
    head: Any = None
    began = 0
    check = check_row if gaps else check_letters

    def finish() -> None:
        sequence = "".join(parts)
        if not sequence.strip(GAPS):
            raise ValueError(
                f"{name}, line {began}: the record {short(head)} has no letters."
            )
        first, _, comment = head.partition(" ")
        records.append(FastaRecord(first, comment.strip(), sequence.upper(), began))

    for number, line in enumerate(text.decode().split("\n"), 1):
        line = line.strip()
        if line.startswith(">"):
            if head is not None:
                finish()
            head, began, parts = line[1:].replace("\t", " ").strip(), number, []
            if not head:
                raise ValueError(f"{name}, line {number}: there is no name after '>'.")
        elif line and not line.startswith(";"):  # ; was once a comment
            if head is None:
                raise ValueError(
                    f"{name}, line {number}: {short(line)} stands before the first "
                    "record; a FASTA record begins with a line '>name'."
                )
            parts.append("".join(line.split()))
            try:
                check(parts[-1], "the line")
            except ValueError as error:
                raise ValueError(f"{name}, line {number}: {error}") from None
    if head is None:
        raise ValueError(f"{name} is empty: a FASTA file has records '>name'.")
    finish()
    return records


def read_fasta_alignment(
    path: str | os.PathLike | RawText, encoding: str = "utf-8"
) -> MultipleAlignment:
    """A FASTA file as one alignment of all its records."""
    raw = read_raw(path)
    records = read_fasta(raw, True, encoding)
    seen: dict[str, int] = {}
    for record in records:
        where = f"{raw.path}, line {record.line}"
        if record.name in seen:
            raise ValueError(
                f"{where}: the name {record.name!r} was used in line "
                f"{seen[record.name]}: give every row its own."
            )
        seen[record.name] = record.line
        if len(record.sequence) != len(records[0].sequence):
            raise ValueError(
                f"{where}: row {record.name!r} has {len(record.sequence)} columns, but "
                f"row {records[0].name!r} has {len(records[0].sequence)}: all rows of an "
                "alignment must be equally long."
            )
    return multiple_alignment([r.name for r in records], [r.sequence for r in records])


def read_fasta_pairs(
    path: str | os.PathLike | RawText, encoding: str = "utf-8"
) -> list[PairAlignment]:
    """A FASTA file of aligned pairs: records 1 and 2, records 3 and 4, and so on."""
    raw = read_raw(path)
    made = []
    for first, second in by_two(read_fasta(raw, True, encoding), raw.path):
        a, b = first.sequence, second.sequence
        if len(a) != len(b):
            raise ValueError(
                f"{raw.path}, line {second.line}: row {second.name!r} has "
                f"{len(b)} columns, but row {first.name!r} before it has {len(a)}: the "
                "two rows of an aligned pair must be equally long."
            )
        made.append(pair_from_rows(a, b, {}, {}, name_a=first.name, name_b=second.name))
    return made


def by_two(
    records: list[FastaRecord], name: str
) -> list[tuple[FastaRecord, FastaRecord]]:
    """Records as consecutive pairs; an odd one at the end is refused."""
    if len(records) % 2:
        raise ValueError(
            f"{name}, line {records[-1].line}: {records[-1].name!r} is the last of an "
            f"odd number of records ({len(records)}), but pairs are asked for."
        )
    return list(zip(records[::2], records[1::2], strict=True))


def write_fasta(
    path: str | os.PathLike,
    records: Iterable[tuple[str, str]],
    encoding: str = "utf-8",
    width: int = WIDTH,
) -> None:
    """Write (name, sequence) records; a path that ends in .gz is compressed.

    A name may be followed by a space and a comment.
    """
    lines = []
    for head, sequence in records:
        if not head.strip() or "\n" in head or "\r" in head:
            raise ValueError(
                f"{head!r} cannot be the name of a record: it must be one line of text."
            )
        check_row(sequence, f"the sequence {short(head)}")
        if not sequence:
            raise ValueError(f"the sequence {short(head)} is empty.")
        lines.append(f">{head}")
        lines += [sequence[k : k + width] for k in range(0, len(sequence), width)]
    if not lines:
        raise ValueError(f"there is no sequence to write to {os.fsdecode(path)}.")
    write_text(path, "\n".join([*lines, ""]), encoding)
