"""How the task ``rank`` runs: its files, measures and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.cli.command import Command, Sample
from maxmargin.rankings.command import RankTask
from maxmargin.rankings.files import read_letor, write_scores
from maxmargin.rankings.plots import plot_ranking_curves
from maxmargin.rankings.queries import Documents
from maxmargin.rankings.scorers import (
    mean_average_precision,
    ndcg_at,
    precision_at,
)


@dataclass
class Rank(RankTask, Command):
    """Lines are a grade, a query and a vector; ``more`` of a sample are its comments."""

    width = None  # columns of vectors

    @classmethod
    def of(cls, model) -> Rank:
        run = super().of(model)
        run.width = len(model.coef_)
        return run

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        sizes = {"documents": len(sample), "queries": len(set(sample.groups))}
        return {**super().notes(model, sample), **sizes}

    def learn(self, path: str, args) -> Sample:
        sample = self.read(path, True)
        self.width = sample.X.shape[1]
        return sample

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        report = self.report(model, sample, outputs)
        found = {"precision": precision_at(model.k), "ndcg": ndcg_at(model.k)}
        first = found.get(model.loss, mean_average_precision)
        chosen = first, *found.values(), mean_average_precision
        return {scorer.title: scorer.value(report) for scorer in chosen}

    def summary(self, model) -> str:
        notes = model.notes
        return (
            f"{notes['documents']:,} documents of {notes['queries']:,} queries, "
            f"{len(model.coef_):,} features; C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        found = read_letor(path, self.width, self.encoding)
        X, groups = Documents(found.X, found.qid), found.qid.tolist()
        return Sample(
            X, found.y.tolist(), found.path, found.where, None, groups, found.comments
        )

    def inputs(self, sample: Sample) -> list[tuple]:
        return list(zip(sample.groups, sample.more, strict=True))

    def record(self, x, output, chance=None) -> dict[str, Any]:
        return {"query": x[0], "document": x[1], "score": output}

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """A score per line, in the order of the documents."""
        write_scores(path, outputs)

    # use -------------------------------------------------------------------------------

    def check_truth(self, model, sample: Sample, train: Sample | None = None) -> str:
        if max(sample.y) < model.relevant:
            raise ValueError(
                f"{sample.path} has no relevant document (of grade {model.relevant:g} or "
                "more), so there is nothing to compare with: are grades missing?"
            )
        return ""

    def draw(self, option: str, path: str, model, sample, outputs, report):
        metric = "ndcg" if model.loss == "ndcg" else "precision"
        scores = {"TopKRanker": outputs}
        if hasattr(model, "initial_"):
            scores["where it began"] = sample.X.X @ model.initial_
        return plot_ranking_curves(sample.y, scores, sample.X.qid, metric)

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        return [
            ("documents", f"{notes['documents']:,} of {notes['queries']:,} queries"),
            ("features", f"{len(model.coef_):,}"),
            ("loss", f"{model.loss}, k={model.k}, relevant from {model.relevant:g}"),
            ("C", f"{model.C_:g}"),
        ]

    def named_weights(self, model):
        named = enumerate(model.coef_.tolist(), 1)
        return [("", str(number), weight) for number, weight in named if weight != 0]


RUN = Rank
