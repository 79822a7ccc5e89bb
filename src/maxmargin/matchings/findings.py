"""What a report shows of word alignments: a table of both sentences with its links."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.matchings.input import check_pairs
from maxmargin.matchings.metrics import (
    aer_of,
    alignment_scores,
    as_links,
    count_links,
    wrong_links,
)
from maxmargin.report.findings import Findings, Kind, Test
from maxmargin.report.markup import Markup, element
from maxmargin.report.measures import Measure, rows_of, share

LONGEST = 60  # words of a sentence that is drawn as a table


class MatchFindings(Findings):
    """Sentence pairs and the links between their words."""

    items = "sentence pairs"

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        self.pairs = check_pairs(test.X).pairs
        self.truth = [as_links(z, f"y[{i}]") for i, z in enumerate(test.y)]

    def summary(self, outputs: Any) -> Any:
        return alignment_scores(self.truth, outputs)

    def measures(self, outputs: Any) -> list[Measure]:
        found = [as_links(z, "prediction") for z in outputs]
        rows = rows_of(list(map(count_links, self.truth, found)), 4)
        return [
            Measure("AER", rows, _aer, smaller=True, about="alignment error rate"),
            share("precision", rows[:, 3], rows[:, 0]),
            share("recall", rows[:, 2], rows[:, 1], about="of sure links"),
        ]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        kinds = []
        for i, found in enumerate(outputs):
            both = wrong_links(self.truth[i], found)
            named = zip(("missed", "invented"), map(sorted, both), strict=True)
            said = [
                self._said(i, link, what) for what, links in named for link in links
            ]
            kinds.append([Kind("", "", text) for text in said])
        return kinds

    def _said(self, i: int, pair: tuple[int, int], what: str) -> str:
        """Links of short words, such as articles, apart from others."""
        source, target = self.pairs[i]
        short = max(len(source[pair[0]]), len(target[pair[1]])) <= 3
        return f"link {what}{', short words' if short else ''}"

    def name(self, i: int) -> str:
        return str(self.test.more[i]) if self.test.more else f"pair {i + 1}"

    def draw(self, i: int, outputs: Any) -> Markup:
        source, target = self.pairs[i]
        missed, wrong = wrong_links(self.truth[i], outputs[i])
        if max(len(source), len(target)) > LONGEST:
            text = f"{' '.join(source)}\n{' '.join(target)}"
            bad = ", ".join(
                f"{source[a]} with {target[b]}" for a, b in sorted(missed | wrong)
            )
            return element("p", text, element("br"), "wrong links: ", bad, cls="text")
        links = set(map(tuple, outputs[i]))
        rows = []
        for a, word in enumerate(source):
            cells = [element("th", word, scope="row")]
            for b in range(len(target)):
                sign, cls = "", None
                if (a, b) in wrong:
                    sign, cls = "✗", "bad-text"
                elif (a, b) in links:
                    sign, cls = "●", "good-text"
                elif (a, b) in missed:
                    sign, cls = "○", "bad-text"
                cells.append(element("td", sign, cls=cls))
            rows.append(element("tr", *cells))
        head = element("tr", element("th"), *(element("th", word) for word in target))
        body = element("thead", head), element("tbody", *rows)
        return element("div", element("table", *body, cls="links"), cls="scroll")

    def legend(self) -> Markup:
        text = "● is a right link, ✗ a wrong one, ○ a sure one that was missed."
        return element("p", text, cls="soft")


FINDINGS = MatchFindings


def _aer(sums: np.ndarray) -> np.ndarray:
    return np.vectorize(aer_of)(*np.moveaxis(sums, -1, 0))
