"""The task ``multilabel``: texts or vectors, each with a set of labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.classes.command import Classify
from maxmargin.cli.command import Sample, seconds_of


@dataclass
class Multilabel(Classify):
    """Lines are labels such as a,b and a text or a vector, as of ``classify``."""

    multilabel: bool = True

    name = "multilabel"
    about = "Predict sets of labels for texts or vectors, one per line."
    example = """example:
  maxmargin train multilabel train.txt --loss f1 -o topics.model
  maxmargin train multilabel train.svm --format svmlight --cv 5 -o scenes.model

Lines are labels, as in a,b,c, a tab and a text; see docs/multilabel.md. Files may be
compressed with gzip."""
    estimators = {"svm": "MultilabelSVM"}
    hidden = frozenset()
    options = """
    the file
      --format text|svmlight=text  text (default): labels and a text per line; svmlight:
          a,b 3:0.5 7:1 ...
      --encoding NAME=utf-8  default: utf-8
    features of texts
      --ngrams N  runs of up to N words (default: 1)
      --weighting tfidf|binary|count  of words (default: tfidf)
      --min-count N  leave out words of fewer texts
    the model
      --loss hamming|f1|ranking  what a wrong set costs (default: hamming)
      --graph none|tree|full=none  pairs of labels that have scores too: none (default),
          the tree of those that tell most of each other, or all
      --C  weight of the data (default: 1, for log 5, / total variance of the features)
    """
    evaluate_options = ""
    inspect_options = "--label L+  only of this label; repeatable"

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
        report = self.report(model, sample, outputs)
        return {"F1": report.f1, "Hamming loss": report.hamming}

    def summary(self, model) -> str:
        return (
            f"{model.notes['samples']:,} samples, {len(model.classes_)} labels, "
            f"{model.coef_.shape[1]:,} features; C={model.C_:g}"
        )

    def joined(self, outputs) -> list[str]:
        return [",".join(map(str, labels)) for labels in outputs]

    # use -------------------------------------------------------------------------------

    def known_labels(self, model) -> set:
        return set(self.classes.tolist())

    def taught_labels(self, sample: Sample) -> set:
        return {label for label, _ in self.labels_of(sample)}

    def report(self, model, sample: Sample, outputs):
        return model.evaluate(sample.X, sample.y)

    def numbers(self, report) -> dict[str, Any]:
        return report.as_dict()

    def draw(self, option: str, path: str, model, sample, outputs, report):
        from maxmargin.multilabel.labels import read_sets
        from maxmargin.multilabel.plots import plot_label_scores

        truth, labels = read_sets(sample.y, model.classes_)
        return plot_label_scores(truth, read_sets(outputs, labels)[0], labels)

    # inspection ------------------------------------------------------------------------

    def rows(self, model) -> list[tuple[str, str]]:
        notes = model.notes
        return [
            ("trained on", f"{notes['file']} ({notes['format']})"),
            ("samples", f"{notes['samples']:,}"),
            ("labels", str(len(model.classes_))),
            ("features", f"{model.coef_.shape[1]:,}"),
            ("loss", f"{model.loss}, {model.rescaling} rescaling"),
            ("graph", str(model.graph or "none")),
            ("C", f"{model.C_:g}"),
            ("seconds", seconds_of(model)),
        ]

    def named_rows(self, model) -> list[str]:
        return list(map(str, model.classes_.tolist()))

    def strongest(self, model, args) -> str:
        shown: dict = {name: [] for name in args.label or self.named_rows(model)}
        for label, name, weight in self.weights(model, args):
            shown[label].append(f"{weight:+.3f} {name}")
        lines = [f"{k}: {', '.join(v) or 'no weights'}" for k, v in shown.items()]
        return "\n".join(["Strongest features", "", *lines])


COMMAND = Multilabel
