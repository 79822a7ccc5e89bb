"""What a report shows of rankings: a query with its documents in the order of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.rankings.metrics import AT, ranking_scores
from maxmargin.rankings.queries import Documents, group
from maxmargin.report.charts import short
from maxmargin.report.findings import (
    Findings,
    Kind,
    Test,
    brief,
    columns_of,
    strongest,
)
from maxmargin.report.markup import Markup, element
from maxmargin.report.measures import Measure, share

MOST = 12  # documents of a query that are drawn


class RankFindings(Findings):
    """Examples are queries; outputs are scores of all documents."""

    items = "queries"

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        if not isinstance(test.X, Documents):
            raise ValueError("X has no queries: give the qid of every document.")
        self.grades = np.asarray(test.y, float)
        self.groups = group(test.X.qid, len(self.grades))
        self.rows = list(self.groups)
        self.k = int(getattr(model, "k", 10))

    def __len__(self) -> int:
        return len(self.rows)

    def summary(self, outputs: Any) -> Any:
        at = sorted({*AT, self.k})
        return ranking_scores(
            self.grades, outputs, self.test.X.qid, at, self.model.relevant
        )

    def _each(self, outputs: Any) -> list:
        """The metrics of every query alone."""
        outputs, relevant = np.asarray(outputs, float), self.model.relevant
        return [
            ranking_scores(
                self.grades[r], outputs[r], np.zeros(len(r), int), [self.k], relevant
            )
            for r in self.rows
        ]

    def measures(self, outputs: Any) -> list[Measure]:
        each, k = self._each(outputs), self.k
        return [
            share(f"NDCG@{k}", [q.ndcg[k] for q in each]),
            share(f"P@{k}", [q.precision[k] for q in each]),
            share("MAP", [q.mean_average_precision for q in each]),
            share("MRR", [q.mean_reciprocal_rank for q in each]),
        ]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        """Irrelevant documents in places of relevant ones, and the best of these."""
        return [self._errors(self._order(rows, outputs)) for rows in self.rows]

    def _errors(self, order: np.ndarray) -> list[Kind]:
        grades = self.grades[order]
        relevant = grades >= self.model.relevant
        places = min(int(relevant.sum()), self.k)
        above = grades[:places][~relevant[:places]]
        lost = places - int(relevant[: self.k].sum())
        late = sorted(grades[self.k :][relevant[self.k :]], reverse=True)[:lost]
        what = f"above relevant ones in the first {self.k}"
        kinds = [Kind(f"grade {grade:g}", "", what) for grade in above]
        what = f"below place {self.k}"
        return kinds + [Kind(f"grade {grade:g}", "", what) for grade in late]

    def weight(self, outputs: Any, errors: Sequence[list[Kind]]) -> Sequence[float]:
        each = self._each(outputs)
        lost = [1.0 - q.ndcg[self.k] for q in each]
        return [
            1.0 + loss if kinds else loss
            for loss, kinds in zip(lost, errors, strict=True)
        ]

    def _order(self, rows: np.ndarray, outputs: Any) -> np.ndarray:
        return rows[np.argsort(-np.asarray(outputs, float)[rows], kind="stable")]

    def name(self, i: int) -> str:
        return f"query {self.groups.names[i]}"

    def draw(self, i: int, outputs: Any) -> Markup:
        order = self._order(self.rows[i], outputs)
        most = max(self.grades.max(), 1.0)
        wanted = self.grades[order] >= self.model.relevant
        late = [p for p in np.flatnonzero(wanted) if p >= MOST]
        kept = [*range(min(MOST, len(order))), *late[:4]]
        rows = []
        for place in kept:
            v = order[place]
            grade = self.grades[v]
            style = f"width:{3.5 * grade / most:.2f}rem"
            bar = element("span", element("i", cls="grade", style=style), f"{grade:g}")
            comment = self.test.more[v] if self.test.more is not None else ""
            cells = place + 1, bar, short(float(outputs[v])), self._document(v, comment)
            line = (element("td", cell) for cell in cells)
            cut = place == self.k - 1 and len(order) > self.k
            rows.append(element("tr", *line, cls="cut" if cut else None))
        head = (element("th", t) for t in ("place", "grade", "score", "document"))
        body = element("thead", element("tr", *head)), element("tbody", *rows)
        rest = len(order) - len(kept)
        more = element("p", f"{rest:,} more documents", cls="soft") if rest else ""
        return element("div", element("table", *body), more, cls="scroll")

    def _document(self, v: int, comment: Any) -> Markup | str:
        return brief(comment) if comment else f"document {v + 1}"

    def legend(self) -> Markup:
        text = f"The order is that of the scores; the line is below place {self.k}."
        return element("p", text, cls="soft")

    def weights(self, top: int) -> list[tuple[str, str, float]]:
        return strongest(
            {"": self.model.coef_}, columns_of(self.model, self.test), 2 * top
        )


FINDINGS = RankFindings
