"""What a report shows of dependency trees: sentences with wrong arcs, and true ones."""

from __future__ import annotations

from typing import Any

from maxmargin.dependencies.explaining import named_weights
from maxmargin.dependencies.metrics import PUNCTUATION, attachment_scores
from maxmargin.dependencies.svg import arcs_svg, unpacked
from maxmargin.report.findings import Findings, Kind, chosen
from maxmargin.report.markup import Markup, element
from maxmargin.report.measures import Measure, share

LONGEST = 60  # words of a sentence that is drawn


class DependencyFindings(Findings):
    """Examples are sentences; errors are words with another head or label."""

    items = "sentences"

    def summary(self, outputs: Any) -> Any:
        return attachment_scores(self.test.X, self.test.y, outputs)

    def measures(self, outputs: Any) -> list[Measure]:
        rows = self.summary(outputs).sentences
        words = [row.words for row in rows]
        plain = [row.plain_words for row in rows]
        return [
            share("LAS", [row.both for row in rows], words),
            share("UAS", [row.heads for row in rows], words),
            share("UAS without punctuation", [row.plain_heads for row in rows], plain),
            share("complete sentences", [row.heads == row.words for row in rows]),
        ]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        rows = zip(self.test.X, self.test.y, outputs, strict=True)
        return [_errors(x, *unpacked(y), *unpacked(found)) for x, y, found in rows]

    def name(self, i: int) -> str:
        return f"sentence {i + 1}"

    def draw(self, i: int, outputs: Any) -> Markup:
        sentence, (gold, names) = list(self.test.X[i]), unpacked(self.test.y[i])
        heads, labels = unpacked(outputs[i])
        if len(sentence) > LONGEST:
            return element("p", " ".join(word for word, _ in sentence))
        wrong = {
            m
            for m in range(1, len(sentence) + 1)
            if (heads[m - 1], labels[m - 1]) != (gold[m - 1], names[m - 1])
        }
        missed = [(gold[m - 1], m, names[m - 1]) for m in sorted(wrong)]
        picture = Markup(arcs_svg(sentence, heads, labels, wrong, missed))
        return element("div", picture, cls="scroll")

    def legend(self) -> Markup:
        text = (
            "Wrong arcs are orange, the true ones in their place dashed below. Arrows lead "
            "from a head to the word that it is the head of."
        )
        return element("p", text, cls="soft")

    def weights(self, top: int) -> list[tuple[str, str, float]]:
        return named_weights(self.model, top)

    def chances(self, outputs: Any, few: Any) -> Any:
        X, y = chosen(self.test.X, few), chosen(self.test.y, few)
        found = self.model._chances(X, y, [outputs[i] for i in few])
        return found.said.tolist(), found.right.tolist()


FINDINGS = DependencyFindings


def _errors(sentence, gold, names, heads, labels) -> list[Kind]:
    """Wrong labels by label; wrong heads by the tag of the word."""
    kinds = []
    for m, (_, tag) in enumerate(sentence):
        if gold[m] != heads[m]:
            what = "punctuation" if tag in PUNCTUATION else "head wrong"
            kinds.append(Kind(tag, "", what))
        elif names[m] != labels[m]:
            kinds.append(Kind(names[m] or "", labels[m] or ""))
    return kinds
