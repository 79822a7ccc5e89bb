"""Files of the task ``align``: aligned pairs to learn from, sequences to align."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin import files
from maxmargin.alignments.files.fasta import by_two
from maxmargin.alignments.files.pairs import UNKNOWN, without_gaps
from maxmargin.alignments.files.stockholm import read_stockholm_pairs
from maxmargin.files.text_files import read_text

if TYPE_CHECKING:
    from maxmargin.files import PairAlignment, RawText

LETTERS = "residue"  # the track of the letters themselves


def read_aligned(path, format: str, rows: str, encoding: str):
    """(pairs with their alignments, name); ``rows`` says how those of FASTA belong."""
    raw = files.read_raw(path)
    kind = _kind(raw, format, encoding)
    if kind == "table":
        pairs = files.read_pair_table(raw, encoding)
    elif kind == "stockholm":
        pairs = files.read_stockholm_pairs(raw, encoding)
    elif rows == "all":
        pairs = files.pairs_of(files.read_fasta_alignment(raw, encoding))
    else:
        pairs = files.read_fasta_pairs(raw, encoding)
    if not pairs:
        raise ValueError(f"{raw.path} has no alignment with two rows or more.")
    if not any(pair.pairs for pair in pairs):
        raise ValueError(
            f"{raw.path} has no matched pairs: learning and evaluation need rows with "
            "gaps (of a table: aln_a and aln_b) in which some letters are aligned."
        )
    return pairs, raw.path


def read_sequences(path, format: str, encoding: str):
    """(pairs of sequences to align, name); gaps that they have are left out."""
    raw = files.read_raw(path)
    kind = _kind(raw, format, encoding)
    if kind == "stockholm":
        pairs = read_stockholm_pairs(raw, encoding)
        if not pairs:
            raise ValueError(f"{raw.path} has no alignment with two rows or more.")
    elif kind == "table":
        pairs = _two_columns(raw, encoding) or files.read_pair_table(raw, encoding)
    else:
        pairs = [
            files.PairAlignment(
                a.name, b.name, without_gaps(a.sequence), without_gaps(b.sequence), []
            )
            for a, b in by_two(files.read_fasta(raw, True, encoding), raw.path)
        ]
    return pairs, raw.path


def _kind(raw: RawText, format: str, encoding: str) -> str:
    text, name = read_text(raw, encoding)  # without a byte order mark
    start = text.lstrip()[:16].upper()
    if not start:
        raise ValueError(f"{name} is empty: there are no sequences in it.")
    if format != "auto":
        return format
    if start.startswith(b">"):
        return "fasta"
    return "stockholm" if start.startswith(b"# STOCKHOLM") else "table"


def _two_columns(raw: RawText, encoding: str) -> list[files.PairAlignment] | None:
    """A table without names of columns: two sequences on every line, between tabs."""
    from maxmargin.alignments.files.pairs import check_letters

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
        made.append(files.PairAlignment(f"{number}a", f"{number}b", a, b, pairs=[]))
    return made


# what the estimator is given ---------------------------------------------------------


def check_tracks(tracks: list[str], pairs: list[PairAlignment]) -> None:
    """Tracks must be annotations that some pair has on both sides."""
    named = ",".join(tracks)
    there = {name for p in pairs for name in p.tracks_a if name in p.tracks_b}
    there |= {LETTERS}
    for track in tracks:
        if track not in there:
            raise ValueError(
                f"--tracks {named}: no pair has {track!r} on both sides; the file has "
                f"{', '.join(sorted(there))}."
            )
    if len({*tracks}) < len(tracks) or LETTERS not in tracks:
        raise ValueError(
            f"--tracks {named} is not possible: name {LETTERS}, and others once."
        )


def alphabet_of(pairs, tracks, unknown: str | None) -> dict[str, list[str]]:
    """All symbols of the training file, and those for what is not known."""
    found: dict[str, set[str]] = {track: set() for track in tracks}
    for p in pairs:
        for letters, known in ((p.a, p.tracks_a), (p.b, p.tracks_b)):
            for track in tracks:
                found[track] |= {
                    *(letters if track == LETTERS else known.get(track, ""))
                }
    for track in tracks:
        if track != LETTERS:
            found[track].add(UNKNOWN)
    if unknown is not None:
        if len(unknown) != 1 or not (unknown.isascii() and unknown.isalpha()):
            raise ValueError(f"--unknown {unknown} is not one letter from A to Z.")
        found[LETTERS].add(unknown.upper())
    return {track: sorted(symbols) for track, symbols in found.items()}


def check_letters(pairs, alphabet: list[str], path: str) -> None:
    """Letters of another file that training does not know; better said before it."""
    for p in pairs:
        for letter in p.a + p.b:
            if letter not in alphabet:
                raise ValueError(
                    f"{path}: {p.name_a} and {p.name_b} have the letter {letter!r}, which "
                    "the training file does not have: read such letters as another with "
                    "--unknown X."
                )


def inputs(pairs: list[PairAlignment], tracks: list[str]) -> list[tuple[Any, Any]]:
    """X of SequenceAligner; an annotation that a sequence lacks is unknown everywhere."""

    def sequence(letters: str, known: dict[str, str]):
        if tracks == [LETTERS]:
            return letters
        of_track = {LETTERS: letters, **known}
        return {t: of_track.get(t, UNKNOWN * len(letters)) for t in tracks}

    return [(sequence(p.a, p.tracks_a), sequence(p.b, p.tracks_b)) for p in pairs]
