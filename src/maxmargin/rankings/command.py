"""The task ``rank``: documents of queries, the relevant ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.cli.command import Command, Sample, seconds_of


@dataclass
class Rank(Command):
    """Lines are a grade, a query and a vector; ``more`` of a sample are its comments."""

    name = "rank"
    about = "Rank the documents of queries, one per line, the relevant ones first."
    example = """example:
  maxmargin train rank train.txt -o ranker.model
  maxmargin train rank train.txt --loss pairwise --dev vali.txt --path 0.1,1,10 -o r.model
  maxmargin predict ranker.model test.txt -o scores.txt

Lines are GRADE qid:QUERY 1:0.5 2:0.1 ... #comment, as in LETOR; see docs/ranking.md. Files
may be compressed with gzip."""
    items = "documents"
    estimators = {"svm": "TopKRanker"}
    hidden = frozenset({"objective"})
    options = """
    the file
      --encoding NAME=utf-8  default: utf-8
    the model
      --loss precision|ndcg|average-precision|pairwise  what a ranking is judged by
          (default: ndcg)
      --k  places that count, for precision; for ndcg, those that are reported
      --relevant  the lowest grade that is relevant
      --C  weight of the data (default: 2 / total variance of the features)
      --init classification|random  where precision begins (default: classification)
      --n-restarts  starts, of which the best is kept, for precision
      --max-outer  outer steps of a start, for precision
      --self-paced  easy queries first, for precision
    """

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
        found = {
            "precision": (f"P@{model.k}", report.precision[model.k]),
            "ndcg": (f"NDCG@{model.k}", report.ndcg[model.k]),
        }
        first = found.get(model.loss, ("MAP", report.mean_average_precision))
        return dict([first, *found.values(), ("MAP", report.mean_average_precision)])

    def summary(self, model) -> str:
        notes = model.notes
        return (
            f"{notes['documents']:,} documents of {notes['queries']:,} queries, "
            f"{len(model.coef_):,} features; C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        from maxmargin.rankings.files import read_letor
        from maxmargin.rankings.queries import Documents

        found = read_letor(path, self.width, self.encoding)
        X, groups = Documents(found.X, found.qid), found.qid.tolist()
        return Sample(
            X, found.y.tolist(), found.path, found.where, None, groups, found.comments
        )

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """A score per line, in the order of the documents."""
        from maxmargin.rankings.files import write_scores

        write_scores(path, outputs)

    # use -------------------------------------------------------------------------------

    def check_truth(self, model, sample: Sample, train: Sample | None = None) -> str:
        if max(sample.y) < model.relevant:
            raise ValueError(
                f"{sample.path} has no relevant document (of grade {model.relevant:g} or "
                "more), so there is nothing to compare with: are grades missing?"
            )
        return ""

    def report(self, model, sample: Sample, outputs):
        from maxmargin.rankings.metrics import AT, ranking_scores

        at = sorted({*AT, model.k})
        return ranking_scores(sample.y, outputs, sample.X.qid, at, model.relevant)

    def numbers(self, report) -> dict[str, Any]:
        return report.as_dict()

    def draw(self, option: str, path: str, model, sample, outputs, report):
        from maxmargin.rankings.plots import plot_ranking_curves

        metric = "ndcg" if model.loss == "ndcg" else "precision"
        scores = {"TopKRanker": outputs}
        if hasattr(model, "initial_"):
            scores["where it began"] = sample.X.X @ model.initial_
        return plot_ranking_curves(sample.y, scores, sample.X.qid, metric)

    # inspection ------------------------------------------------------------------------

    def rows(self, model) -> list[tuple[str, str]]:
        notes = model.notes
        return [
            ("trained on", notes["file"]),
            ("documents", f"{notes['documents']:,} of {notes['queries']:,} queries"),
            ("features", f"{len(model.coef_):,}"),
            ("loss", f"{model.loss}, k={model.k}, relevant from {model.relevant:g}"),
            ("C", f"{model.C_:g}"),
            ("seconds", seconds_of(model)),
        ]

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        import numpy as np

        w = model.coef_
        best = np.argsort(-np.abs(w), kind="stable")[: args.top]
        return [("", str(j + 1), float(w[j])) for j in best.tolist() if w[j] != 0]


COMMAND = Rank
