"""Labelled graphs in a notebook: grids as pictures, others as nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from maxmargin.graphs.input import PLAIN, read_graph
from maxmargin.views.view import View, about, escaped, hue, svg

CELL, NODE, SIZE = 12, 11, 420  # pixels
MOST = 150  # nodes with edges between them
STEPS = 120  # of the layout
RING = 'stroke="currentColor" stroke-width="3.5" stroke-dasharray="5 2"'


def graph(
    x: Any, labels: Any, truth: Any = None, shape: tuple[int, int] | None = None
) -> View:
    """A graph with a colour for every label; wrong nodes have a ring or a dark spot.

    Parameters
    ----------
    x : a graph, in any form that GraphLabeler takes, without types
    labels, truth : a label for every node, or {node: label}; None in truth: not known
    shape : (rows, columns) if the nodes are a grid: then it is drawn as a picture
    """
    given = read_graph(x, "the graph")
    if given.typed:
        raise ValueError("graphs with types of nodes cannot be drawn: give one type.")
    n = given.counts.get(PLAIN, 0)
    found = _listed(labels, given.names, n, "labels")
    true = None if truth is None else _listed(truth, given.names, n, "truth")
    wrong = [
        true is not None and true[v] is not None and true[v] != found[v]
        for v in range(n)
    ]
    seen = dict.fromkeys([*found, *(z for z in true or () if z is not None)])
    try:
        kinds = sorted(seen)
    except TypeError:  # of several types
        kinds = sorted(seen, key=str)
    colours = {label: hue(k) for k, label in enumerate(kinds)}
    hints = [
        f"node {v}: {found[v]}" + (f", true {true[v]}" if wrong[v] and true else "")
        for v in range(n)
    ]
    note = ""
    if shape is not None:
        picture = _grid(shape, [colours[z] for z in found], wrong)
    else:
        edges = given.edges.get((PLAIN, PLAIN, PLAIN), (np.zeros((0, 2), int), None))[0]
        chosen = _nearest(n, edges, wrong)
        picture = _nodes(chosen, edges, found, colours, wrong, hints)
        if len(chosen) < n:
            near = "the first wrong one" if any(wrong) else "the first"
            note = about(
                f"{len(chosen)} of {n:,} nodes are drawn, those near {near}; a grid is "
                "drawn whole, as a picture, if you give its shape."
            )
    legend = " ".join(
        f'<span class="mark" style="--h:{h}">{escaped(z)}</span>'
        for z, h in colours.items()
    )
    says = f"{n} nodes"
    if true is not None:
        says = f"{sum(wrong)} of {sum(z is not None for z in true)} labels are wrong"
    body = f"{picture}<p>{legend}</p>{about(says)}{note}"
    return View(body, f"{says}: {found}", picture)


def shown(x: Any, labels: Any, truth: Any = None, **options: Any) -> View:
    """What a labeler predicts of a graph; a table of true labels says its shape."""
    if np.ndim(truth) == 2:
        options.setdefault("shape", np.shape(truth))
    return graph(x, labels, truth, **options)


def _listed(labels: Any, names: list | None, n: int, name: str) -> list:
    """Labels in the order of the nodes."""
    if isinstance(labels, Mapping):
        if names is None or set(names) != set(labels):
            raise ValueError(f"{name} is a dict: it must have a label for every node.")
        return [labels[node] for node in names]
    table = np.array(labels, object).ravel().tolist()
    if len(table) != n:
        raise ValueError(
            f"there are {n} nodes, but {len(table)} {name}: give one of each."
        )
    return table


def _grid(shape, colours, wrong) -> str:
    """Runs of equal cells as one bar each, and a dark spot in every wrong cell."""
    try:
        rows, columns = (int(k) for k in shape)
    except (TypeError, ValueError):
        raise ValueError(
            f"shape={shape!r} is not possible: give (rows, columns)."
        ) from None
    if rows * columns != len(colours):
        raise ValueError(
            f"shape={shape} does not fit {len(colours)} nodes, one per cell."
        )
    cell = max(2.0, min(CELL, SIZE / max(rows, columns, 1)))
    high, bars, spots = f'height="{cell:.2f}"', [], []
    for row in range(rows):
        line = colours[row * columns : (row + 1) * columns]
        begin = 0
        for k in range(1, columns + 1):
            if k == columns or line[k] != line[begin]:
                place = f'x="{begin * cell:.2f}" y="{row * cell:.2f}"'
                wide = f'width="{(k - begin) * cell:.2f}" {high}'
                bars.append(f'<rect {place} {wide} fill="hsl({line[begin]} 75% 50%)"/>')
                begin = k
    for v in np.flatnonzero(wrong).tolist():
        x, y = (v % columns + 0.25) * cell, (v // columns + 0.25) * cell
        spots.append(f"M{x:.2f} {y:.2f}h{cell / 2:.2f}v{cell / 2:.2f}h-{cell / 2:.2f}z")
    path = [f'<path d="{"".join(spots)}" fill="#111"/>'] if spots else []
    crisp = '<g shape-rendering="crispEdges">'
    return svg(columns * cell, rows * cell, [crisp, *bars, *path, "</g>"])


def _nearest(n: int, edges, wrong) -> np.ndarray:
    """The nodes to draw: all, or those that fewest edges part from the first wrong one."""
    if n <= MOST:
        return np.arange(n)
    a, b = np.asarray(edges, int).reshape(-1, 2).T
    table = csr_array((np.ones(len(a)), (a, b)), (n, n))
    begin = int(np.argmax(wrong))
    order = breadth_first_order(table, begin, False, return_predecessors=False)
    others = np.setdiff1d(np.arange(n), order)
    return np.sort(np.concatenate([order, others])[:MOST])


def _nodes(chosen, edges, found, colours, wrong, hints) -> str:
    number = {v: k for k, v in enumerate(chosen.tolist())}
    lines = [
        (number[a], number[b])
        for a, b in np.asarray(edges).tolist()
        if a in number and b in number
    ]
    place = 30 + (SIZE - 60) * layout(len(chosen), lines)
    parts = [
        f'<line x1="{place[a, 0]:.0f}" y1="{place[a, 1]:.0f}" x2="{place[b, 0]:.0f}" '
        f'y2="{place[b, 1]:.0f}" stroke="rgb(128 128 128 / .6)"/>'
        for a, b in lines
    ]
    for v, (x, y) in zip(number, place.tolist(), strict=True):
        ring = RING if wrong[v] else 'stroke="gray"'
        parts.append(
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{NODE}" {ring} '
            f'fill="hsl({colours[found[v]]} 75% 50%)"><title>{escaped(hints[v])}</title>'
            "</circle>"
        )
        name = f'x="{x:.0f}" y="{y - NODE - 4:.0f}" text-anchor="middle" font-size="11"'
        parts.append(f"<text {name}>{escaped(found[v])}</text>")
    return svg(SIZE, SIZE, parts)


def layout(n: int, edges: Any) -> np.ndarray:
    """Places in the unit square (n, 2): springs along edges, all nodes push each other.

    (Fruchterman & Reingold 1991, from a circle, so that it is the same every time.)
    """
    turn = 2 * np.pi * np.arange(n) / max(n, 1)
    place = np.stack([np.cos(turn), np.sin(turn)], 1)
    near = np.zeros((n, n), bool)
    pairs = np.asarray(edges, int).reshape(-1, 2)
    near[pairs[:, 0], pairs[:, 1]] = near[pairs[:, 1], pairs[:, 0]] = True
    k = 2.0 / np.sqrt(max(n, 1))
    for step in range(STEPS):
        apart = place[:, None] - place
        far = np.sqrt((apart**2).sum(2)) + 1e-9
        force = k * k / far - near * far**2 / k
        move = (apart / far[:, :, None] * force[:, :, None]).sum(1)
        size = np.sqrt((move**2).sum(1, keepdims=True)) + 1e-12
        place += move / size * np.minimum(size, 0.2 * (1 - step / STEPS))
    low, high = place.min(0, initial=np.inf), place.max(0, initial=-np.inf)
    return (
        (place - low) / np.maximum((high - low).max(initial=0.0), 1e-9) if n else place
    )
