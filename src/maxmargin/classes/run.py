"""How the task ``classify`` runs: its files, measures and weights."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from maxmargin.classes.bag_of_words import BagOfWords
from maxmargin.classes.command import ClassifyTask
from maxmargin.classes.corpus import ClassCorpus
from maxmargin.classes.corpus.command import (
    check_options,
    corpus_sample,
    training_corpus,
)
from maxmargin.classes.svmlight import read_svmlight
from maxmargin.classes.taxonomy import add_path, plots
from maxmargin.classes.taxonomy.file import read_taxonomy
from maxmargin.classes.texts import read_new_texts, read_texts
from maxmargin.cli.by_label import lines_of, strongest_of
from maxmargin.cli.command import Command, Sample
from maxmargin.cli.common import say
from maxmargin.files.corpora.storage import is_corpus
from maxmargin.metrics.scorers import accuracy


@dataclass
class Classify(ClassifyTask, Command):
    """Lines are a label and a text, or a label and a vector.

    ``more`` of a sample is its texts, None for vectors.
    """

    format: str = "text"
    multilabel: bool = False
    between: str | None = None  # labels and texts

    scorers = (accuracy,)
    row = "node"  # what has a row of weights
    bag = None  # of words, for texts
    tree = None  # the taxonomy, if it is known before training
    width = None  # columns of vectors

    # training --------------------------------------------------------------------------

    @classmethod
    def of(cls, model) -> Classify:
        run = cls._of_notes(model)
        run.tree = model.taxonomy_
        return run

    @classmethod
    def _of_notes(cls, model) -> Classify:
        run = super().of(model)
        bag = model.notes["bag"]
        run.bag = None if bag is None else BagOfWords.from_state(bag)
        run.width = model.coef_.shape[1]
        return run

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        bag = None if self.bag is None else self.bag.state()
        return {**super().notes(model, sample), "samples": len(sample), "bag": bag}

    def check(self, args) -> None:
        if not args.separator:
            raise ValueError("--separator is empty: give a text such as . or /.")
        self.check_words(args)
        check_options(args)
        if args.multilabel and args.mode == "flat":
            raise ValueError("--mode flat is for one label per line: leave it out.")
        if args.multilabel and args.loss not in (None, "tree"):
            raise ValueError(
                f"--loss {args.loss} is for one label per line: leave it out."
            )

    def check_words(self, args) -> None:
        """Options for texts only."""
        if args.format != "text":
            for name in ("ngrams", "weighting", "min_count"):
                if getattr(args, name) is not None:
                    raise ValueError(
                        f"--{name.replace('_', '-')} is for texts: files of vectors hold "
                        "their features."
                    )

    def learn(self, path: str, args) -> Sample:
        self.separator = args.separator
        if args.taxonomy:
            self.tree = read_taxonomy(args.taxonomy, args.separator, args.encoding)
        sample = self.learn_vectors(path, args)
        check_labels(sample, self.tree, self.separator)
        self.width = sample.X.shape[1]
        if self.tree is None and not args.quiet:
            remark_on_separator(args.separator, sample)
        return sample

    def learn_vectors(self, path: str, args) -> Sample:
        """A file with labels, from which the bag learns its words."""
        corpus = None if self.multilabel else training_corpus(path, args)
        if corpus is not None:
            self.format = "svmlight"
            return corpus
        if self.format != "text":
            return self._vectors(path)
        names = ("ngrams", "weighting", "min_count")
        given = {name: getattr(args, name) for name in names}
        bag = BagOfWords(**{k: v for k, v in given.items() if v is not None})
        found = read_texts(path, None, self.encoding, self.multilabel)
        try:
            self.bag = bag.fit(found.texts)
        except ValueError as error:
            raise ValueError(f"{found.path}: {error}") from None
        self.between = found.between
        return self._texts(found)

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        if dev is not None:
            check_labels(dev, self.tree, self.separator)
        return {**given, "taxonomy": self.tree}

    def summary(self, model) -> str:
        return (
            f"{model.notes['samples']:,} samples, {len(model.classes_)} classes, "
            f"{len(model.taxonomy_)} nodes, {model.coef_.shape[1]:,} features; "
            f"C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        if self.bag is None:
            return self._vectors(path, truth)
        if truth:
            found = read_texts(path, self.between, self.encoding, self.multilabel)
            return self._texts(found)

        def known(cell: str) -> bool:
            labels = cell.split(",") if self.multilabel else [cell]
            return all(map(self.is_label, labels))

        found = read_new_texts(path, self.between, known, self.encoding)
        return self._texts(found._replace(labels=None))

    def is_label(self, label: str) -> bool:
        return label in self.tree

    def _texts(self, found) -> Sample:
        y = None if found.labels is None else self._labels(found)
        X = self.bag.transform(found.texts)
        return Sample(X, y, found.path, found.where, more=found.texts)

    def _vectors(self, path: str, truth: bool = True) -> Sample:
        if is_corpus(path) and not self.multilabel:
            return corpus_sample(path, truth)
        optional = self.multilabel or not truth
        found = read_svmlight(path, self.width, self.encoding, optional)
        y = self._labels(found) if truth else None
        return Sample(found.X, y, found.path, found.where)

    def _labels(self, found) -> list:
        if not self.multilabel:
            return list(found.labels)
        y = []
        for i, cell in enumerate(found.labels):
            labels = [label.strip() for label in cell.split(",")] if cell else []
            if not all(labels):
                raise ValueError(
                    f"{found.where(i)}: the labels {cell!r} hold an empty one; write them "
                    "as a,b,c."
                )
            y.append(labels)
        return y

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """Labels in front of the texts; alone, one per line, for vectors."""
        if self.multilabel:
            outputs = [",".join(self.labels(output)) for output in outputs]
        if sample.more is not None:
            texts = zip(outputs, sample.more, strict=True)
            outputs = [f"{label}{self.between}{text}" for label, text in texts]
        self.write_lines(path, outputs)

    def inputs(self, sample: Sample) -> Sequence:
        return [None] * len(sample) if sample.more is None else sample.more

    def record(self, x, output, chance=None) -> dict[str, Any]:
        """The label or labels, before the text if there is one."""
        said = {"labels": self.labels(output)} if self.multilabel else {"label": output}
        return said if x is None else said | {"text": x}

    def cells(self, record):
        labels = {k: ",".join(v) for k, v in record.items() if k == "labels"}
        return [record | labels]

    def labels(self, output) -> list[str]:
        """A set of nodes as files have it: without what their descendants say."""
        return list(map(str, self.tree.lowest(output)))

    # use -------------------------------------------------------------------------------

    def known_labels(self, model) -> set:
        return set(model.taxonomy_.nodes)

    def taught_labels(self, sample: Sample) -> Collection:
        """Of a taxonomy, all nodes: also those that are only on the way to a label."""
        if self.tree is not None:
            return set(self.tree.nodes)
        nodes: dict = {}
        for label, _ in self.labels_of(sample):
            add_path(nodes, label, self.separator, "")
        return nodes

    def labels_of(self, sample: Sample):
        if sample.y is None:  # a corpus
            yield from ((label, ()) for label in sample.X.labels)
            return
        for i, labels in enumerate(sample.y):
            each = labels if self.multilabel else [labels]
            yield from ((label, (i,)) for label in each)

    def report(self, model, sample: Sample, outputs):
        y = None if isinstance(sample.X, ClassCorpus) else sample.y
        return model.evaluate(sample.X, y, predicted=outputs)

    def draw(self, option: str, path: str, model, sample, outputs, report):
        if self.multilabel:
            raise ValueError(
                "--confusion and --plot are for one label per line, not for sets of "
                "labels."
            )
        draw = plots.plot_taxonomy_errors
        if option == "confusion":
            draw = plots.plot_taxonomy_confusion
        return draw(model.taxonomy_with(sample.y), sample.y, list(map(str, outputs)))

    def columns_of(self, sample: Sample) -> list[str] | None:
        return None if self.bag is None else self.bag.words

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        tree, bag = model.taxonomy_, notes["bag"]
        words = "" if bag is None else f", {bag['weighting']}, runs of {bag['ngrams']}"
        kind = "tree" if tree.is_tree else "DAG"
        return [
            ("samples", f"{notes['samples']:,}"),
            ("classes", str(len(model.classes_))),
            ("taxonomy", f"{kind}, {len(tree)} nodes, {int(tree.depth.max())} levels"),
            ("features", f"{model.coef_.shape[1]:,}{words}"),
            ("mode", "sets of nodes" if notes["multilabel"] else model.mode),
            ("loss", f"{model.loss}, {model.rescaling} rescaling"),
            ("C", f"{model.C_:g}"),
        ]

    def named_rows(self, model) -> list[str]:
        """What the rows of weights are called."""
        return model.nodes_.tolist()

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        def name(j: int) -> str:
            return str(j + 1) if self.bag is None else self.bag.words[j]

        kind = f"{self.row} with weights"
        labels = self.named_rows(model)
        return list(strongest_of(labels, model.coef_, args, name, kind))

    def listed(self, model, args):
        nodes, tree = model.nodes_.tolist(), model.taxonomy_
        shown = lines_of(self.weights(model, args), args.label or nodes)
        levels = [max(int(tree.depth[tree.position_of(z)]) - 1, 0) for z in nodes]
        for z, level in zip(nodes, levels, strict=True):
            if z in shown:
                yield f"{'  ' * level}{shown[z]}"


RUN = Classify


def check_labels(sample: Sample, taxonomy, separator: str) -> None:
    """Name the line of the first label that is not a node, or not a path."""
    seen: dict = {}
    for i, given in enumerate(sample.X.labels if sample.y is None else sample.y):
        for label in given if isinstance(given, list) else [given]:
            if label in seen:
                continue
            where = f"{sample.where(i) if sample.where else sample.path}: the label"
            if taxonomy is None:
                add_path(seen, label, separator, where)
            elif label not in taxonomy:
                raise ValueError(
                    f"{where} {label!r} is not in the taxonomy: correct it or add it."
                )
            seen[label] = True


def remark_on_separator(separator: str, sample: Sample) -> None:
    """Labels without the separator are classes without a hierarchy: perhaps a mistake."""
    every = sample.X.labels if sample.y is None else sample.y
    given = {z for y in every for z in (y if isinstance(y, list) else [y])}
    if any(separator in label for label in given):
        return
    for other in ".:/|":
        hits = sorted(label for label in given if other in label.strip(other))
        if len(hits) > len(given) / 2:
            say(
                f"no label has a {separator!r}, so there is no hierarchy; with "
                f"--separator '{other}' labels like {hits[0]!r} would be paths."
            )
            return
