"""The parts of the page, from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maxmargin.metrics.calibration import reliability
from maxmargin.plots.curves import tolerance_of
from maxmargin.report.charts import (
    bar,
    convergence,
    curve,
    outer_steps,
    whiskers,
)
from maxmargin.report.examples import Errors, confusions, kind_table
from maxmargin.report.findings import Findings
from maxmargin.report.markup import Markup, element, joined, table
from maxmargin.report.measures import Measure

FEATURES, GROUPS = 12, 24  # strongest weights of a group, groups that are shown
LARGEST = 300_000  # characters of one drawing
BUDGET = 7_000_000  # of all


def section(name: str, title: str, *children: Any) -> Markup:
    """A part of the page with a heading that can be linked."""
    return element("section", element("h2", title), *children, id=name)


# scores -------------------------------------------------------------------------------


def scores(measures: Sequence[Measure], printed: Any) -> Markup:
    """Numbers with their intervals, and the report that ``evaluate`` prints."""
    cards = []
    for measure in measures:
        value, low, high = measure.interval()
        scale, unit = (1, "") if measure.plain else (100, "%")
        text, ends = (
            f"{scale * value:.2f}{unit}",
            f"{scale * low:.2f} to {scale * high:.2f}",
        )
        parts = [
            element("h3", measure.name),
            element("p", text, cls="large"),
            "" if measure.plain else whiskers(low, value, high),
            element("p", f"95% interval {ends}", cls="soft"),
        ]
        if measure.about or measure.smaller:
            about = [measure.about] if measure.about else []
            about += ["smaller is better"] if measure.smaller else []
            parts.append(element("p", "; ".join(about), cls="soft"))
        cards.append(element("div", *parts, cls="card"))
    said = (
        "Intervals are from the bootstrap: 1,000 samples of the examples, drawn with "
        "replacement. They show how much scores would vary with other test data, not with "
        "other training data."
    )
    parts = [element("div", *cards, cls="cards"), element("p", said, cls="soft")]
    if printed is not None:
        title = element("summary", "All numbers, as maxmargin evaluate prints them")
        parts.append(element("details", title, element("pre", str(printed))))
    return section("scores", "Scores", *parts)


def comparison(
    here: Sequence[Measure],
    there: Sequence[Measure],
    names: tuple[str, str],
    errors: Errors,
) -> Markup:
    """Two models on the same examples, and where they differ."""
    rows = []
    for a, b in zip(here, there, strict=True):
        apart = a.difference(b)
        sure = apart.low > 0 or apart.high < 0
        better = (apart.value < 0) == a.smaller
        word = (
            (f"{names[1]} is better" if better else f"{names[0]} is better")
            if sure
            else "no clear difference"
        )
        scale, unit = (1, "") if a.plain else (100, "%")
        shown = [f"{scale * m.interval().value:.2f}{unit}" for m in (a, b)]
        low, high = scale * apart.low, scale * apart.high
        ends = f"{scale * apart.value:+.2f} [{low:+.2f}, {high:+.2f}]"
        rows.append([a.name, *shown, ends, element("span", word, cls="chip")])
    head = ["", *names, "difference, with its 95% interval", "verdict"]
    said = (
        f"The difference is the score of {names[1]} minus that of {names[0]}, on the same "
        "samples of examples. If the interval does not include zero, the difference is "
        "unlikely to be chance."
    )
    marks: list[Any] = [
        errors.link(f"m{k}", f"{name}: {len(found):,}", "pick chip")
        for k, (name, found) in enumerate(errors.marks.items())
    ]
    if not marks:
        marks = ["Both models make the same number of errors in every example."]
    parts = (
        table(head, rows),
        element("p", said, cls="soft"),
        element("p", *marks, cls="row"),
    )
    return section("comparison", "Comparison", *parts)


# training -----------------------------------------------------------------------------


def training(model: Any, facts: Sequence[tuple[str, Any]], proved: str) -> Markup:
    """What was trained, what is proved of it, and how it went."""
    cells = (
        part
        for name, value in facts
        for part in (element("dt", name), element("dd", str(value)))
    )
    parts: list[Any] = [element("dl", *cells, cls="facts")]
    if proved:
        parts.append(element("p", proved, cls="proved"))
    rows = list(getattr(model, "history_", None) or ())
    exact = getattr(getattr(model, "certificate_", None), "exact", True)
    rounds, tol = getattr(model, "rounds_", None), tolerance_of(model)
    steps = bool(rounds) and len(rounds) > 1
    drawn = outer_steps(rounds) if steps else convergence(rows, tol, exact)
    if drawn is None:
        drawn = element("p", _no_curve(rows), cls="soft")
    return section("training", "Training", *parts, drawn)


def _no_curve(rows: Sequence[dict]) -> str:
    if not rows:
        return "The model keeps no history of its training: there is no curve to draw."
    if "primal" not in rows[0]:
        return f"The loss of a token was {rows[-1]['loss']:.4g} in the last pass."
    if len(rows) == 1:
        return "Training took a single pass: there is no curve to draw."
    return "Training ended before its first certificate: there is no curve to draw."


def calibration(chances: Any, right: Any, said: str) -> Markup:
    """The reliability curve, and its mean distance from the diagonal."""
    found = reliability(chances, right)
    text = (
        f"The curve is {100 * found.error:.1f} points away from the diagonal on average "
        "(expected calibration error, 10 bins). On the diagonal, what is said with a "
        f"probability of 80% is right 80 times in 100. {said}"
    )
    return section("calibration", "Calibration", element("p", text), curve(found))


def features(rows: Sequence[tuple[str, str, float]]) -> Markup | str:
    """The strongest weights, group by group."""
    groups: dict[str, list[tuple[str, float]]] = {}
    for group, name, weight in rows:
        groups.setdefault(group, []).append((name, weight))
    if not groups:
        return ""
    most = max(abs(weight) for _, _, weight in rows) or 1.0
    tables = []
    for group, found in list(groups.items())[:GROUPS]:
        lines = [
            element(
                "tr",
                element("td", name),
                element("td", f"{weight:+.3f}", cls="number"),
                element(
                    "td",
                    bar(abs(weight) / most, "" if weight > 0 else "bad"),
                    cls="wide",
                ),
            )
            for name, weight in found
        ]
        title = [element("h3", group)] if group else []
        tables.append(element("div", *title, element("table", *lines), cls="weights"))
    rest = len(groups) - len(tables)
    parts = [element("div", *tables, cls="columns" if len(tables) > 1 else None)]
    if rest > 0:
        parts.append(element("p", f"{rest:,} more groups are not shown.", cls="soft"))
    said = "Positive weights count for an output, negative ones against it."
    return section(
        "features", "Strongest features", element("p", said, cls="soft"), *parts
    )


# errors and examples ------------------------------------------------------------------


def error_kinds(findings: Findings, outputs: Any, errors: Errors) -> Markup:
    """Confusions and kinds of errors."""
    n, wrong = len(errors.found), len(errors.wrong)
    all_kinds = errors.counts.total()
    text = f"{wrong:,} of {n:,} {findings.items} have errors, {all_kinds:,} in all."
    if not wrong:
        text = (
            f"All {n:,} {findings.items} are right."
            if n > 1
            else "The one example is right."
        )
    parts: list[Any] = [element("p", text)]
    if wrong:
        parts += [confusions(errors, findings.right(outputs)), kind_table(errors)]
    return section("errors", "Errors", *parts)


def example_list(
    findings: Findings,
    outputs: Any,
    errors: Errors,
    other: tuple[Findings, Any, str] | None,
    name: str,
) -> Markup:
    """The examples that are drawn, the worst first."""
    for some, found in [(findings, outputs), *([other[:2]] if other else [])]:
        some.prepare(errors.shown, found)
    drawn, left = [], BUDGET
    for i in errors.shown:
        parts = [_small(findings.draw(i, outputs))]
        if other is not None:
            theirs = _small(other[0].draw_other(i, other[1]))
            parts = [element("h4", name), *parts, element("h4", other[2]), theirs]
        kinds = [
            element("span", str(k), cls="chip") for k in dict.fromkeys(errors.found[i])
        ]
        head = element("h3", findings.name(i), " ", *kinds[:8])
        article = element(
            "article", head, *parts, id=f"e{i}", data_kinds=errors.numbers(i)
        )
        left -= len(article)
        if left < 0:
            break
        drawn.append(article)
    errors.shown = errors.shown[: len(drawn)]
    marks = {mark: f"m{k}" for k, mark in enumerate(errors.marks)}
    marks |= {str(kind): errors.number(kind) for kind in errors.kinds}
    values = {"all examples": "", "with errors": "wrong", "without errors": "right"}
    values |= {text: mark for text, mark in marks.items() if errors.first(mark)}
    picks = [element("option", text, value=mark) for text, mark in values.items()]
    filters = element(
        "form",
        element("label", "show ", element("select", *picks, id="pick")),
        element("label", "with the text ", element("input", type="search", id="find")),
        element("output", id="count"),
        cls="filters",
    )
    wrong = sum(bool(errors.found[i]) for i in errors.shown)
    total, right = len(errors.wrong), len(errors.found) - len(errors.wrong)
    good, items = len(drawn) - wrong, findings.items
    said = f"Shown are {good:,} of the {right:,} {items} without errors."
    if total:
        said = (
            f"Shown are {wrong:,} of the {total:,} {findings.items} with errors, the worst "
            f"first, and {len(drawn) - wrong:,} of the {right:,} without."
        )
    if total and len(drawn) < len(errors.found):
        said += (
            " They are a sample, with some of every kind of error; all numbers above count "
            "the whole test."
        )
    shown = (
        element("p", said),
        findings.legend(),
        filters,
        element("div", *drawn, id="list"),
    )
    return section("examples", "Examples", *shown)


def _small(found: Markup) -> Markup:
    if len(found) <= LARGEST:
        return found
    return element("p", "This example is too large to be drawn here.", cls="soft")


def contents(titles: Sequence[tuple[str, str]]) -> Markup:
    """Links to the parts."""
    links = (element("a", title, href=f"#{name}") for name, title in titles)
    return element("nav", joined(links, " "))
