"""How the task ``cluster`` runs: its files, measures and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.cli.command import Command, Sample
from maxmargin.clusterings.command import ClusterTask
from maxmargin.clusterings.conll import read_conll2012, write_conll2012
from maxmargin.clusterings.json_lines import (
    document_json,
    read_mentions,
    write_mentions,
)
from maxmargin.clusterings.metrics import cluster_scores
from maxmargin.clusterings.plots import plot_clusters
from maxmargin.clusterings.scorers import conll_f1, pair_loss


@dataclass
class Cluster(ClusterTask, Command):
    """A file is documents with mentions: JSON lines, or CoNLL-2012."""

    format: str = "json"

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        mentions = sum(len(x.mentions) for x in sample.X)
        clusters = sum(len(set(y)) for y in sample.y)
        counts = {"documents": len(sample), "mentions": mentions, "clusters": clusters}
        return {**super().notes(model, sample), **counts}

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        report = self.report(model, sample, outputs)
        found = {scorer.title: scorer.value(report) for scorer in (conll_f1, pair_loss)}
        return found | {pair_loss.title: report.pair_loss / 100}  # it is in per cent

    def summary(self, model) -> str:
        notes = model.notes
        return (
            f"{notes['documents']:,} documents, {notes['mentions']:,} mentions, "
            f"{notes['clusters']:,} clusters, {len(model.coef_):,} features; C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        if self.format == "conll2012":
            found = read_conll2012(path, self.encoding)
        else:
            found = read_mentions(path, truth, self.encoding)
        return Sample(found.X, found.y if truth else None, found.path)

    @property
    def native(self) -> str:
        return "conll2012" if self.format == "conll2012" else "jsonl"

    def record(self, x, output, chance=None) -> dict[str, Any]:
        return document_json(x, output)

    def cells(self, record):
        """A mention per row, with its words and the number of its cluster."""
        for s, first, last, cluster, *_ in record["mentions"]:
            text = " ".join(record["sentences"][s][first : last + 1])
            place = {"sentence": s, "first": first, "last": last, "text": text}
            yield {"doc": record["doc"], **place, "cluster": cluster}

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        form = self.form or self.native
        write = write_conll2012 if form == "conll2012" else write_mentions
        write(path, sample.X, outputs, self.encoding)

    # use -------------------------------------------------------------------------------

    def draw(self, option: str, path: str, model, sample, outputs, report):
        """The document with the largest MITRE loss."""

        def loss(i: int) -> float:
            return cluster_scores([sample.y[i]], [outputs[i]]).mitre_loss

        worst = max(range(len(sample)), key=loss)
        links = model.predict_links([sample.X[worst]])[0]
        return plot_clusters(sample.X[worst], outputs[worst], links, sample.y[worst])

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        return [
            ("documents", f"{notes['documents']:,}"),
            ("mentions", f"{notes['mentions']:,} in {notes['clusters']:,} clusters"),
            ("types", ", ".join(model.types_) or "none"),
            ("features", f"{len(model.coef_):,}"),
            ("method", f"{model.method}, r={model.r:g}, C={model.C_:g}"),
        ]

    def named_weights(self, model):
        named = zip(model.feature_names_, model.coef_.tolist(), strict=True)
        return [("pairs", name, weight) for name, weight in named if weight != 0.0]


RUN = Cluster
