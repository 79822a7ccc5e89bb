"""``maxmargin train align``: from aligned pairs to a model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from maxmargin.alignments.command_files import LETTERS, inputs, read_aligned, tracks_in
from maxmargin.cli.common import (
    Interrupts,
    Stopwatch,
    certificate_sentence,
    keep,
    patience,
    plain_warnings,
)
from maxmargin.cli.train_options import check_outputs

if TYPE_CHECKING:
    from maxmargin import SequenceAligner
    from maxmargin.files import PairAlignment

OPTIONS = (
    "model",
    "gaps",
    "scope",
    "free_ends",
    "loss",
    "symmetric",
    "rescaling",
    "C",
    "tol",
    "max_time",
    "n_jobs",
)


def train(args) -> int:
    """From a file to a model file."""
    watch = Stopwatch()
    check_outputs(args)

    from maxmargin import SequenceAligner

    watch("importing")
    pairs = _read(args, args.train)
    tracks = _tracks(args, pairs)
    dev = _read(args, args.dev) if args.dev else None
    alphabet = _alphabet(pairs, tracks, args.unknown)
    if dev is not None and args.unknown is None:
        _check_letters(dev, alphabet[LETTERS], args.dev)
    watch("reading")

    given = {n: getattr(args, n) for n in OPTIONS if getattr(args, n) is not None}
    aligner = SequenceAligner(
        alphabet=alphabet,
        unknown=_unknown(tracks, args.unknown),
        random_state=args.seed,
        verbose=int(not args.quiet),
        **given,
    )
    interrupts = Interrupts()
    with plain_warnings(), patience(args.quiet) as timer, interrupts:
        aligner.set_params(callbacks=[interrupts.callback, lambda _: timer.cancel()])
        aligner.fit(inputs(pairs, tracks), pairs)
    watch("encoding")
    watch.move("encoding", "training", aligner.history_[-1]["seconds"])
    aligner.set_params(verbose=0, callbacks=None)
    aligner.notes = _notes(args, pairs, tracks)
    keep(aligner, args, watch)
    if not args.quiet:
        print(_summary(aligner, watch, args.output))
        if dev is not None:
            from maxmargin.alignments.command_use import report_of

            print(f"On {args.dev}:\n{report_of(aligner, dev, args.dev)[0]}")
    return interrupts.exit_code(args.output)


def _read(args, path: str) -> list[PairAlignment]:
    from dataclasses import replace

    pairs = read_aligned(path, args.format, args.rows, args.encoding)
    return [replace(p, core=None) for p in pairs] if args.all_columns else pairs


def _tracks(args, pairs) -> list[str]:
    tracks = [t.strip() for t in args.tracks.split(",")]
    there = {LETTERS} | tracks_in(pairs)
    for track in tracks:
        if track not in there:
            raise ValueError(
                f"--tracks {args.tracks}: no pair has {track!r} on both sides; the file "
                f"has {', '.join(sorted(there))}."
            )
    if len({*tracks}) < len(tracks) or LETTERS not in tracks:
        raise ValueError(
            f"--tracks {args.tracks} is not possible: name {LETTERS}, and others once."
        )
    return tracks


def _alphabet(pairs, tracks, unknown: str | None) -> dict[str, list[str]]:
    """All symbols of the training file, and those for what is not known."""
    from maxmargin.alignments.files.pairs import UNKNOWN

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


def _check_letters(dev, alphabet: list[str], path: str) -> None:
    """Better now than after the training."""
    for p in dev:
        for letter in p.a + p.b:
            if letter not in alphabet:
                raise ValueError(
                    f"{path}: {p.name_a} and {p.name_b} have the letter {letter!r}, which "
                    "the training file does not have: read such letters as another with "
                    "--unknown X."
                )


def _unknown(tracks, unknown: str | None) -> dict[str, str] | None:
    from maxmargin.alignments.files.pairs import UNKNOWN

    named = {track: UNKNOWN for track in tracks if track != LETTERS}
    if unknown is not None:
        named[LETTERS] = unknown.upper()
    return named or None


def _notes(args, pairs, tracks) -> dict[str, Any]:
    """What the other commands have to know."""
    return {
        "task": "align",
        "format": args.format,
        "rows": args.rows,
        "tracks": tracks,
        "all_columns": args.all_columns,
        "encoding": args.encoding,
        "file": os.path.basename(args.train),
        "pairs": len(pairs),
        "families": len({p.family for p in pairs if p.family}),
        "masked": sum(p.core is not None for p in pairs),
    }


def _summary(aligner: SequenceAligner, watch: Stopwatch, path: str) -> str:
    notes = aligner.notes
    size = os.path.getsize(path) / 1e6
    of = f" of {notes['families']:,} families" if notes["families"] else ""
    return "\n".join(
        [
            f"Trained on {notes['file']}: {notes['pairs']:,} pairs{of}, "
            f"{len(aligner.coef_):,} features; C={aligner.C:g}.",
            certificate_sentence(aligner),
            str(watch),
            f"Saved to {path} ({size:.1f} MB).",
        ]
    )
