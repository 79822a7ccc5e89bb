"""How the task ``multilabel`` runs: its files, measures and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.classes.run import Classify
from maxmargin.cli.by_label import lines_of
from maxmargin.cli.command import Sample
from maxmargin.multilabel.command import MultilabelTask
from maxmargin.multilabel.labels import read_sets
from maxmargin.multilabel.metrics import multilabel_scores
from maxmargin.multilabel.plots import plot_label_scores
from maxmargin.multilabel.scorers import hamming_loss, sample_f1


@dataclass
class Multilabel(MultilabelTask, Classify):
    """Lines are labels such as a,b and a text or a vector, as of ``classify``."""

    multilabel: bool = True

    scorers = (sample_f1, hamming_loss)
    row = "label"
    classes = None  # known labels

    @classmethod
    def of(cls, model) -> Multilabel:
        run = cls._of_notes(model)
        run.classes = model.classes_
        return run

    def check(self, args) -> None:
        self.check_words(args)

    def learn(self, path: str, args) -> Sample:
        sample = self.learn_vectors(path, args)
        self.width = sample.X.shape[1]
        return sample

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        if given.get("graph") == "none":
            given = {**given, "graph": None}
        return given

    def is_label(self, label: str) -> bool:
        return label in set(self.classes.tolist())

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        # with the labels that this model, of one fold perhaps, does not know
        known = model.classes_.tolist()
        table, _ = read_sets([*sample.y, *outputs, known])
        report = multilabel_scores(table[: len(sample)], table[len(sample) : -1])
        return {scorer.title: scorer.value(report) for scorer in self.scorers}

    def summary(self, model) -> str:
        return (
            f"{model.notes['samples']:,} samples, {len(model.classes_)} labels, "
            f"{model.coef_.shape[1]:,} features; C={model.C_:g}"
        )

    def labels(self, output) -> list[str]:
        return list(map(str, output))

    # use -------------------------------------------------------------------------------

    def known_labels(self, model) -> set:
        return set(self.classes.tolist())

    def taught_labels(self, sample: Sample) -> set:
        return {label for label, _ in self.labels_of(sample)}

    def report(self, model, sample: Sample, outputs):
        return model.evaluate(sample.X, sample.y)  # with scores, for the ranking loss

    def draw(self, option: str, path: str, model, sample, outputs, report):
        truth, labels = read_sets(sample.y, model.classes_)
        return plot_label_scores(truth, read_sets(outputs, labels)[0], labels)

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        return [
            ("samples", f"{notes['samples']:,}"),
            ("labels", str(len(model.classes_))),
            ("features", f"{model.coef_.shape[1]:,}"),
            ("loss", f"{model.loss}, {model.rescaling} rescaling"),
            ("graph", str(model.graph or "none")),
            ("C", f"{model.C_:g}"),
        ]

    def named_rows(self, model) -> list[str]:
        return list(map(str, model.classes_.tolist()))

    def listed(self, model, args):
        labels = args.label or self.named_rows(model)
        return lines_of(self.weights(model, args), labels).values()


RUN = Multilabel
