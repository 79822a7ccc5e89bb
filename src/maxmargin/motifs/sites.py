"""Sites: the best of every sequence, letters at given ones, and files of them.

Both formats have a line per site: BED counts letters from 0 and its end is the first
letter behind the site, GFF3 counts from 1 and its end is the last letter of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from maxmargin.core.completion import complete_all
from maxmargin.files.text_files import write_raw
from maxmargin.motifs.composition import UNKNOWN


class Site(NamedTuple):
    """Where a sequence has its motif: letters start .. end - 1, counted from 0."""

    start: int
    end: int
    strand: str  # "+" or "-"
    score: float  # above 0: the sequence is positive


def best_sites(batch, w, n_jobs: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(scores, places) of the best sites; the place is the value of the slot minus 1."""
    n = len(batch.start) - 1
    if n == 0:
        return np.zeros(0), np.zeros(0, np.int64)
    positive = batch._replace(
        label=np.ones(n, np.uint8)
    )  # whose completion is the site
    places = complete_all(positive, w, n_jobs).astype(np.int64) - 1
    letters, runs = site_letters(batch, np.arange(n), places)
    w = np.append(w, 0.0)  # index -1: the weight of what is not known
    columns = 4 * np.arange(batch.width) + letters
    motif = w[np.where(letters < UNKNOWN, columns, -1)].sum(axis=1)
    whole = np.zeros(n)
    np.add.at(
        whole,
        np.repeat(np.arange(n), np.diff(batch.words)),
        batch.share * w[batch.word],
    )
    return motif - w[np.maximum(runs, -1)].sum(axis=1) + whole, places


def site_letters(batch, samples, places):
    """(letters as the motif reads them, runs of the background) of sites, a row each."""
    counts = np.diff(batch.first)[samples] - batch.width + 1
    left = batch.first[samples] + places % counts
    span = left[:, None] + np.arange(batch.width)
    letters = batch.codes[span].astype(np.int64)
    back = places >= counts
    turned = letters[back][:, ::-1]
    letters[back] = np.where(turned < UNKNOWN, 3 - turned, UNKNOWN)
    return letters, batch.back[span]


def count_letters(batch, labels) -> np.ndarray:
    """How often each letter is at each position of the sites that these labels name."""
    samples = np.flatnonzero(labels)
    letters, _ = site_letters(batch, samples, labels[samples].astype(np.int64) - 1)
    return np.stack([(letters == k).sum(axis=0) for k in range(4)], axis=1)


def write_bed(
    path: str | os.PathLike, names: Iterable[str], sites: Any, motif: str = "motif"
) -> None:
    """Sites as BED6: name of the sequence, start, end, name of the motif, score, strand.

    The score of BED is a whole number from 0 to 1000: a hundred times that of the site,
    cut off at both ends. There is no seventh column, where BED has ``thickStart``; GFF3
    has the score as it is.
    """
    _write(path, bed_lines(names, sites, motif))


def bed_lines(names, sites, motif: str = "motif") -> list[str]:
    return [
        f"{_plain(name)}\t{s.start}\t{s.end}\t{_plain(motif)}\t{_grade(s.score)}\t"
        f"{s.strand}"
        for name, s in zip(names, sites, strict=True)
    ]


def write_gff(
    path: str | os.PathLike, names: Iterable[str], sites: Any, motif: str = "motif"
) -> None:
    """Sites as GFF3, version 3: type sequence_motif, with the score of training."""
    _write(path, gff_lines(names, sites, motif))


def gff_lines(names, sites, motif: str = "motif") -> list[str]:
    seen = quote(motif, safe="!$*+-./:@^_|()?~ ")
    return ["##gff-version 3"] + [
        f"{quote(name, safe='!$*+-.:@^_|?')}\tmaxmargin\tsequence_motif\t{s.start + 1}\t"
        f"{s.end}\t{s.score:.6g}\t{s.strand}\t.\tName={seen}"
        for name, s in zip(names, sites, strict=True)
    ]


def _grade(score: float) -> int:
    return int(min(max(round(100 * score), 0), 1000))


def _plain(name: str) -> str:
    """Without tabs and ends of lines, which would make other columns."""
    return "_".join(name.split()) or "."


def _write(path, lines: list[str]) -> None:
    write_raw(path, "".join(f"{line}\n" for line in lines).encode())
