"""What a report shows of trees: the true and the predicted one, with their differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from maxmargin.report.findings import Findings, Kind, Test, chosen
from maxmargin.report.markup import Markup, element, joined
from maxmargin.report.measures import Measure, f1, share
from maxmargin.trees.explaining import named_weights
from maxmargin.trees.input import read_trees_of
from maxmargin.trees.metrics import score_brackets, wrong_brackets, wrong_tags
from maxmargin.trees.report import is_exact
from maxmargin.trees.svg import tree_svg
from maxmargin.trees.tree import Tree

LONGEST = 70  # words of a sentence whose trees are drawn


class TreeFindings(Findings):
    """Sentences and their trees; an output is None where there is no parse."""

    items = "sentences"

    def __init__(self, model: Any, test: Test):
        super().__init__(model, replace(test, y=read_trees_of(test.y)))

    def summary(self, outputs: Any) -> Any:
        return score_brackets(self.test.y, outputs)

    def measures(self, outputs: Any) -> list[Measure]:
        report = score_brackets(self.test.y, outputs)
        rows = report.sentences
        there = [row.status != "skipped" for row in rows]
        exact = list(map(is_exact, rows))
        words = [row.words for row in rows]
        return [
            f1("bracket F1", report.table()),
            share("trees all right", exact, there),
            share("tagging accuracy", [row.correct_tags for row in rows], words),
        ]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        return list(map(_errors, self.test.y, outputs))

    def name(self, i: int) -> str:
        return f"sentence {i + 1}"

    def draw(self, i: int, outputs: Any) -> Markup:
        gold, found = self.test.y[i], outputs[i]
        if not _comparable(gold, found) or len(gold.words()) > LONGEST:
            return self._as_text(gold, found)
        missed, _ = wrong_brackets(gold, found)
        tags = wrong_tags(gold, found)
        same = not missed and not tags and gold == found
        below = self._found(i, outputs)
        above = (
            [] if same else [element("h4", "truth"), _svg(gold, missed, tags, False)]
        )
        return element("div", element("h4", "predicted"), below, *above, cls="tree")

    def draw_other(self, i: int, outputs: Any) -> Markup:
        gold, found = self.test.y[i], outputs[i]
        if not _comparable(gold, found) or len(gold.words()) > LONGEST:
            return self._as_text(gold, found)
        return element("div", self._found(i, outputs), cls="tree")

    def _found(self, i: int, outputs: Any) -> Markup:
        gold, found = self.test.y[i], outputs[i]
        wrong = wrong_brackets(gold, found)[1]
        return _svg(found, wrong, wrong_tags(gold, found), True)

    def _as_text(self, gold: Tree, found: Tree | None) -> Markup:
        text = "no tree was found" if found is None else found.pretty()
        parts = ("predicted", text), ("truth", gold.pretty())
        return joined(
            part
            for title, tree in parts
            for part in (element("h4", title), element("pre", tree))
        )

    def legend(self) -> Markup:
        text = (
            "Phrases and tags in full boxes are wrong, those in dashed ones were missed. "
            "Roots and punctuation do not count, as for evalb."
        )
        return element("p", text, cls="soft")

    def weights(self, top: int) -> list[tuple[str, str, float]]:
        return named_weights(self.model, top)

    def chances(self, outputs: Any, few: Any) -> Any:
        said, right = [], []
        tables = self.model.predict_marginals(chosen(self.test.X, few))
        for i, known in zip(few, tables, strict=True):
            true = set(self.test.y[i].spans())
            for bracket in outputs[i].spans() if outputs[i] is not None else ():
                said.append(known.get(bracket, 0.0))
                right.append(bracket in true)
        return said, right


FINDINGS = TreeFindings


def _svg(tree: Tree, marked: Any, tags: Any, found: bool) -> Markup:
    return Markup(tree_svg(tree, marked, tags, found))


def _comparable(gold: Tree, found: Tree | None) -> bool:
    return found is not None and gold.words() == found.words()


def _errors(gold: Tree, found: Tree | None) -> list[Kind]:
    """Brackets with another label, missed or invented, and wrong tags."""
    if found is None:
        return [Kind("", "", "no tree found")]
    if not _comparable(gold, found):
        return []
    missed, wrong = wrong_brackets(gold, found)
    true, other = gold.spans(), found.spans()
    invented = Counter(other[k] for k in wrong)
    kinds = []
    for k in sorted(missed):
        label, begin, end = true[k]
        same = next(
            (b for b in invented if invented[b] and b[1:] == (begin, end)), None
        )
        if same is None:
            kinds.append(Kind(label, ""))
        else:
            invented[same] -= 1
            kinds.append(Kind(label, same[0]))
    kinds += [Kind("", label) for label, _, _ in invented.elements()]
    a, b = gold.tags(), found.tags()
    tags = sorted(wrong_tags(gold, found))
    return kinds + [Kind("", "", f"tag {a[k][1]} taken for {b[k][1]}") for k in tags]
