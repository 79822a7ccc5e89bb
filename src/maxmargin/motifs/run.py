"""How the task ``motif`` runs: its files, measures and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin import files
from maxmargin.cli.command import Command, Sample
from maxmargin.cli.common import plain_warnings, say
from maxmargin.motifs.classes import positive_label, says
from maxmargin.motifs.command import FindMotifTask
from maxmargin.motifs.formats import jaspar_text, meme_text, motif_of
from maxmargin.motifs.input import encode_sequences
from maxmargin.motifs.plots import plot_logo, plot_site_scores
from maxmargin.motifs.scorers import motif_accuracy
from maxmargin.motifs.sites import bed_lines, gff_lines


@dataclass
class FindMotif(FindMotifTask, Command):
    """FASTA files; outputs are sites, and ``more`` of a sample the names of sequences."""

    label: str = "label"
    positive: str | None = None
    two_files: bool = False  # one with the motif, one without
    seen: list[str] | None = None  # values in the training file, where one is positive

    width = 1
    unknown = "refuse"

    # a run -----------------------------------------------------------------------------

    @classmethod
    def of(cls, model) -> FindMotif:
        run = super().of(model)
        run.width, run.unknown = model.width_, model.unknown
        return run

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        return {**super().notes(model, sample), "samples": len(sample)}

    def check(self, args) -> None:
        if not args.background_weight > 0:
            raise ValueError(
                f"--background-weight {args.background_weight:g} is not possible: it must "
                "be positive."
            )
        if args.negative and args.positive is not None:
            raise ValueError(
                "--positive names a label in one file, --negative another file: give one."
            )
        self.unknown = args.unknown or "refuse"
        self.width = max(_widths(args.width)) if args.width else 11

    def learn(self, path: str, args) -> Sample:
        self.two_files = bool(args.negative)
        if args.negative:
            with_motif, without = self._records(path), self._records(args.negative)
            records = with_motif + without
            y = [True] * len(with_motif) + [False] * len(without)
        else:
            records = self._records(path)
            values = self._values(records, path)
            if self.positive is None:
                with plain_warnings(args.spoken):
                    self.positive = _positive(values, self.label, path)
            if self.positive is not None:
                self.seen = sorted(set(values))
            y = self._truths(values, records, path)
        weights = None
        if args.background:
            weights = [1.0] * len(records)
            more = self._records(args.background)
            records = records + more
            y += [False] * len(more)
            weights += [args.background_weight] * len(more)
        if len(set(y)) < 2:
            raise ValueError(
                f"{path}: all sequences are {'positive' if y[0] else 'negative'}: name a "
                "file with others by --negative or --background, or check --positive."
            )
        names = [record.name for record in records]
        X = [record.sequence for record in records]
        return Sample(X, y, path, weights=weights, more=names)

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        given = {k: v for k, v in given.items() if k != "positive"}
        if given.get("class_weight") == "none":
            given["class_weight"] = None
        if args.width:
            widths = _widths(args.width)
            given["width"] = widths if len(widths) > 1 else widths[0]
        return given

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        report = self.report(model, sample, outputs, sample.weights)
        return {motif_accuracy.title: motif_accuracy.value(report)}

    def summary(self, model) -> str:
        return (
            f"{model.notes['samples']:,} sequences, {model.n_sites_:,} of them with the "
            f"motif{'' if self.two_files else f' ({self._meaning()})'}; "
            f"width {model.width_}, {model.consensus()}, "
            f"{'both strands' if model.both_strands_ else 'forward strand'}; "
            f"C={model.C_:g}"
        )

    def _meaning(self) -> str:
        """What sequences with the motif are known by."""
        if self.two_files:
            return "the first file"
        return f"{self.label}={self.positive or 'such as 1'}"

    # files -----------------------------------------------------------------------------

    def _records(self, path: str) -> list:
        records = files.read_fasta(path, encoding=self.encoding)

        def name(i: int) -> str:
            return f"{path}, line {records[i].line}: the sequence {records[i].name!r}"

        texts = [record.sequence for record in records]
        encode_sequences(texts, self.unknown, self.width, name)
        return records

    def _values(self, records, path: str, training: bool = True) -> list[str]:
        """What records say of themselves."""
        more = ", or name the key by --label, or give two files (--negative)."
        values = []
        for record in records:
            words = (word.partition("=") for word in record.comment.split())
            found = [value for key, _, value in words if key == self.label]
            if not found:
                raise ValueError(
                    f"{path}, line {record.line}: the sequence {record.name!r} does not "
                    f"say '{self.label}=VALUE': write what it is after its name"
                    f"{more if training else '.'}"
                )
            values.append(found[0])
        return values

    def _truths(self, values: list[str], records, path: str) -> list[bool]:
        """Several ways to say yes, where none was named, are all positive."""
        if self.positive is not None:
            return [value == self.positive for value in values]
        truths = [says(value) for value in values]
        if None in truths:
            i = truths.index(None)
            raise ValueError(
                f"{path}, line {records[i].line}: the sequence {records[i].name!r} says "
                f"{f'{self.label}={values[i]}'!r}, which is neither such as 1 nor such as "
                "-1, and training has seen no other values: change it."
            )
        return truths

    def read(self, path: str, truth: bool) -> Sample:
        records = self._records(path)
        y = None
        if truth:
            values = self._values(records, path, training=False)
            self._check_seen(values, records, path)
            y = self._truths(values, records, path)
        names = [record.name for record in records]
        return Sample([record.sequence for record in records], y, path, more=names)

    def _check_seen(self, values: list[str], records, path: str) -> None:
        """Refuse a truth that is none: most values were never seen in training."""
        if self.positive is None or self.seen is None:
            return
        new = [i for i, value in enumerate(values) if value not in self.seen]
        if not new:
            return
        said = (
            f"{path}: {len(new):,} of {len(values):,} sequences say what none of the "
            f"training file said, such as {f'{self.label}={values[new[0]]}'!r} (line "
            f"{records[new[0]].line})"
        )
        if 2 * len(new) > len(values):
            some = ", ".join(map(repr, self.seen[:3]))
            raise ValueError(
                f"{said}; it had {some}{', ...' if len(self.seen) > 3 else ''}. There is "
                "nothing to compare with."
            )
        say(f"{said}. They count as sequences without the motif.")

    def inputs(self, sample: Sample) -> list[str]:
        return sample.more

    def record(self, x, output, chance=None) -> dict[str, Any]:
        """The best site of a sequence, and whether it is one of the motif."""
        place = {"start": output.start, "end": output.end, "strand": output.strand}
        score = float(output.score)
        return {"sequence": x, "motif": score > 0, **place, "score": score}

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """Sites of positive sequences, as BED or GFF3."""
        kept = [
            pair for pair in zip(sample.more, outputs, strict=True) if pair[1].score > 0
        ]
        lines = gff_lines if self.form == "gff3" else bed_lines
        names, sites = zip(*kept, strict=True) if kept else ((), ())
        self.write_lines(path, lines(names, sites))

    # use -------------------------------------------------------------------------------

    def predict(self, model, sample: Sample) -> list:
        return model.predict_sites(sample.X)

    def report(self, model, sample: Sample, outputs, weights=None):
        found = [site.score > 0 for site in outputs]
        return model.evaluate(sample.X, sample.y, weights, predicted=found)

    def draw(self, option: str, path: str, model, sample, outputs, report):
        return plot_site_scores(sample.y, [site.score for site in outputs])

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        rows = [
            ("sequences", f"{notes['samples']:,}"),
            ("with motif", f"{self._meaning()}, {model.n_sites_:,} sequences"),
            ("width", str(model.width_)),
            ("background", f"order {model.order}"),
            ("strands", "both" if model.both_strands_ else "forward"),
            ("C", f"{model.C_:g}"),
            ("consensus", model.consensus()),
        ]
        if hasattr(model, "width_errors_"):
            tried = ", ".join(
                f"{w}: {100 * e:.1f}%" for w, e in model.width_errors_.items()
            )
            rows.insert(2, ("held out", f"errors by width: {tried}"))
        return rows

    def named_weights(self, model):
        return [
            (f"position {j + 1}", f"{letter} at {j + 1}", float(weight))
            for j, row in enumerate(model.log_odds())
            for letter, weight in zip("ACGT", row, strict=True)
        ]

    def strongest(self, model, args) -> str:
        lines = ["Motif: what each letter adds to the score of a site", ""]
        lines.append("          A       C       G       T")
        for j, row in enumerate(model.log_odds(), 1):
            lines.append(f"{j:3d} " + " ".join(f"{v:+7.3f}" for v in row))
        return "\n".join(lines)

    def draw_model(self, model, args):
        return plot_logo(model)

    def export(self, path: str, model) -> None:
        """JASPAR if the file is named so, else MEME."""
        counts = path.lower().endswith((".jaspar", ".pfm"))
        text = (jaspar_text if counts else meme_text)(motif_of(model))
        self.write_lines(path, text.rstrip("\n").split("\n"))


def _positive(values: list[str], label: str, path: str) -> str | None:
    """The value of sequences with the motif; None if all values say yes or no."""
    if all(says(value) is not None for value in values):
        return None
    place, kinds = f"{path}, by '{label}=VALUE',", set(values)
    if len(kinds) != 2:
        shown = ", ".join(sorted(kinds)[:4]) + (", ..." if len(kinds) > 4 else "")
        many = "1 kind" if len(kinds) == 1 else f"{len(kinds)} kinds"
        raise ValueError(
            f"{place} has {many} of sequences ({shown}), of which none says "
            "that it has the motif: name the value of those with it by --positive."
        )
    return positive_label(values, place, "--positive ")


def _widths(text: str) -> list[int]:
    try:
        return [int(width) for width in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--width {text} is not a whole number, or several such as 8,11,17."
        ) from None


RUN = FindMotif
