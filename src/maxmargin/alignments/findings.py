"""What a report shows of alignments: rows with the matches that are right or wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.alignments.features.encoder import length_of
from maxmargin.alignments.files.pairs import gapped
from maxmargin.alignments.input import check_alignments, check_sequences, matched_pairs
from maxmargin.alignments.metrics import alignment_report
from maxmargin.report.findings import Findings, Kind, Test, chosen
from maxmargin.report.markup import Markup, element, joined, named
from maxmargin.report.measures import Measure, share

COLUMNS, LONGEST, NEAR = 72, 3000, 4  # of a line, of an alignment; a near shift
MARKS = {"|": "ok", "x": "no", "o": "no"}


class AlignmentFindings(Findings):
    """Pairs of sequences and who is matched with whom."""

    items = "alignments"

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        self.sides = check_sequences(test.X)
        labels, counts = check_alignments(test.y, *self.sides)
        ends = np.cumsum([length_of(target) for target in self.sides[0]])[:-1]
        self.truth = [matched_pairs(row) for row in np.split(labels, ends)]
        self.core: list[list[bool] | None] = []
        for row, good in zip(
            np.split(labels, ends), np.split(counts, ends), strict=True
        ):
            self.core.append(None if good.all() else good[row >= 0].tolist())

    def __len__(self) -> int:
        return len(self.truth)

    def summary(self, outputs: Any) -> Any:
        families = [getattr(y, "family", "") for y in self.test.y]
        groups = families if all(families) else None
        return alignment_report(self.truth, outputs, self.core, groups)

    def measures(self, outputs: Any) -> list[Measure]:
        each = alignment_report(self.truth, outputs, self.core).each
        abouts = (
            "true matches that were found",
            "the same, shifts of up to 4 forgiven",
            "predicted matches that are right",
        )
        return [
            share(name, column, about=f"mean share of {about}")
            for name, column, about in zip(
                ("Q", "Q4", "f_M"), each.T, abouts, strict=True
            )
        ]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        return list(map(_errors, self.truth, self.core, outputs))

    def name(self, i: int) -> str:
        if self.test.more is not None:
            pair = self.test.more[i]
            return f"{pair.name_a} and {pair.name_b}"
        return f"pair {i + 1}"

    def _letters(self, i: int) -> tuple[str, str]:
        return _spelled(self.sides[0][i]), _spelled(self.sides[1][i])

    def draw(self, i: int, outputs: Any) -> Markup:
        truth, found = set(self.truth[i]), set(map(tuple, outputs[i]))
        parts = [self.draw_other(i, outputs)]
        if truth != found:
            good = {pair: "|" if pair in found else "o" for pair in truth}
            parts.append(named("truth", self._rows(i, good)))
        return joined(parts)

    def draw_other(self, i: int, outputs: Any) -> Markup:
        truth = set(self.truth[i])
        marks = {tuple(p): "|" if tuple(p) in truth else "x" for p in outputs[i]}
        return named("predicted", self._rows(i, marks))

    def _rows(self, i: int, marks: dict[tuple[int, int], str]) -> Markup:
        """Both rows in lines of ``COLUMNS``, with a mark at every match."""
        a, b = self._letters(i)
        pairs = sorted(marks)
        above, below = gapped(a, b, pairs)
        signs = iter(marks[pair] for pair in pairs)
        between = "".join(
            " " if "-" in (x, y) else next(signs)
            for x, y in zip(above, below, strict=True)
        )
        lines = []
        for at in range(0, min(len(above), LONGEST), COLUMNS):
            cut = slice(at, at + COLUMNS)
            lines += [
                above[cut],
                "\n",
                _coloured(between[cut]),
                "\n",
                below[cut],
                "\n\n",
            ]
        if len(above) > LONGEST:
            lines.append(f"… {len(above) - LONGEST:,} more columns")
        return element("pre", *lines, cls="aligned")

    def legend(self) -> Markup:
        parts = (
            element("code", element("span", "|", cls="ok")),
            " is a match in both, ",
            element("code", element("span", "x", cls="no")),
            " a predicted match that is wrong, ",
            element("code", element("span", "o", cls="no")),
            " a true one that was missed.",
        )
        return element("p", *parts, cls="soft aligned-key")

    def chances(self, outputs: Any, few: Any) -> Any:
        said, right = [], []
        tables = self.model.predict_marginals(chosen(self.test.X, few))
        for i, table in zip(few, tables, strict=True):
            true = set(self.truth[i])
            for u, v in outputs[i]:
                said.append(float(table[u, v]))
                right.append((u, v) in true)
        return said, right


FINDINGS = AlignmentFindings


def _errors(truth: list, core: list[bool] | None, found: Any) -> list[Kind]:
    """True matches that were shifted or missed, and matches of what has no partner."""
    known = dict(truth)
    counted = (
        truth if core is None else [p for p, c in zip(truth, core, strict=True) if c]
    )
    partner = {int(u): int(v) for u, v in found}
    taken = set(partner.values())
    kinds = []
    for u, v in counted:
        other = partner.get(u)
        if other is None:
            what = "match missed" if v not in taken else "partner matched elsewhere"
            kinds.append(Kind("", "", what))
        elif other != v:
            near = abs(other - v) <= NEAR
            much = f"up to {NEAR}" if near else f"more than {NEAR}"
            kinds.append(Kind("", "", f"match shifted by {much}"))
    if core is None:
        ends = set(known.values())
        free = [u for u, v in partner.items() if u not in known and v not in ends]
        kinds += [Kind("", "", "match where both stand against gaps")] * len(free)
    return kinds


def _spelled(tracks: dict) -> str:
    """The letters of a sequence: its first track, one character per position."""
    own = next(iter(tracks.values()))
    if isinstance(own, str):
        return own
    texts = list(map(str, own)) if np.ndim(own) < 2 else []
    letters = "".join(text if len(text) == 1 else "?" for text in texts)
    return letters or "?" * length_of(tracks)


def _coloured(marks: str) -> Markup:
    return joined(
        element("span", sign, cls=MARKS[sign]) if sign in MARKS else sign
        for sign in marks
    )
