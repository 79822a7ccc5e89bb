"""How the task ``depend`` runs: its files, measures and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.cli.command import Command, Sample
from maxmargin.dependencies.command import DependTask
from maxmargin.dependencies.conll import (
    conllu_lines,
    read_treebank,
    write_dependencies,
)
from maxmargin.dependencies.explaining import named_weights
from maxmargin.dependencies.plots import plot_dependencies
from maxmargin.dependencies.scorers import attachment_score, labelled_attachment_score
from maxmargin.dependencies.svg import pictures, unpacked
from maxmargin.files.text_files import read_raw, read_text


@dataclass
class Depend(DependTask, Command):
    """A treebank, or sentences of tokens such as cat_NN, one per line.

    ``more`` of a sample is the file that predictions are written into; None for lines.
    """

    tags: str = "auto"

    scorers = (labelled_attachment_score, attachment_score)
    weighed = "weights of tags"

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        sizes = {"sentences": len(sample), "words": sum(map(len, sample.X))}
        return {**super().notes(model, sample), **sizes}

    def learn(self, path: str, args) -> Sample:
        found = read_treebank(path, self.tags, self.encoding)
        self.tags = found.tags
        return _sample(found, True)

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        return {**given, "projective": not args.not_projective}

    def summary(self, model) -> str:
        notes = model.notes
        labels = f"{len(model.labels_)} labels" if model.labels_ else "no labels"
        lifted = f", {model.n_lifted_:,} lifted" if model.n_lifted_ else ""
        return (
            f"{notes['sentences']:,} trees{lifted}, {notes['words']:,} words, {labels}; "
            f"C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        raw = read_raw(path)
        if not truth and b"\t" not in raw.data:
            return self._read_lines(raw)
        return _sample(read_treebank(raw, self.tags, self.encoding, truth), truth)

    def _read_lines(self, raw) -> Sample:
        text, name = read_text(raw, self.encoding)
        X = [
            [_token(token, f"{name}, line {number}") for token in line.split()]
            for number, line in enumerate(text.decode().split("\n"), 1)
            if line.strip()
        ]
        if not X:
            raise ValueError(f"{name} has no sentence: all of its lines are blank.")
        return Sample(X, None, name)

    def record(self, x, output, chance=None) -> dict[str, Any]:
        heads, labels = unpacked(output)
        found = {"words": [w for w, _ in x], "tags": [t for _, t in x], "heads": heads}
        if any(label is not None for label in labels):
            found["labels"] = labels
        return found if chance is None else found | {"probabilities": chance}

    def cells(self, record):
        """A word per row."""
        names = {"words": "word", "tags": "tag", "heads": "head", "labels": "label"}
        names["probabilities"] = "probability"
        there = [name for name in names if name in record]
        rest = {name: value for name, value in record.items() if name not in names}
        for m, row in enumerate(zip(*(record[name] for name in there), strict=True), 1):
            word = {names[name]: v for name, v in zip(there, row, strict=True)}
            yield {**rest, "id": m, **word}

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        if self.form == "svg":
            self.write_lines(path, [pictures(zip(sample.X, outputs, strict=True))])
            return
        misc = chances and [[f"Prob={p:.4f}" for p in row] for row in chances]
        write_dependencies(path, sample.X, outputs, sample.more, self.encoding, misc)

    def lines(self, sample: Sample, i: int, output) -> list[str]:
        return [*conllu_lines(sample.X[i], output), ""]

    # models ----------------------------------------------------------------------------

    def chances(self, model, sample: Sample, outputs) -> list[list[float]]:
        """The probability of every predicted arc."""
        tables = model.predict_marginals(sample.X, 0.0)
        found = []
        for table, output in zip(tables, outputs, strict=True):
            arcs = enumerate(zip(*unpacked(output), strict=True), 1)
            keys = [
                (h, m) if label is None else (h, m, label) for m, (h, label) in arcs
            ]
            found.append([table.get(key, 0.0) for key in keys])
        return found

    def known_labels(self, model):
        return set(model.labels_)

    def labels_of(self, sample: Sample):
        for i, row in enumerate(sample.y):
            for t, value in enumerate(row):
                if isinstance(value, tuple):
                    yield value[1], (i, t)

    def draw(self, option: str, path: str, model, sample, outputs, report):
        """The sentence with most wrong words among those of usual length."""

        def wrong(i: int) -> int:
            row = report.sentences[i]
            return (row.words - row.both) * (row.words <= 30)

        worst = max(range(len(sample)), key=wrong)
        return plot_dependencies(sample.X[worst], outputs[worst], sample.y[worst])

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        kind = "projective" if model.projective else "any trees"
        return [
            ("sentences", f"{notes['sentences']:,}, {notes['words']:,} words"),
            ("tags", notes["tags"]),
            ("labels", ", ".join(model.labels_) or "none"),
            ("weights", f"{len(model.coef_):,}"),
            ("trees", f"{kind}, order {model.order}, C={model.C_:g}"),
        ]

    def named_weights(self, model):
        return named_weights(model)


RUN = Depend


def _sample(found, truth: bool) -> Sample:
    def where(i: int, t: int) -> str:
        return f"{found.raw.path}, line {found.lines[i][t]}"

    y = found.y if truth else None
    return Sample(found.X, y, found.raw.path, where, more=found.raw)


def _token(token: str, place: str) -> tuple[str, str]:
    word, _, tag = token.rpartition("_")
    if not (word and tag):
        raise ValueError(
            f"{place}: the token {token!r} has no tag: write tokens such as cat_NN, or a "
            "file of CoNLL-U."
        )
    return word, tag
