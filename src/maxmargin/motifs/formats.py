"""Motifs as texts: MEME and JASPAR, and as a consensus.

MEME      minimal motif format, version 4: probabilities, a row per position
JASPAR    counts of letters at sites, a row per letter:  A [ 3 0 12 ]

A model has one motif for all of them, the one its logo shows: the letters at the best sites
of the positive training sequences. Counts are as they were counted and probabilities their
shares, both without pseudocounts: programs that search with a motif add their own. No
E-value is computed here, so none is written; ``E=`` is optional in the minimal format.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

import numpy as np

from maxmargin.files.messages import short
from maxmargin.files.text_files import RawText, read_text, write_text
from maxmargin.motifs.input import LETTERS

ENCODING = "utf-8"
ROUNDED = 0.01  # by which probabilities in a file may miss a sum of 1
# Letters for several bases (IUPAC), by the bases they stand for.
_SEVERAL = {
    "AC": "M", "AG": "R", "AT": "W", "CG": "S", "CT": "Y", "GT": "K",
    "ACG": "V", "ACT": "H", "AGT": "D", "CGT": "B", "ACGT": "N",
}  # fmt: skip


class Motif(NamedTuple):
    """A motif as stored in files."""

    name: str
    matrix: np.ndarray  # (width, 4): probabilities (MEME) or counts (JASPAR)
    background: np.ndarray  # (4,), shares of letters outside
    n_sites: int  # 0 if it is not known
    both_strands: bool = False  # whether sites were searched on both

    def probabilities(self) -> np.ndarray:
        """The rows divided by their sums; where no letter was seen, all are equal."""
        rows = np.asarray(self.matrix, float)
        total = rows.sum(axis=1, keepdims=True)
        return np.where(total > 0, rows / np.where(total > 0, total, 1.0), 0.25)

    def counts(self) -> np.ndarray:
        """Counts of letters; of probabilities, shares of ``n_sites``, rounded."""
        rows = np.asarray(self.matrix, float)
        if np.abs(rows.sum(axis=1) - 1.0).max(initial=0.0) > ROUNDED:
            return rows
        if self.n_sites < 1:
            raise ValueError(
                f"the motif {short(self.name)} has probabilities, but not the number of "
                "its sites, so that there are no counts: set n_sites."
            )
        return np.rint(self.probabilities() * self.n_sites)


def consensus(counts) -> str:
    """The motif in letters, after Cavener (1987).

    A base alone where it has more than half and twice the next one; a letter for two where
    these have more than three quarters; for three where the fourth is never seen; else N.
    """
    letters = []
    for row in np.asarray(counts, float):
        total = row.sum()
        order = np.argsort(-row, kind="stable")
        top, second = row[order[0]], row[order[1]]
        if total == 0:
            size = 4
        elif top > total / 2 and top > 2 * second:
            size = 1
        elif top + second > 0.75 * total:
            size = 2
        else:
            size = 3 if row[order[3]] == 0 else 4
        bases = "".join(LETTERS[k] for k in sorted(order[:size]))
        letters.append(_SEVERAL.get(bases, bases))
    return "".join(letters)


def motif_of(model, name: str = "motif") -> Motif:
    """The motif of a fitted MotifFinder: the letters at its training sites."""
    if isinstance(model, Motif):
        return model
    shown = model.counts_, model.frequencies_, model.n_sites_
    return Motif(name, *shown, model.both_strands_)


def write_meme(path: str | os.PathLike, model: Any, name: str = "motif") -> None:
    """Write the motif of a model, or a :class:`Motif`, as probabilities."""
    write_text(path, meme_text(motif_of(model, name)), ENCODING)


def meme_text(motif: Motif) -> str:
    rows = "\n".join(
        " " + "  ".join(f"{p:.9f}" for p in row) for row in motif.probabilities()
    )
    share = " ".join(
        f"{a} {p:.6f}" for a, p in zip(LETTERS, motif.background, strict=True)
    )
    sites = f" nsites= {motif.n_sites}" if motif.n_sites else ""
    return (
        "MEME version 4\n\n"
        f"ALPHABET= {LETTERS}\n\n"
        f"strands: {'+ -' if motif.both_strands else '+'}\n\n"
        f"Background letter frequencies\n{share}\n\n"
        f"MOTIF {_word(motif.name)}\n"
        f"letter-probability matrix: alength= 4 w= {len(motif.matrix)}{sites}\n{rows}\n"
    )


def write_jaspar(path: str | os.PathLike, model: Any, name: str = "motif") -> None:
    """Write the motif of a model, or a :class:`Motif`, as counts."""
    write_text(path, jaspar_text(motif_of(model, name)), ENCODING)


def jaspar_text(motif: Motif) -> str:
    columns = [[f"{n:.15g}" for n in column] for column in motif.counts().T]
    size = max((len(n) for column in columns for n in column), default=0)
    rows = [
        f"{letter} [ {' '.join(n.rjust(size) for n in column)} ]"
        for letter, column in zip(LETTERS, columns, strict=True)
    ]
    return "\n".join([f">{_word(motif.name)}", *rows, ""])


def read_jaspar(path: str | os.PathLike | RawText) -> list[Motif]:
    """The motifs of a JASPAR file."""
    text, name = read_text(path, ENCODING)
    motifs: list[Motif] = []
    head: Any = None
    rows, began = {}, 0

    def finish() -> None:
        sizes = {len(row) for row in rows.values()}
        if set(rows) != set(LETTERS) or len(sizes) != 1 or sizes == {0}:
            raise ValueError(
                f"{name}, line {began}: the motif {short(head)} needs four rows A, C, G, T "
                "of equally many counts."
            )
        counts = np.array([rows[letter] for letter in LETTERS]).T
        n_sites = round(float(counts.sum(axis=1).max()))
        motifs.append(Motif(head, counts, np.full(4, 0.25), n_sites))

    for number, line in enumerate(text.decode().split("\n"), 1):
        line = line.strip()
        if line.startswith(">"):
            if head is not None:
                finish()
            head, rows, began = " ".join(line[1:].split()), {}, number
        elif line:
            letter, cells = (
                line[0].upper(),
                line[1:].replace("[", " ").replace("]", " "),
            )
            if head is None or letter not in LETTERS or letter in rows:
                raise ValueError(
                    f"{name}, line {number}: {short(line)} is not a row of counts such as "
                    "'A [ 3 0 12 ]' after a line '>name'."
                )
            rows[letter] = _numbers(cells.split(), name, number)
    if head is None:
        raise ValueError(f"{name} is empty: a JASPAR file has motifs '>name'.")
    finish()
    return motifs


def read_meme(path: str | os.PathLike | RawText) -> list[Motif]:
    """The motifs of a MEME file, minimal or of the program meme, of DNA."""
    text, name = read_text(path, ENCODING)
    lines = text.decode().split("\n")
    background, motifs, head, both = np.full(4, 0.25), [], "", False
    at = 0
    while at < len(lines):
        line, at = lines[at].strip(), at + 1
        if line.startswith("Background letter frequencies") and at < len(lines):
            cells = lines[at].split()
            if cells[::2] == list(LETTERS):
                background = np.array(_numbers(cells[1::2], name, at + 1))
        elif line.startswith("strands:"):
            both = "-" in line.split()
        elif line.startswith("MOTIF"):
            head = " ".join(line.split()[1:])
        elif line.startswith("letter-probability matrix"):
            found = dict(re.findall(r"(\w+)= *(\d+)", line))
            width, rows = int(found.get("w", 0)), []
            while at < len(lines) and lines[at].strip()[:1].isdigit():
                rows.append(_numbers(lines[at].split(), name, at + 1))
                at += 1
            if (
                not rows
                or {len(row) for row in rows} != {4}
                or width not in (0, len(rows))
            ):
                raise ValueError(
                    f"{name}, line {at}: the motif {short(head)} needs "
                    f"{width or 'some'} rows of 4 probabilities."
                )
            n_sites = int(found.get("nsites", 0))
            motifs.append(Motif(head, np.array(rows), background, n_sites, both))
    if not motifs:
        raise ValueError(
            f"{name} has no letter-probability matrix: it is no MEME motif."
        )
    return motifs


def _numbers(cells: list[str], name: str, line: int) -> list[float]:
    try:
        values = [float(cell) for cell in cells]
        if all(0 <= v < 1e15 for v in values):
            return values
    except ValueError:
        pass
    raise ValueError(
        f"{name}, line {line}: {short(' '.join(cells))} are not numbers >= 0."
    )


def _word(name: str) -> str:
    return " ".join(name.split()) or "motif"
