"""The task ``cluster``: which mentions of a document are of one thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.cli.command import Command, Sample, seconds_of


@dataclass
class Cluster(Command):
    """A file is documents with mentions: JSON lines, or CoNLL-2012."""

    format: str = "json"

    name = "cluster"
    about = "Cluster the mentions of documents (coreference)."
    example = """example:
  maxmargin train cluster train.jsonl --r 0.01 -o coref.model
  maxmargin train cluster train.conll --format conll2012 --cv 5 -o coref.model
  maxmargin predict coref.model new.jsonl -o clustered.jsonl
  maxmargin evaluate coref.model test.jsonl --plot worst.png

A line of JSON is a document with sentences and mentions; see docs/clustering.md. Files may
be compressed with gzip."""
    items = "documents"
    estimators = {"svm": "LinkClusterer"}
    hidden = frozenset({"init", "fit_intercept"})
    usual = (0.001, 0.01, 0.1, 1.0)
    options = """
    the file
      --format json|conll2012=json  json (default): a document per line; conll2012: a word
          per line
      --encoding NAME=utf-8  default: utf-8
    the model
      --method forest|correlation  clusters by latent forests of links (default), or by the
          scores of all pairs
      --r  cost of a link between clusters, beside 1 for a missing one (default: 0.5)
      --C  weight of the data, per document (default: 0.1)
      --n-restarts  starts; those after the first are random
      --max-outer  outer steps of a start
      --self-paced  easy documents first
      --window  mentions before each that it is compared with (default: 1000)
      --pair-memory  bytes that the pairs of mentions may take (default: 4e9)
    """

    def learn(self, path: str, args) -> Sample:
        return self.read(path, True)

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        mentions = sum(len(x.mentions) for x in sample.X)
        clusters = sum(len(set(y)) for y in sample.y)
        counts = {"documents": len(sample), "mentions": mentions, "clusters": clusters}
        return {**super().notes(model, sample), **counts}

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        from maxmargin.clusterings.metrics import cluster_scores

        report = cluster_scores(sample.y, outputs)
        return {"CoNLL F1": report.conll, "pair loss": report.pair_loss / 100}

    def summary(self, model) -> str:
        notes = model.notes
        return (
            f"{notes['documents']:,} documents, {notes['mentions']:,} mentions, "
            f"{notes['clusters']:,} clusters, {len(model.coef_):,} features; C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        if self.format == "conll2012":
            from maxmargin.clusterings.conll import read_conll2012

            found = read_conll2012(path, self.encoding)
        else:
            from maxmargin.clusterings.json_lines import read_mentions

            found = read_mentions(path, truth, self.encoding)
        return Sample(found.X, found.y if truth else None, found.path)

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        if self.format == "conll2012":
            from maxmargin.clusterings.conll import write_conll2012 as write
        else:
            from maxmargin.clusterings.json_lines import write_mentions as write
        write(path, sample.X, outputs, self.encoding)

    # use -------------------------------------------------------------------------------

    def report(self, model, sample: Sample, outputs):
        from maxmargin.clusterings.metrics import cluster_scores

        return cluster_scores(sample.y, outputs)

    def numbers(self, report) -> dict[str, Any]:
        return report.as_dict()

    def draw(self, option: str, path: str, model, sample, outputs, report):
        """The document with the largest MITRE loss."""
        from maxmargin.clusterings.metrics import cluster_scores
        from maxmargin.clusterings.plots import plot_clusters

        def loss(i: int) -> float:
            return cluster_scores([sample.y[i]], [outputs[i]]).mitre_loss

        worst = max(range(len(sample)), key=loss)
        links = model.predict_links([sample.X[worst]])[0]
        return plot_clusters(sample.X[worst], outputs[worst], links, sample.y[worst])

    # inspection ------------------------------------------------------------------------

    def rows(self, model) -> list[tuple[str, str]]:
        notes = model.notes
        return [
            ("trained on", f"{notes['file']} ({notes['format']})"),
            ("documents", f"{notes['documents']:,}"),
            ("mentions", f"{notes['mentions']:,} in {notes['clusters']:,} clusters"),
            ("types", ", ".join(model.types_) or "none"),
            ("features", f"{len(model.coef_):,}"),
            ("method", f"{model.method}, r={model.r:g}, C={model.C_:g}"),
            ("seconds", seconds_of(model)),
        ]

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        named = zip(model.feature_names_, model.coef_.tolist(), strict=True)
        rows = [(name, w) for name, w in named if w != 0.0]
        rows.sort(key=lambda row: -abs(row[1]))
        return [("pairs", *row) for row in rows[: args.top]]


COMMAND = Cluster
