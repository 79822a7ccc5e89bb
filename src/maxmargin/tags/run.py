"""How the task ``tag`` runs: its files, measures and weights."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from maxmargin import files, metrics, plots
from maxmargin.cli.command import Sample
from maxmargin.cli.common import say
from maxmargin.cli.notes import INVALID
from maxmargin.report.facts import fits_probabilities
from maxmargin.tags import command_network
from maxmargin.tags.command import TagTask
from maxmargin.tags.command_features import features_of, gazetteers_of
from maxmargin.tags.command_files import (
    TagFiles,
    checked_scheme,
    column_of,
    scheme_of,
    separator_of,
    tokens_of,
)
from maxmargin.tags.command_network import is_network
from maxmargin.tags.corpus.command import check_dev
from maxmargin.tags.files.layout import Layout
from maxmargin.tags.plots import chosen_labels
from maxmargin.tags.schemes import guess_scheme
from maxmargin.tags.scorers import span_f1, token_accuracy


@dataclass
class Tag(TagTask, TagFiles):
    """Label sequences: one token per line, its label in a column."""

    # training --------------------------------------------------------------------------

    @classmethod
    def from_args(cls, args) -> Tag:
        run = super().from_args(args)
        run.n_jobs = args.n_jobs
        run.separator = separator_of(run.separator)
        run.label_column = column_of(run.label_column)
        run.word_column = column_of(run.word_column)
        if run.format == "conllu":
            run.layout.checked()
        return run

    @classmethod
    def of(cls, model) -> Tag:
        run = super().of(model)
        run.width, run.n_jobs = _width(model), model.n_jobs
        label, n = run.label_column, run.n_columns
        if not run.holds_features and not (
            type(label) is type(n) is int and 0 <= label < n
        ):
            raise ValueError(INVALID.format(f"label_column={label}, n_columns={n}"))
        return run

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        return {
            **super().notes(model, sample),
            "features": self.source,
            "sentences": len(sample),
            "tokens": tokens_of(sample),
        }

    def check(self, args) -> None:
        if args.model == "neural" and args.format == "crfsuite":
            raise ValueError(command_network.NO_ROWS)
        self.template = None if self.in_shards(args) else features_of(args)
        self.source = args.features or (
            args.template and os.path.basename(args.template)
        )
        self.gazetteers = gazetteers_of(args, self.template)

    def learn(self, path: str, args) -> Sample:
        sample = self.read_corpus(path, args) or self.read_training(path, args.quiet)
        if sample.y is None:  # training checks it
            self.scheme = scheme_of(args.scheme, sample)
            return sample
        if self.template is not None and not isinstance(self.template, str):
            try:
                template = self.template.resolved(sample.X.meaning.names)
                template.check_columns(self.n_columns - 1)
            except ValueError as error:
                raise ValueError(
                    f"{str(error).rstrip('.')} without that of the labels ({sample.path})."
                ) from None
        self.scheme, sample = checked_scheme(args, sample)
        return sample

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        check_dev(sample, dev)
        features = self.template
        if features is not None and not isinstance(features, str):
            # the text, so that the model needs no other file; without a line break it
            # might look like a path
            features = features.text + "\n"
        given |= {"features": features, "scheme": self.scheme}
        given |= self.encoded(sample, given)
        if self.gazetteers and args.shards is None:  # shards were built with them
            given["feature_options"] = {"gazetteers": self.gazetteers}
        return given

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        labels = {*chain.from_iterable(sample.y), *model.classes_.tolist()}
        spans = guess_scheme(labels) is not None
        report = self.report(model, sample, outputs, "auto" if spans else None)
        chosen = (span_f1, token_accuracy) if spans else (token_accuracy,)
        return {scorer.title: scorer.value(report) for scorer in chosen}

    def summary(self, model) -> str:
        notes = model.notes
        if is_network(model):
            size = f"{command_network.size_of(model):,} weights"
        else:
            size = f"{model.coef_.shape[1]:,} features"
        return (
            f"{notes['sentences']:,} sentences, {notes['tokens']:,} tokens, "
            f"{len(model.classes_)} labels, {size}; {_strength(model)}"
        )

    # use -------------------------------------------------------------------------------

    def predict(self, model, sample: Sample) -> list:
        if is_network(model):
            return super().predict(model, sample)
        encoder = model.structure_.encoder
        encoder = getattr(encoder, "inner", encoder)
        if self.format == "conllu" and sample.more is not None:
            names = sample.X.names
            for name in (names[k] for k in encoder.blanked(sample.X)):
                say(
                    f"{sample.path}: the column {name} has _ for all words, but the model "
                    "reads it and has learned from a file where it is filled."
                )
        return super().predict(model, sample)

    def chances(self, model, sample: Sample, outputs) -> list[list[float]]:
        """The share of every label that was predicted; a probability if one is fitted."""
        self.measured = "Prob" if fits_probabilities(model) else "Share"
        number = {label: k for k, label in enumerate(model.classes_.tolist())}
        tables = model.predict_marginals(sample.X)
        return [
            table[range(len(row)), [number[label] for label in row]].tolist()
            for table, row in zip(tables, outputs, strict=True)
        ]

    def known_labels(self, model) -> set:
        return set(model.classes_.tolist())

    def labels_of(self, sample: Sample):
        if sample.y is None:  # a corpus
            yield from ((label, ()) for label in sample.X.labels)
            return
        for i, row in enumerate(sample.y):
            yield from ((label, (i, t)) for t, label in enumerate(row))

    def report(self, model, sample: Sample, outputs, scheme="auto"):
        if model is None:  # of two columns of a file
            return metrics.scores(sample.y, outputs, scheme)
        y = None if hasattr(sample.X, "shards") else sample.y  # a corpus has its labels
        return model.evaluate(sample.X, y, scheme=scheme, predicted=outputs)

    def read_pair(self, args) -> tuple[Sample, list]:
        """Truth and prediction from two columns of a file."""
        raw = files.read_raw(args.file)
        if b'{"__metadata__":{"maxmargin"' in raw.data[:64]:
            raise ValueError(
                f"{raw.path} is a model: name a file to evaluate it on, too."
            )
        self.separator, self.comment = separator_of(args.separator), args.comment
        self.encoding = args.encoding or "utf-8"
        self.format = Layout(*self.layout[:4]).known(raw).format
        columns = self._read_columns(raw)
        if columns.n_columns < 2:
            raise ValueError(
                f"{columns.where(0)}: there is only one column, but truth and prediction "
                "are two. Name the model first if the file is not tagged yet."
            )
        chosen = []
        for option, usual in (("truth", -2), ("predicted", -1)):
            column = column_of(getattr(args, option))
            if column is None and self.format == "conllu":
                raise ValueError(
                    f"{raw.path} is CoNLL-U, which has no place of its own for predictions "
                    "beside the truth: name both columns with --truth and --predicted, or "
                    "name the model first to compare it with the labels of the file."
                )
            column = usual if column is None else column
            try:
                place = columns.meaning.number(column, columns.n_columns, f"--{option}")
            except ValueError as error:
                raise ValueError(f"{columns.where(0)}: {error}") from None
            chosen.append(columns.strings(place))
        _refuse_probabilities(chosen[1], columns.where(0))
        return Sample(columns, chosen[0], raw.path), chosen[1]

    def draw(self, option: str, path: str, model, sample, outputs, report):
        return plots.plot_confusion(sample.y, outputs)

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        rows = [
            ("sentences", f"{notes['sentences']:,}, with {notes['tokens']:,} tokens"),
            ("labels", f"{len(model.classes_)}: {' '.join(map(str, model.classes_))}"),
        ]
        rows += command_network.facts_of(model) if is_network(model) else _facts(model)
        if not self.holds_features:
            label, n = self._called(notes["label_column"]), notes["n_columns"]
            rows.insert(0, ("columns", f"{n}, the labels in column {label}"))
        if getattr(model, "l1", 0):
            rows.append(("l1", f"{model.l1:g}"))
        return rows

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        labels = args.label or model.classes_.tolist()
        if is_network(model):
            labels = chosen_labels(model, args.label)
            return command_network.transitions_of(model, labels, args.top)
        return [
            (str(label), *row)
            for label in labels
            for row in plots.top_features(model, label, args.top)
        ]

    def strongest(self, model, args) -> str:
        if is_network(model):
            return command_network.listed(self.weights(model, args))
        return "Strongest features\n\n" + plots.feature_table(
            model, args.label, args.top
        )

    def sections(self, model, args) -> list[str]:
        head = "Transitions: from row to column\n\n"
        return [head + plots.transition_table(model)] if args.transitions else []

    def draw_model(self, model, args):
        return plots.plot_transitions(model)


RUN = Tag


def _width(model) -> int | None:
    """Columns of files of features; None of a network that reads words."""
    if is_network(model):
        return getattr(model._reader, "width", None)
    return model.coef_.shape[1]


def _facts(model) -> list[tuple[str, str]]:
    """Rows about weights of features."""
    coef = model.coef_
    used = int(np.count_nonzero(np.abs(coef).max(axis=0, initial=0)))
    of = f"{coef.shape[1]:,} ({used:,} with weights), {_source(model)}"
    return [
        ("features", of),
        ("objective", f"{model.objective}, {_strength(model)}"),
        ("scheme", str(model.scheme or "none")),
        ("order", str(model.order)),
    ]


def _strength(model) -> str:
    if is_network(model):
        return command_network.strength_of(model)
    return f"alpha={model.alpha:g}" if hasattr(model, "alpha") else f"C={model.C_:g}"


def _source(model) -> str:
    if model.notes["features"] is None:
        return "from the file"
    seen = "" if model.min_count == 1 else f", seen {model.min_count} times or more"
    return f"by {model.notes['features']}{seen}"


def _refuse_probabilities(predicted: list[list[str]], place: str) -> None:
    """A file that was written with --marginals ends in a column of probabilities."""
    if all(re.fullmatch(r"[01]\.\d{4}", cell) for row in predicted for cell in row):
        raise ValueError(
            f"{place}: the column of predictions has numbers such as {predicted[0][0]}, as "
            "predict --marginals writes them: name the columns of the labels, with "
            "--truth -3 --predicted -2."
        )
