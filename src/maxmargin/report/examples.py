"""Which examples are drawn, and tables of the kinds of errors that lead to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from maxmargin.report.charts import bar
from maxmargin.report.findings import Kind
from maxmargin.report.markup import Markup, element, joined

KINDS, LABELS = 60, 18  # rows of the table of kinds, labels of a confusion matrix
OF_EACH, RIGHT = 8, 12  # examples of every kind, and without errors
ONLY = ("only this model is right", "only the other model is right")
FEWER = ("fewer errors by this model", "fewer errors by the other model")


@dataclass
class Errors:
    """The errors of all examples, and the few examples that are drawn.

    ``marks`` has further groups of examples, by name, such as those that only one of two
    models gets right.
    """

    found: list[list[Kind]]
    limit: int
    weight: Sequence[float]
    marks: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.counts = Counter(kind for row in self.found for kind in row)
        self.kinds = [kind for kind, _ in self.counts.most_common(KINDS)]
        self.wrong = [i for i, row in enumerate(self.found) if row]
        self.shown = self._choose()

    def _choose(self) -> list[int]:
        """The worst, some of every kind and of every mark; the worst first."""
        order = np.argsort(-np.asarray(self.weight, float), kind="stable").tolist()
        rng = np.random.default_rng(0)
        few: Counter = Counter()
        wanted = set(self.kinds)
        chosen = dict.fromkeys(i for i in order[: self.limit // 6] if self.found[i])
        groups = [rng.permutation(rows).tolist() for rows in self.marks.values()]
        chosen |= dict.fromkeys(i for rows in groups for i in rows[: 2 * OF_EACH])
        for i in chosen:
            few.update(set(self.found[i]))
        for i in rng.permutation(self.wrong).tolist():
            if len(chosen) >= self.limit:
                break
            if any(few[kind] < OF_EACH for kind in wanted.intersection(self.found[i])):
                chosen[i] = None
                few.update(set(self.found[i]))
        for i in order:
            if len(chosen) >= self.limit or not self.found[i]:
                break
            chosen[i] = None
        right = [i for i, row in enumerate(self.found) if not row]
        some = rng.permutation(right)[:RIGHT].tolist()
        place = {i: k for k, i in enumerate(order)}
        return sorted({*list(chosen)[: self.limit], *some}, key=place.__getitem__)

    def number(self, kind: Kind) -> str:
        """How the page calls a kind."""
        return f"k{self.kinds.index(kind)}"

    def numbers(self, i: int) -> str:
        """The kinds of example i and its marks, as words."""
        kinds = {self.number(k) for k in self.found[i] if k in self.kinds}
        marks = {f"m{j}" for j, rows in enumerate(self.marks.values()) if i in rows}
        return " ".join(sorted(kinds | marks | {"wrong" if self.found[i] else "right"}))

    def first(self, mark: str) -> str | None:
        """Where the first example with this mark is on the page, if there is one."""
        marked = (i for i in self.shown if mark in self.numbers(i).split())
        return next((f"#e{i}" for i in marked), None)

    def link(self, mark: str, text: str, cls: str = "pick") -> Markup:
        """To the examples with a mark; without scripts, to the first of them."""
        first = self.first(mark)
        if first is None:  # the drawings were too many, or too large
            return element("span", text, cls=cls)
        return element("a", text, href=first, data_pick=mark, cls=cls)


def compared(here: list[list[Kind]], there: list[list[Kind]]) -> dict[str, list[int]]:
    """Examples that one model gets right or less wrong, and the other does not."""
    pairs = list(enumerate(zip(here, there, strict=True)))
    found = {
        ONLY[0]: [i for i, (a, b) in pairs if not a and b],
        ONLY[1]: [i for i, (a, b) in pairs if a and not b],
        FEWER[0]: [i for i, (a, b) in pairs if a and len(a) < len(b)],
        FEWER[1]: [i for i, (a, b) in pairs if b and len(b) < len(a)],
    }
    return {name: rows for name, rows in found.items() if rows}


# tables -------------------------------------------------------------------------------


def kind_table(errors: Errors) -> Markup:
    """Kinds of errors, the most frequent first."""
    most = max(errors.counts.values())
    inside = Counter(kind for row in errors.found for kind in set(row))
    rows = [
        element(
            "tr",
            element("td", errors.link(errors.number(kind), str(kind))),
            element("td", f"{errors.counts[kind]:,}", cls="number"),
            element("td", f"{inside[kind]:,}", cls="number"),
            element("td", bar(errors.counts[kind] / most, "bad"), cls="wide"),
        )
        for kind in errors.kinds
    ]
    head = ("kind of error", "times", "examples", "")
    cells = (element("th", cell, scope="col") for cell in head)
    body = element("thead", element("tr", *cells)), element("tbody", *rows)
    rest = len(errors.counts) - len(errors.kinds)
    more = element("p", f"{rest:,} rarer kinds are not listed.") if rest else ""
    return joined([element("div", element("table", *body), cls="scroll"), more])


def confusions(errors: Errors, right: dict[str, int]) -> Markup | str:
    """What was taken for what: true labels in rows, predicted ones in columns."""
    pairs = {
        k: errors.counts[k] for k in errors.kinds if k.truth and k.found and not k.what
    }
    if len(pairs) < 2:
        return ""
    sums: Counter = Counter()
    for kind, n in pairs.items():
        sums[kind.truth] += n
        sums[kind.found] += n
    labels = sorted(label for label, _ in sums.most_common(LABELS))
    most = max(pairs.values())
    rows = []
    for truth in labels:
        cells = [element("th", truth, scope="row")]
        for found in labels:
            n = pairs.get(Kind(truth, found), 0)
            if truth == found:
                text = f"{right[truth]:,}" if truth in right else "·"
                cells.append(element("td", text, cls="same"))
            elif n:
                shade = f"--s:{(n / most) ** 0.5:.2f}"
                link = errors.link(errors.number(Kind(truth, found)), f"{n:,}")
                title = f"{truth} taken for {found}: {n:,} times"
                cells.append(element("td", link, style=shade, title=title, cls="hot"))
            else:
                cells.append(element("td"))
        rows.append(element("tr", *cells))
    head = element(
        "tr", element("th"), *(element("th", z, scope="col") for z in labels)
    )
    grid = element(
        "table", element("thead", head), element("tbody", *rows), cls="matrix"
    )
    diagonal = " On the diagonal are the right ones." if right else ""
    if len(sums) > LABELS:
        diagonal += f" Shown are the {LABELS} labels with the most errors."
    text = (
        "Rows are true labels, columns predicted ones. A click on a number shows its "
        f"examples.{diagonal}"
    )
    said = element("p", text, cls="soft")
    return element("div", said, element("div", grid, cls="scroll"))
