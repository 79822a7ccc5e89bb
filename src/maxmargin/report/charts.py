"""Charts as inline SVG, whose colours are those of the page, light or dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.metrics.calibration import Reliability
from maxmargin.plots.curves import Curves
from maxmargin.report.markup import Markup, element

WIDE, LEFT, RIGHT, TOP, BOTTOM = 640, 64, 12, 14, 40
MOST = 400  # points of a line
CLASSES = {  # of lines, by what they are
    "dual": "dual",
    "primal": "primal",
    "estimated primal": "primal guess",
    "proved gap": "gap",
    "estimated gap": "gap guess",
}


class Axis(NamedTuple):
    """From numbers to places along one side of a chart."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return round(
            self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 1
        )

    def ticks(self) -> list[float]:
        """Round numbers within the ends."""
        if self.log:
            first, last = math.ceil(math.log10(self.low)), math.log10(self.high)
            step = max(1, round((last - first) / 5))
            powers = [10.0**k for k in range(first, math.floor(last) + 1, step)]
            return powers or [self.low, self.high]
        size = nice((self.high - self.low) / 5)
        begin = math.ceil(self.low / size - 1e-9)
        end = math.floor(self.high / size + 1e-9)
        return [k * size for k in range(begin, end + 1)]


def nice(size: float) -> float:
    """1, 2 or 5 times a power of ten, near this size."""
    if not size > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(size))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= size * 0.999)


def figure(*children: Any, high: int, label: str) -> Markup:
    """An SVG as wide as the page allows."""
    return element(
        "svg", *children, viewBox=f"0 0 {WIDE} {high}", role="img", aria_label=label,
        cls="chart",
    )  # fmt: skip


def frame(
    x: Axis, y: Axis, names: tuple[str, str], show: Callable = str
) -> list[Markup]:
    """Grid lines, ticks and the names of both axes."""
    out = []
    for value in y.ticks():
        at = y(value)
        out.append(
            element("line", x1=x.start, x2=x.end, y1=at, y2=at, cls="grid"),
        )
        out.append(
            element("text", show(value), x=x.start - 6, y=at + 4, cls="tick end")
        )
    for value in x.ticks():
        at = x(value)
        out.append(
            element("text", short(value), x=at, y=y.start + 16, cls="tick middle")
        )
    middle = (x.start + x.end) / 2
    out.append(element("text", names[0], x=middle, y=y.start + 34, cls="axis middle"))
    out.append(element("text", names[1], x=4, y=y.end - 12, cls="axis"))
    return out


def line(x: Axis, y: Axis, points: Sequence[tuple[float, float]], cls: str) -> Markup:
    """A polyline with its points."""
    step = max(1, -(-len(points) // MOST))
    kept = [*points[:-1:step], *points[-1:]]
    places = [(x(a), y(b)) for a, b in kept]
    dots = (element("circle", cx=a, cy=b, r=2.4) for a, b in places)
    path = " ".join(f"{a},{b}" for a, b in places)
    marks = dots if len(places) <= 120 else ()
    return element("g", element("polyline", points=path), *marks, cls=f"line {cls}")


def short(value: float) -> str:
    """A number of few digits."""
    if value == 0 or 0.001 <= abs(value) < 1e5:
        text = f"{value:,.4f}".rstrip("0").rstrip(".")
        return text if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:.3g}"


def percent(value: float) -> str:
    """A share in per cent, of few digits."""
    return f"{100 * value:.3g}%"


# convergence --------------------------------------------------------------------------


def convergence(rows: Sequence[dict], tol: float | None, exact: bool) -> Markup | None:
    """Primal and dual against time, above the relative gap; None if there is no line.

    Before the first certificate the primal is the solver's estimate.
    """
    primals = [float(row.get("primal", math.inf)) for row in rows]  # networks have none
    if len(rows) < 2 or not math.isfinite(min(primals)):
        return None
    x, against = _along(rows)
    curves = Curves.of(rows)
    known, guess = curves.certified, curves.guessed()
    primal = np.where(known, curves.primal, np.nan)
    upper = _points(x, primal)
    guessed, lower = _points(x, guess), _points(x, curves.dual)
    end = max(x[-1], 1e-12)
    begin = 0.0 if x[0] < end / 2 else x[0]  # else compiling came first
    wide = Axis(begin, end, LEFT, WIDE - RIGHT)
    y = Axis(*_bounds(upper, guessed, lower), 230, TOP + 12)
    drawn = {"dual": lower, "primal": upper, "estimated primal": guessed}
    lines = {name: points for name, points in drawn.items() if points}
    between = "the optimum lies between" if exact else "gap, not proved"
    bounds = figure(
        *frame(wide, y, (against, "objective"), short),
        *(line(wide, y, points, CLASSES[name]) for name, points in lines.items()),
        _key(list(lines), f"({between})"),
        high=270,
        label=f"primal and dual of the training against {against}",
    )
    gaps = _points(x, curves.gap_of(primal), True)
    hoped = _points(x, curves.gap_of(guess), True)
    return element("div", bounds, _gaps(gaps, hoped, wide, against, tol))


def _points(x: list[float], values: Any, above: bool = False) -> list:
    """(x, value) where the value is a number, or one above zero."""
    rows = zip(x, map(float, values), strict=True)
    return [(a, b) for a, b in rows if math.isfinite(b) and (b > 0 or not above)]


def outer_steps(rounds: Sequence[dict]) -> Markup:
    """The objective after every outer step of a fit with hidden parts."""
    points = [(float(row["seconds"]), float(row["objective"])) for row in rounds]
    values = [value for _, value in points]
    room = max(0.1 * (max(values) - min(values)), 0.05 * abs(values[-1]), 1e-12)
    last = max(points[-1][0], 1e-12)
    first = 0.0 if points[0][0] < last / 2 else points[0][0]
    x = Axis(first, last, LEFT, WIDE - RIGHT)
    y = Axis(min(values) - room, max(values) + room, 230, TOP + 12)
    names = "seconds of training", "objective after each outer step"
    parts = [*frame(x, y, names, short), line(x, y, points, "primal")]
    return figure(*parts, high=270, label="the objective after each outer step")


def _along(rows: Sequence[dict]) -> tuple[list[float], str]:
    """Seconds of training; passes where all took no time that was measured."""
    seconds = [float(row.get("seconds", 0.0)) for row in rows]
    if seconds[-1] > 0:
        return seconds, "seconds of training"
    return [float(k + 1) for k in range(len(rows))], "passes"


def _bounds(upper: list, guessed: list, lower: list) -> tuple[float, float]:
    """The first passes are far off, and would press the rest into one line."""
    last, least = upper[-1][1], lower[-1][1] if lower else upper[-1][1]
    room = max(2.0 * (last - least), 0.6 * abs(last), 1e-12)
    values = [value for _, value in lower] or [least]
    low = max(min(values), least - room)
    high = min(max(value for _, value in upper + guessed), last + room)
    return low - 0.05 * room, high + 0.05 * room


def _key(names: list[str], more: str = "") -> Markup:
    """Which line is which, at the upper right."""
    out, right = [], WIDE - RIGHT - 8 - 6 * len(more)
    if more:
        out.append(element("text", more, x=WIDE - RIGHT, y=TOP, cls="tick end"))
    for name in reversed(names):
        right -= 6 * len(name) + 38
        marks = element("polyline", points=f"{right},{TOP - 4} {right + 18},{TOP - 4}")
        out.append(element("g", marks, cls=f"line {CLASSES[name]}"))
        out.append(element("text", name, x=right + 22, y=TOP, cls="tick"))
    return element("g", *out)


def _gaps(
    gaps: list, hoped: list, wide: Axis, against: str, tol: float | None
) -> Markup | str:
    """Proved gaps, and those of the estimated primal before the first of them."""
    if len(gaps) + len(hoped) < 2:
        return ""
    values = [value for _, value in gaps + hoped] + ([tol] if tol else [])
    y = Axis(min(values) / 1.5, max(values) * 1.5, 170, TOP + 12, log=True)
    parts = frame(wide, y, (against, "relative gap"), percent)
    if tol:
        at = y(tol)
        parts.append(
            element("line", x1=wide.start, x2=wide.end, y1=at, y2=at, cls="goal")
        )
        text = f"tol = {percent(tol)}"
        parts.append(element("text", text, x=wide.start + 4, y=at - 4, cls="tick"))
    drawn = {"proved gap": gaps, "estimated gap": hoped}
    lines = {name: points for name, points in drawn.items() if points}
    parts += (line(wide, y, points, CLASSES[name]) for name, points in lines.items())
    parts.append(_key(list(lines)))
    return figure(*parts, high=210, label=f"relative gap against {against}")


# calibration --------------------------------------------------------------------------


def curve(found: Reliability) -> Markup:
    """The reliability curve: on the diagonal, what is said comes true as often."""
    x = Axis(0.0, 1.0, LEFT, LEFT + 300)
    y = Axis(0.0, 1.0, 330, TOP + 16)
    there = found.counts > 0
    parts = frame(x, y, ("probability", "share that is right"), percent)
    parts.append(element("line", x1=x(0), y1=y(0), x2=x(1), y2=y(1), cls="goal"))
    parts.append(
        line(
            x, y, list(zip(found.said[there], found.right[there], strict=True)), "dual"
        )
    )
    most = max(found.counts.max(), 1)
    for k, count in enumerate(found.counts.tolist()):  # how many, on the right side
        at, long = y((k + 1) / len(found.counts)), 190 * count / most
        parts.append(
            element("rect", x=400, y=at + 2, width=round(long, 1), height=26, cls="bar")
        )
        parts.append(element("text", f"{count:,}", x=406 + long, y=at + 20, cls="tick"))
    parts.append(element("text", "how many", x=400, y=TOP + 4, cls="axis"))
    return figure(*parts, high=372, label="reliability curve")


# bars ---------------------------------------------------------------------------------


def bar(share: float, cls: str = "") -> Markup:
    """A bar in a table cell, of this share of the cell."""
    width = f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"
    return element("span", element("i", style=width), cls=f"barcell {cls}".strip())


def whiskers(low: float, value: float, high: float) -> Markup:
    """A value and its interval between 0 and 1."""
    left, right = (100 * min(max(v, 0.0), 1.0) for v in (low, high))
    middle = 100 * min(max(value, 0.0), 1.0)
    style = f"left:{left:.2f}%;width:{max(right - left, 0.4):.2f}%"
    marks = element("i", style=style), element("b", style=f"left:{middle:.2f}%")
    return element("span", *marks, cls="whiskers")
