"""What a report shows of motifs: sequences with their best sites."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.core.objects import letters_of
from maxmargin.report.charts import short
from maxmargin.report.findings import Findings, Kind, Test
from maxmargin.report.markup import Markup, element
from maxmargin.report.measures import Measure, share

AROUND = 120  # letters on either side of a site
MISSED = "with the motif, but not found"
INVENTED = "found, but without the motif"


class MotifFindings(Findings):
    """Sequences; an output is a site, whose score is above 0 if the motif is there."""

    items = "sequences"

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        self.truth = [bool(y == model.positive_) for y in test.y]

    def predict(self) -> list:
        return self.model.predict_sites(self.test.X)

    def summary(self, outputs: Any) -> Any:
        hits = sum(a and z.score > 0 for a, z in zip(self.truth, outputs, strict=True))
        found = sum(z.score > 0 for z in outputs)
        return (
            f"sequences   {len(self):,}, {sum(self.truth):,} of them positive\n"
            f"found       {found:,}, {hits:,} of them rightly"
        )

    def measures(self, outputs: Any) -> list[Measure]:
        truth, found = np.array(self.truth), np.array([z.score > 0 for z in outputs])
        return [
            share("accuracy", truth == found),
            share("precision", truth & found, found),
            share("recall", truth & found, truth),
        ]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        pairs = [(a, z.score > 0) for a, z in zip(self.truth, outputs, strict=True)]
        return [
            [] if a == b else [Kind("", "", MISSED if a else INVENTED)]
            for a, b in pairs
        ]

    def weight(self, outputs: Any, errors: Sequence[list[Kind]]) -> Sequence[float]:
        """Sure errors are the worst; unsure ones come first of those that are right."""
        size = [abs(z.score) for z in outputs]
        return [1.0 + s if kinds else -s for s, kinds in zip(size, errors, strict=True)]

    def name(self, i: int) -> str:
        return str(self.test.more[i]) if self.test.more else f"sequence {i + 1}"

    def draw(self, i: int, outputs: Any) -> Markup:
        letters, site = letters_of(self.test.X[i], f"X[{i}]"), outputs[i]
        begin, end = max(0, site.start - AROUND), site.end + AROUND
        cls = "good-text" if (site.score > 0) == self.truth[i] else "bad-text"
        said = "found" if site.score > 0 else "not found"
        truth = "has the motif" if self.truth[i] else "does not have it"
        head = element(
            "p",
            element("span", f"Motif {said}", cls=cls),
            f", score {short(site.score)}; the sequence {truth}. The best site is at "
            f"{site.start + 1} to {site.end}, strand {site.strand}.",
        )
        line = element(
            "p",
            "… " if begin else "",
            letters[begin : site.start],
            element(
                "span", letters[site.start : site.end], cls="site", style="--h:205"
            ),
            letters[site.end : end],
            " …" if end < len(letters) else "",
            cls="mono",
        )
        return element("div", head, line)

    def weights(self, top: int) -> list[tuple[str, str, float]]:
        table = self.model.log_odds()
        return [
            (f"position {j + 1}", letter, float(weight))
            for j, row in enumerate(table)
            for letter, weight in zip("ACGT", row, strict=True)
        ]


FINDINGS = MotifFindings
