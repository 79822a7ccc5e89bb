"""What a report shows of graphs: images where nodes are pixels, else nodes and edges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.graphs.input import PLAIN, GraphInput, read_graphs
from maxmargin.graphs.labels import compared
from maxmargin.graphs.metrics import graph_scores
from maxmargin.graphs.palette import COLOURS, photograph
from maxmargin.report.findings import Findings, Kind, Test, chosen
from maxmargin.report.markup import Markup, element, joined, png
from maxmargin.report.measures import Measure, share

CIRCLE, LISTED, SIZE = 60, 400, 340  # nodes on a circle, nodes in a list, pixels
WHITE, BLACK = (255, 255, 255), (30, 30, 30)


class GraphFindings(Findings):
    """Graphs and the labels of their nodes."""

    items = "graphs"

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        self.inputs = read_graphs(test.X)
        each = model.structure_.schema.labels
        self.labels = list(dict.fromkeys(z for part in each for z in part))
        self._last: tuple[Any, Any] = (None, None)

    def __len__(self) -> int:
        return len(self.inputs)

    def _compared(self, outputs: Any) -> tuple[list, list, list]:
        """Sizes, truth and prediction; kept, for drawings ask one by one."""
        if self._last[0] is not outputs:
            self._last = outputs, compared(self.test.y, outputs, self.inputs)
        return self._last[1]

    def summary(self, outputs: Any) -> Any:
        sizes, truth, found = self._compared(outputs)
        return graph_scores(truth, found, sizes)

    def measures(self, outputs: Any) -> list[Measure]:
        right, known, whole = [], [], []
        for sizes, truth, found in zip(*self._compared(outputs), strict=True):
            there = np.array([a is not None for a in truth], bool)
            good = np.array([a == b for a, b in zip(truth, found, strict=True)], bool)
            right.append(float(sizes[there & good].sum()))
            known.append(float(sizes[there].sum()))
            whole.append(bool(good[there].all()))
        return [
            share("accuracy", right, known, about="nodes by their sizes"),
            share("graphs all right", whole),
        ]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        _, truth, found = self._compared(outputs)
        return [
            [
                Kind(str(a), str(b))
                for a, b in zip(row, guess, strict=True)
                if a is not None and a != b
            ]
            for row, guess in zip(truth, found, strict=True)
        ]

    def weight(self, outputs: Any, errors: Sequence[list[Kind]]) -> Sequence[float]:
        """The share of nodes that are wrong."""
        _, truth, _ = self._compared(outputs)
        pairs = zip(errors, truth, strict=True)
        return [len(kinds) / max(len(row), 1) for kinds, row in pairs]

    def right(self, outputs: Any) -> dict[str, int]:
        found: Counter = Counter()
        for row, guess in zip(*self._compared(outputs)[1:], strict=True):
            found.update(str(a) for a, b in zip(row, guess, strict=True) if a == b)
        return dict(found)

    def name(self, i: int) -> str:
        return f"graph {i + 1}"

    def draw(self, i: int, outputs: Any) -> Markup:
        _, truth, found = self._compared(outputs)
        shape = self._shape(i)
        if shape is not None:
            return self._images(i, truth[i], found[i], shape)
        graph = self.inputs[i]
        if len(truth[i]) <= CIRCLE and not graph.typed:
            return self._circle(i, truth[i], found[i])
        return self._list(truth[i], found[i])

    def _shape(self, i: int) -> tuple[int, int] | None:
        """Rows and columns of a graph that is an image."""
        shape = self.test.more[i] if self.test.more is not None else None
        if shape is None and not self.inputs[i].typed:
            shape = _grid(self.inputs[i])
        return None if shape is None else (int(shape[0]), int(shape[1]))

    def _fill(self, label: Any) -> str:
        return "rgb({},{},{})".format(*self._colour(label))

    def _colour(self, label: Any) -> tuple[int, int, int]:
        if label not in self.labels:
            return WHITE
        text = COLOURS[self.labels.index(label) % len(COLOURS)]
        return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)

    def _images(
        self, i: int, truth: list, found: list, shape: tuple[int, int]
    ) -> Markup:
        wrong = [a is not None and a != b for a, b in zip(truth, found, strict=True)]
        tables = {
            "input": _pixels(photograph(self.test.X[i], shape)),
            "truth": np.array([self._colour(z) for z in truth]).reshape(*shape, 3),
            "predicted": np.array([self._colour(z) for z in found]).reshape(*shape, 3),
            f"{sum(wrong):,} wrong": np.array(
                [BLACK if bad else WHITE for bad in wrong]
            ).reshape(*shape, 3),
        }
        panels = (
            element("figure", png(table, title), element("figcaption", title))
            for title, table in tables.items()
        )
        return element("div", *panels, cls="side")

    def _circle(self, i: int, truth: list, found: list) -> Markup:
        """Nodes on a circle in their order, coloured by prediction, errors framed."""
        n, middle = len(truth), SIZE / 2
        reach = middle - 46
        at = [
            (
                round(middle + reach * math.cos(2 * math.pi * k / n - math.pi / 2), 1),
                round(middle + reach * math.sin(2 * math.pi * k / n - math.pi / 2), 1),
            )
            for k in range(n)
        ]
        parts = []
        for pairs, _ in self.inputs[i].edges.values():
            for u, v in np.asarray(pairs).tolist():
                ends = {"x1": at[u][0], "y1": at[u][1], "x2": at[v][0], "y2": at[v][1]}
                parts.append(element("line", cls="edge", **ends))
        for (x, y), true, label in zip(at, truth, found, strict=True):
            fill = self._fill(label)
            wrong = true is not None and true != label
            said = f"{label}, but the truth is {true}" if wrong else str(label)
            dot = element("circle", element("title", said), cx=x, cy=y, r=9, fill=fill)
            parts.append(dot)
            if wrong:
                parts.append(element("circle", cx=x, cy=y, r=13, cls="ring"))
            text = f"{label} ({true})" if wrong else label
            shift = -16 if y < middle else 26
            parts.append(element("text", text, x=x, y=y + shift, cls="tick middle"))
        box = {"width": SIZE, "height": SIZE, "viewBox": f"0 0 {SIZE} {SIZE}"}
        return element("svg", *parts, role="img", aria_label=f"graph {i + 1}", **box)

    def _list(self, truth: list, found: list) -> Markup:
        """Labels in the order of the nodes, with the true ones where they are wrong."""
        chips = []
        for k, (a, b) in enumerate(zip(truth[:LISTED], found, strict=False)):
            wrong = a is not None and a != b
            text = f"{k}: {b} (truth {a})" if wrong else f"{k}: {b}"
            chips.append(
                element("span", text, cls="chip bad-text" if wrong else "chip")
            )
        rest = len(truth) - LISTED
        more = f" … {rest:,} more nodes" if rest > 0 else ""
        return element("p", joined(chips, " "), more)

    def legend(self) -> Markup:
        """The colours of the labels."""
        dots = (
            element(
                "span",
                element(
                    "i",
                    cls="dot",
                    style=f"background:{self._fill(z)}",
                ),
                z,
                cls="chip",
            )
            for z in self.labels[: 2 * len(COLOURS)]
        )
        said = " Colours are predicted labels; a true one that differs is in brackets."
        return element("p", *dots, element("span", said, cls="soft"))

    def chances(self, outputs: Any, few: Any) -> Any:
        try:
            tables = self.model.predict_marginals(chosen(self.test.X, few))
        except ValueError:  # graphs that are too wide have none
            return None
        if isinstance(self.model.classes_, dict):
            return None
        _, truth, found = self._compared(outputs)
        number = {z: k for k, z in enumerate(self.model.classes_.tolist())}
        said, right = [], []
        for i, table in zip(few, tables, strict=True):
            for v, (a, b) in enumerate(zip(truth[i], found[i], strict=True)):
                if a is not None:
                    said.append(float(table[v, number[b]]))
                    right.append(a == b)
        return said, right


FINDINGS = GraphFindings


def _grid(graph: GraphInput) -> tuple[int, int] | None:
    """(rows, columns) if the edges are those of an image, with 4 or 8 neighbours."""
    (pairs, _), *more = graph.edges.values() or [(np.zeros((0, 2)), None)]
    n, pairs = graph.counts.get(PLAIN, 0), np.asarray(pairs)
    if more or len(pairs) < 4:
        return None
    apart = np.unique(np.abs(pairs[:, 1] - pairs[:, 0]))
    width = int(apart[-1]) if len(apart) == 2 else int(apart[-1]) - 1
    usual = [1, width] if len(apart) == 2 else [1, width - 1, width, width + 1]
    if width < 2 or n % width or apart.tolist() != usual:
        return None
    high = n // width
    edges = high * (width - 1) + (high - 1) * width
    edges += 2 * (high - 1) * (width - 1) * (len(apart) > 2)
    return (high, width) if edges == len(pairs) else None


def _pixels(values: np.ndarray) -> np.ndarray:
    """Numbers of any range as grey or colours from 0 to 255."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    shown = 255 * (values - low) / ((high - low) or 1.0)
    return shown if shown.ndim == 3 else np.repeat(shown[:, :, None], 3, axis=2)
