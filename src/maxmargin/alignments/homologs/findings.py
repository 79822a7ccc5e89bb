"""What a report shows of homologs: the native, its homolog, and what was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.alignments.homologs.input import check_inputs, check_numbers
from maxmargin.report.findings import Findings, Kind, Test, brief
from maxmargin.report.markup import Markup, element, named
from maxmargin.report.measures import Measure, share


class HomologFindings(Findings):
    """Native sequences with candidates; an output is the number of one of these."""

    items = "natives"

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        self.inputs = check_inputs(test.X)
        self.truth = check_numbers(self.inputs, test.y).tolist()

    def measures(self, outputs: Any) -> list[Measure]:
        return [share("homologs found", np.asarray(outputs) == self.truth)]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        wrong = Kind("", "", "another candidate chosen")
        return [
            [wrong] if a != b else [] for a, b in zip(self.truth, outputs, strict=True)
        ]

    def name(self, i: int) -> str:
        return f"native {i + 1}"

    def draw(self, i: int, outputs: Any) -> Markup:
        native, candidates = self.inputs[i]
        rows = [("native", native), ("homolog", candidates[self.truth[i]])]
        if outputs[i] != self.truth[i]:
            rows.append(("chosen", candidates[outputs[i]]))
        lines = (named(title, element("code", brief(text))) for title, text in rows)
        return element("div", *lines)

    def weights(self, top: int) -> list[tuple[str, str, float]]:
        table, letters = self.model.substitution_matrix_, self.model.alphabet_
        order = np.argsort(-np.abs(table), axis=None, kind="stable")[: 2 * top]
        places = np.stack(np.unravel_index(order, table.shape), axis=1).tolist()
        return [
            ("substitutions", f"{letters[i]} with {letters[j]}", float(table[i, j]))
            for i, j in places
            if table[i, j]
        ]


FINDINGS = HomologFindings
