"""How the task ``align`` runs: its files, measures and weights."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from maxmargin import files, plots
from maxmargin.alignments.command import AlignTask
from maxmargin.alignments.command_files import (
    LETTERS,
    alphabet_of,
    check_letters,
    check_tracks,
    inputs,
    read_aligned,
    read_sequences,
)
from maxmargin.alignments.features.prior import with_usual_letters
from maxmargin.alignments.files.clustal import clustal_lines
from maxmargin.alignments.files.pairs import UNKNOWN
from maxmargin.alignments.names import named_weights
from maxmargin.alignments.scorers import alignment_q
from maxmargin.cli.command import Command, Sample, both_ends


@dataclass
class Align(AlignTask, Command):
    """Aligned pairs to learn from, sequences to align; ``more`` of a sample is these."""

    format: str = "auto"
    rows_of: str = "pairs"
    tracks: list[str] = field(default_factory=lambda: [LETTERS])
    all_columns: bool = False

    scorers = (alignment_q,)

    # training --------------------------------------------------------------------------

    @classmethod
    def from_args(cls, args) -> Align:
        run = super().from_args(args)
        run.rows_of = args.rows
        run.tracks = [track.strip() for track in args.tracks.split(",")]
        return run

    @classmethod
    def of(cls, model) -> Align:
        run = super().of(model)
        run.rows_of = model.notes["rows"]
        return run

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        pairs, notes = sample.more, super().notes(model, sample)
        return {
            "rows": notes.pop("rows_of"),
            **notes,
            "pairs": len(pairs),
            "families": len({pair.family for pair in pairs if pair.family}),
            "masked": sum(pair.core is not None for pair in pairs),
        }

    def learn(self, path: str, args) -> Sample:
        sample = self.read(path, True)
        check_tracks(self.tracks, sample.more)
        return replace(sample, X=inputs(sample.more, self.tracks))

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        alphabet = alphabet_of(sample.more, self.tracks, args.unknown)
        if given.get("prior", True) and LETTERS in alphabet:
            alphabet[LETTERS] = with_usual_letters(alphabet[LETTERS])
        unknown = {track: UNKNOWN for track in self.tracks if track != LETTERS}
        if args.unknown is not None:
            unknown[LETTERS] = args.unknown.upper()
        elif dev is not None:
            check_letters(dev.more, alphabet[LETTERS], dev.path)
        return {**given, "alphabet": alphabet, "unknown": unknown or None}

    def summary(self, model) -> str:
        notes = model.notes
        return (
            f"{notes['pairs']:,} pairs{_families(notes)}, {len(model.coef_):,} features; "
            f"C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        if not truth:
            pairs, name = read_sequences(path, self.format, self.encoding)
            return Sample(inputs(pairs, self.tracks), None, name, more=pairs)
        pairs, name = read_aligned(path, self.format, self.rows_of, self.encoding)
        if self.all_columns:
            pairs = [replace(pair, core=None) for pair in pairs]
        families = [pair.family for pair in pairs]
        return Sample(
            inputs(pairs, self.tracks),
            pairs,
            name,
            groups=families if all(families) else None,
            more=pairs,
        )

    def inputs(self, sample: Sample) -> list:
        return sample.more

    def record(self, x, output, chance=None) -> dict[str, Any]:
        """Names, rows with gaps, and probabilities of the matched letters."""
        a, b = files.gapped(x.a, x.b, output)
        rows = {"name_a": x.name_a, "name_b": x.name_b, "aln_a": a, "aln_b": b}
        if chance is None:
            return rows
        return rows | {"probabilities": [float(chance[i, j]) for i, j in output]}

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """Aligned FASTA; with probabilities, Stockholm with a line of them."""
        if self.form in ("clustal", "tsv"):
            pairs = [
                replace(pair, pairs=list(output), core=None)
                for pair, output in zip(sample.more, outputs, strict=True)
            ]
            if self.form == "tsv":
                files.write_pair_table(path, pairs, self.encoding)
            else:
                self.write_lines(path, clustal_lines(pairs))
            return
        if chances is not None or self.form == "stockholm":
            found = zip(
                sample.more, outputs, chances or itertools.repeat(None), strict=False
            )
            files.write_stockholm(
                path, itertools.starmap(_with_chances, found), self.encoding
            )
            return
        records = []
        for pair, output in zip(sample.more, outputs, strict=True):
            rows = files.gapped(pair.a, pair.b, output)
            records += zip((pair.name_a, pair.name_b), rows, strict=True)
        files.write_fasta(path, records)

    def write_ranked(self, path: str, sample: Sample, ranked) -> None:
        """Aligned FASTA, with rank and score behind the names."""
        records = []
        for pair, best in zip(sample.more, ranked, strict=True):
            for rank, (output, score) in enumerate(best, 1):
                names = [f"{z} {rank} {score:.6g}" for z in (pair.name_a, pair.name_b)]
                records += zip(names, files.gapped(pair.a, pair.b, output), strict=True)
        files.write_fasta(path, records)

    # use -------------------------------------------------------------------------------

    def predict(self, model, sample: Sample) -> list:
        return self._asked(model.predict, sample)

    def k_best(self, model, sample: Sample, k: int) -> list:
        return self._asked(model.predict_k_best, sample, k)

    def _asked(self, ask, sample: Sample, *more) -> list:
        try:
            return ask(sample.X, *more)
        except ValueError as error:
            # the estimator counts samples: say which pair of the file that is
            words = str(error).split()
            number = words[1].rstrip(":") if words[:1] == ["sample"] else ""
            if number.isdigit() and int(number) < len(sample):
                pair = sample.more[int(number)]
                names = f"{pair.name_a} and {pair.name_b}"
                raise ValueError(f"{sample.path}, {names}: {error}") from None
            raise

    def check_truth(self, model, sample: Sample, train: Sample | None = None) -> str:
        """Sequences that are not aligned may look so where they have equal lengths."""
        if all(len(p.a) == len(p.b) == len(p.pairs) for p in sample.y):
            return (
                f"{sample.path}: no pair has a gap; if the sequences are not aligned, "
                "there is nothing to compare with."
            )
        return ""

    def report(self, model, sample: Sample, outputs):
        pairs, families = sample.more, sample.groups
        return model.evaluate(sample.X, pairs, families=families, predicted=outputs)

    def draw(self, option: str, path: str, model, sample, outputs, report):
        """The worst alignment."""
        worst = int(np.nanargmin(report.each[:, 0]))
        pair = sample.more[worst]
        q, near, right = (f"{value:.0%}" for value in report.each[worst])
        counted = "" if pair.core is None else " (core columns)"
        title = f"Worst of {len(sample)}: Q {q}, Q4 {near}, f_M {right}{counted}"
        names = pair.name_a, pair.name_b
        return plots.plot_alignment(
            pair.a, pair.b, outputs[worst], pair.pairs, names, title
        )

    # inspection ------------------------------------------------------------------------

    def source(self, notes: dict[str, Any]) -> str:
        return f"{notes['file']}: {notes['pairs']:,} pairs{_families(notes)}"

    def facts(self, model, notes) -> list[tuple[str, str]]:
        gaps = "by position"
        if hasattr(model, "gap_open_"):
            gaps = (
                f"open {model.gap_open_:.4g}, extend {model.gap_extend_:.4g} per letter"
            )
        kind = model.model if isinstance(model.model, str) else " ".join(model.model)
        rows = [
            ("tracks", ", ".join(notes["tracks"])),
            ("letters", " ".join(model.alphabet_)),
            ("model", f"{kind}, {len(model.coef_):,} weights"),
            ("gaps", f"{model.gaps}: {gaps}"),
            ("alignments", f"{model.scope}, loss {model.loss}, C={model.C_:g}"),
        ]
        if notes["masked"]:
            rows.append(("core", f"{notes['masked']:,} pairs count core columns only"))
        return rows

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        return both_ends(named_weights(model), args.top)

    def strongest(self, model, args) -> str:
        """The largest and the smallest weights."""
        named, head = named_weights(model), "Strongest weights\n"
        if not named:
            return f"{head}\n(no weight has a name: windows are not listed)"
        several = len({term for term, _, _ in named}) > 1
        lines = [head, f"{'favoured':<34}avoided".rstrip()]
        halves = named[: args.top], named[-args.top :][::-1]
        for sides in itertools.zip_longest(*halves):
            left, right = (
                ""
                if row is None
                else f"{row[2]:9.4f}  {row[1]}" + f"  {row[0]}" * several
                for row in sides
            )
            lines.append(f"{left:<34}{right}".rstrip())
        return "\n".join(lines)

    def draw_model(self, model, args):
        return plots.plot_substitutions(model)

    def export(self, path: str, model) -> None:
        plots.write_matrix(path, model)


RUN = Align


def _families(notes: dict[str, Any]) -> str:
    return f" of {notes['families']:,} families" if notes["families"] else ""


def _with_chances(pair, output, table):
    """A pair aligned, with the tenths of the probabilities of its matched letters.

    As HMMER writes them: 9 is from 0.85 to 0.95, * is more.
    """
    rows = files.gapped(pair.a, pair.b, output)
    names = [pair.name_a, pair.name_b]
    name = " ".join(names)
    if table is None:
        return files.MultipleAlignment(name, names, list(rows), [{}, {}], {})
    marks, chances = "", iter([float(table[i, j]) for i, j in output])
    for a, b in zip(*rows, strict=True):
        chance = next(chances) if "-" not in (a, b) else None
        mark = "*" if chance is not None and chance >= 0.95 else None
        marks += mark or ("." if chance is None else str(int(10 * chance + 0.5)))
    return files.MultipleAlignment(
        name, names, list(rows), [{}, {}], {"PP_cons": marks}
    )
