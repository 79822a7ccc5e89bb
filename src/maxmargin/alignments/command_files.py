"""Files of the task ``align``: aligned pairs to learn from, sequences to align."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.files import PairAlignment, RawText

FORMATS = ("auto", "table", "fasta", "stockholm")
LETTERS = "residue"  # the track of the letters themselves


def read_aligned(path, format: str, rows: str, encoding: str) -> list[PairAlignment]:
    """Pairs with their alignments; ``rows`` says how those of a FASTA file belong."""
    from maxmargin.files import (
        pairs_of,
        read_fasta_alignment,
        read_fasta_pairs,
        read_pair_table,
        read_raw,
        read_stockholm_pairs,
    )

    raw = read_raw(path)
    kind = _kind(raw, format, encoding)
    if kind == "table":
        pairs = read_pair_table(raw, encoding)
    elif kind == "stockholm":
        pairs = read_stockholm_pairs(raw, encoding)
    elif rows == "all":
        pairs = pairs_of(read_fasta_alignment(raw, encoding))
    else:
        pairs = read_fasta_pairs(raw, encoding)
    if not pairs:
        raise ValueError(f"{raw.path} has no alignment with two rows or more.")
    if not any(pair.pairs for pair in pairs):
        raise ValueError(
            f"{raw.path} has no matched pairs: learning and evaluation need rows with "
            "gaps (of a table: aln_a and aln_b) in which some letters are aligned."
        )
    return pairs


def read_sequences(path, format: str, encoding: str) -> list[PairAlignment]:
    """Pairs of sequences to align; gaps that they have are left out."""
    from maxmargin.alignments.files.fasta import by_two
    from maxmargin.alignments.files.stockholm import read_stockholm_pairs
    from maxmargin.files import PairAlignment, read_fasta, read_pair_table, read_raw

    raw = read_raw(path)
    kind = _kind(raw, format, encoding)
    if kind == "stockholm":
        pairs = read_stockholm_pairs(raw, encoding)
        if not pairs:
            raise ValueError(f"{raw.path} has no alignment with two rows or more.")
        return pairs
    if kind == "table":
        plain = _two_columns(raw, encoding)
        return read_pair_table(raw, encoding) if plain is None else plain
    return [
        PairAlignment(
            first.name, second.name, _letters(first), _letters(second), pairs=[]
        )
        for first, second in by_two(read_fasta(raw, True, encoding), raw.path)
    ]


def _kind(raw: RawText, format: str, encoding: str) -> str:
    from maxmargin.files.text_files import read_text

    text, name = read_text(raw, encoding)  # without a byte order mark
    start = text.lstrip()[:16].upper()
    if not start:
        raise ValueError(f"{name} is empty: there are no sequences in it.")
    if format != "auto":
        return format
    if start.startswith(b">"):
        return "fasta"
    return "stockholm" if start.startswith(b"# STOCKHOLM") else "table"


def _letters(record) -> str:
    return record.sequence.replace("-", "").replace(".", "")


def _two_columns(raw: RawText, encoding: str) -> list[PairAlignment] | None:
    """A table without names of columns: two sequences on every line, between tabs."""
    from maxmargin.alignments.files.pairs import check_letters
    from maxmargin.files import PairAlignment
    from maxmargin.files.text_files import read_text

    lines = read_text(raw, encoding)[0].decode().split("\n")
    first = next(line for line in lines if line.strip())
    if len(first.split("\t")) != 2 or "_" in first or first.startswith("#"):
        return None
    made = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        try:
            if len(cells) != 2 or not all(cells):
                raise ValueError("two sequences with a tab between them are needed.")
            for which, cell in zip(("first", "second"), cells, strict=True):
                check_letters(cell, f"the {which} sequence")
        except ValueError as error:
            raise ValueError(f"{raw.path}, line {number}: {error}") from None
        a, b = (cell.upper() for cell in cells)
        made.append(PairAlignment(f"{number}a", f"{number}b", a, b, pairs=[]))
    return made


# what the estimator is given ---------------------------------------------------------


def tracks_in(pairs: list[PairAlignment]) -> set[str]:
    """Annotations that some pair has on both sides."""
    return {name for p in pairs for name in p.tracks_a if name in p.tracks_b}


def inputs(pairs: list[PairAlignment], tracks: list[str]) -> list[tuple[Any, Any]]:
    """X of SequenceAligner; an annotation that a sequence lacks is unknown everywhere."""

    from maxmargin.alignments.files.pairs import UNKNOWN

    def sequence(letters: str, known: dict[str, str]):
        if tracks == [LETTERS]:
            return letters
        of_track = {LETTERS: letters, **known}
        return {t: of_track.get(t, UNKNOWN * len(letters)) for t in tracks}

    return [(sequence(p.a, p.tracks_a), sequence(p.b, p.tracks_b)) for p in pairs]
