"""Pictures of graphs: segmentations, and what a relaxation leaves undecided.

Needs matplotlib (extra ``plot``). Weights of edges are in ``edge_plots.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import distance_transform_edt

from maxmargin.graphs.edge_plots import plot_edge_weights
from maxmargin.graphs.palette import COLOURS, photograph
from maxmargin.plots.cells import PLAIN as AS_IS
from maxmargin.plots.training import GREY, INK, _axes, _pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot_edge_weights", "plot_fractional", "plot_segmentation"]

UNKNOWN = "#FFFFFF"
CERTAIN = 1e-3  # shares so near to 0 or 1 are not fractional
PANEL = 2.3  # inches


def plot_segmentation(
    image: Any,
    truth: Any = None,
    predicted: Any = None,
    regions: Any = None,
    labels: Sequence | None = None,
    ax: Axes | None = None,
) -> Figure:
    """A photograph, its true labels, the predicted ones, and where they differ.

    Parameters
    ----------
    image : array (rows, columns) or (rows, columns, 3), or None for no photograph
        Numbers of any range; colours are stretched to fill it.
    truth, predicted : labels (rows, columns), or None
        Without a panel for what is not given. A true label that is None is not known: it
        is left white, and never wrong.
    regions : int array (rows, columns) or None
        The node of every pixel, where nodes are super-pixels; then truth and predicted
        have a label per node.
    labels : all labels, so that several pictures have the same colours; None: those here
    ax : Axes, one for each panel, or None
    """
    maps = [_map(labels_, regions, image) for labels_ in (truth, predicted)]
    shown = _all_labels([table for table in maps if table is not None], labels)
    panels = [("photograph", image)] if image is not None else []
    titles = ("truth", "prediction")
    panels += [(t, m) for t, m in zip(titles, maps, strict=True) if m is not None]
    wrong = None
    if maps[0] is not None and maps[1] is not None:
        wrong = (maps[0] != maps[1]) & ~_unknown(maps[0])
        panels.append(("wrong", wrong))
    if not panels:
        raise ValueError("there is nothing to draw: give an image or labels.")
    own = ax is None
    high, wide = np.shape(panels[0][1])[:2]
    tall = PANEL * min(max(high / max(wide, 1), 0.25), 2.0)
    axes = _axes(ax, ncols=len(panels), figsize=(PANEL * len(panels), tall + 0.7))
    for (title, what), panel in zip(panels, axes, strict=False):
        if title == "photograph":
            _drawphotograph(panel, what)
        elif title == "wrong":
            panel.imshow(what, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
            known = int((~_unknown(maps[0])).sum())  # type: ignore[arg-type]
            title = f"{int(what.sum()):,} of {known:,} wrong"
        else:
            _draw_labels(panel, what, shown)
        panel.set_title(title, loc="left", fontsize=9, color=INK)
        _bare(panel)
    if own:
        _legend(axes[0].figure, shown)
    return axes[0].figure


def _map(labels, regions, image) -> np.ndarray | None:
    """Labels as a table of objects (rows, columns)."""
    if labels is None:
        return None
    table = np.empty(np.shape(labels), object)
    table[...] = labels
    if regions is not None:
        regions = np.asarray(regions)
        bad = regions.dtype.kind not in "iu" or regions.ndim != 2
        if bad or regions.min(initial=0) < 0 or regions.max(initial=0) >= table.size:
            raise ValueError(
                f"regions must say for every pixel which of the {table.size} nodes it "
                "belongs to: give whole numbers (rows, columns)."
            )
        table = table.ravel()[regions]
    if image is not None and table.ndim == 1 and table.size == np.prod(image.shape[:2]):
        table = table.reshape(image.shape[:2])
    if table.ndim != 2 or (image is not None and table.shape != np.shape(image)[:2]):
        what = "" if image is None else f", like the image {np.shape(image)}"
        raise ValueError(
            f"labels have the shape {table.shape}: give one per pixel{what}."
        )
    return table


def _unknown(table: np.ndarray) -> np.ndarray:
    return np.array([label is None for label in table.flat], bool).reshape(table.shape)


def _all_labels(tables, labels) -> list:
    there = {label for table in tables for label in table.flat if label is not None}
    if labels is None:
        return sorted(there, key=lambda label: (isinstance(label, str), label))
    labels = list(labels)
    unknown = [label for label in there if label not in labels]
    return labels + sorted(unknown, key=str)


def _drawphotograph(ax, image) -> None:
    pixels = np.asarray(image, float)
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise ValueError(
            f"the image has the shape {pixels.shape}: give (rows, columns) or (rows, "
            "columns, 3)."
        )
    low, high = (pixels.min(), pixels.max()) if pixels.size else (0.0, 1.0)
    pixels = (pixels - low) / ((high - low) or 1.0)
    ax.imshow(pixels, cmap="gray", vmin=0, vmax=1, interpolation="nearest")


def _draw_labels(ax, table: np.ndarray, shown: list) -> None:
    """Colours, and the name of every label where most of it is around."""
    from matplotlib.colors import to_rgb

    number = {label: k for k, label in enumerate(shown)}
    colours = np.array([to_rgb(c) for c in _colours(len(shown))] + [to_rgb(UNKNOWN)])
    states = np.array([number.get(label, len(shown)) for label in table.flat], int)
    states = states.reshape(table.shape)
    ax.imshow(colours[states], interpolation="nearest")
    for label, k in number.items():
        place = _deepest(states == k)
        if place is not None:
            dark = colours[k] @ (0.299, 0.587, 0.114) < 0.5
            size = 8 if len(str(label)) < 8 else 6
            ax.text(
                place[1], place[0], str(label), ha="center", va="center", fontsize=size,
                color="white" if dark else "black", clip_on=True, **AS_IS,
            )  # fmt: skip


def _colours(k: int) -> list:
    if k <= len(COLOURS):
        return list(COLOURS[:k])
    from matplotlib import colormaps

    return [colormaps["viridis"](j / (k - 1)) for j in range(k)]


def _deepest(inside: np.ndarray) -> tuple[int, int] | None:
    """The pixel that is farthest from the border of an area."""
    if not inside.any():
        return None
    depth = distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(int(depth.argmax()), depth.shape)
    return int(row), int(column)


def _bare(ax) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color(GREY)
    ax.spines[:].set_linewidth(0.5)


def _legend(figure, shown: list) -> None:
    from matplotlib.patches import Patch

    if not shown or len(shown) > 2 * len(COLOURS):
        return
    marks = [
        Patch(facecolor=colour, edgecolor=GREY, linewidth=0.5, label=str(label))
        for colour, label in zip(_colours(len(shown)), shown, strict=True)
    ]
    legend = figure.legend(
        handles=marks, loc="outside lower center", ncols=min(len(shown), 6),
        frameon=False, fontsize=8,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


# what a relaxation leaves undecided -------------------------------------------------------


def plot_fractional(
    marginals: Any,
    shape: tuple[int, int] | None = None,
    labels: Sequence | None = None,
    ax: Axes | None = None,
) -> Figure:
    """How certain the relaxed search is of every node: the share of its best label.

    Parameters
    ----------
    marginals : array (nodes, labels), from :meth:`maxmargin.GraphLabeler.predict_relaxed`
    shape : (rows, columns) if the nodes are a grid; None: in their order, line after line
    labels : the labels, as ``classes_`` has them, or None for numbers
    ax : two Axes, for the best labels and for their shares, or None
    """
    table = np.asarray(marginals, float)
    if table.ndim != 2 or not table.size:
        raise ValueError("marginals must be a table (nodes, labels), not empty.")
    n = len(table)
    rows, columns = shape if shape is not None else _lines(n)
    if rows * columns < n or (shape is not None and rows * columns != n):
        raise ValueError(
            f"the shape {shape} has not room for {n} nodes, one in each cell."
        )
    names = list(range(table.shape[1])) if labels is None else list(labels)
    best, largest = table.argmax(1), table.max(1)
    fractional = largest < 1 - CERTAIN
    own = ax is None
    tall = PANEL * min(max(rows / columns, 0.25), 2.0)
    axes = _axes(ax, ncols=2, figsize=(2 * PANEL + 1.6, tall + 0.9))
    found = np.array([names[k] for k in best], object)
    _draw_labels(axes[0], _filled(found, rows, columns, None), names)
    axes[0].set_title("best label", loc="left", fontsize=9, color=INK)
    shares = _filled(largest, rows, columns, np.nan).astype(float)
    seen = axes[1].imshow(
        shares, cmap="cividis", vmin=1 / table.shape[1], vmax=1, interpolation="nearest"
    )
    bar = axes[1].figure.colorbar(seen, ax=axes[1], shrink=0.8)
    bar.set_label("share of the best label", fontsize=8)
    bar.outline.set_visible(False)
    title = f"{int(fractional.sum()):,} of {n:,} nodes fractional"
    axes[1].set_title(title, loc="left", fontsize=9, color=INK)
    for panel in axes[:2]:
        _bare(panel)
    if own:
        _legend(axes[0].figure, names)
    return axes[0].figure


def _lines(n: int) -> tuple[int, int]:
    """Rows and columns for nodes in their order, one line after the other."""
    columns = min(n, max(10, math.ceil(1.6 * math.sqrt(n))))
    return -(-n // columns), columns


def _filled(values, rows: int, columns: int, empty) -> np.ndarray:
    table = np.full(rows * columns, empty, object)
    table[: len(values)] = values
    return table.reshape(rows, columns)


# for the command line ---------------------------------------------------------------------


def draw_worst(X, truth, predicted, shapes, most: int) -> Figure:
    """The graphs with the most wrong labels; grids beside their photographs."""
    known = [[a for a in row if a is not None] for row in truth]
    errors = [
        sum(a is not None and a != b for a, b in zip(row, guess, strict=True))
        for row, guess in zip(truth, predicted, strict=True)
    ]
    there = [i for i in range(len(X)) if known[i]]
    chosen = sorted(there, key=lambda i: -errors[i])[:most]
    names = _all_labels(
        [np.array([*row, None], object) for row in known + predicted], None
    )
    grids = all(shapes[i] is not None for i in chosen)
    figure, rows = _rows(len(chosen), 4 if grids else 3)
    for i, panels in zip(chosen, rows, strict=True):
        size = shapes[i] or _lines(len(truth[i]))
        wide, high = size
        maps = [_filled(row, wide, high, None) for row in (truth[i], predicted[i])]
        image = photograph(X[i], shapes[i]) if grids else None
        plot_segmentation(image, maps[0], maps[1], labels=names, ax=panels)
        panels[0].set_ylabel(f"graph {i}", fontsize=8, color=INK)
    _legend(figure, names)
    return figure


def draw_fractional(model, X, tables, shapes, most: int) -> Figure:
    """The graphs with the most fractional nodes."""
    if isinstance(model.classes_, dict):
        raise ValueError(
            "graphs with types cannot be drawn so: use predict_relaxed in Python."
        )
    there = [i for i in range(len(X)) if len(tables[i])]
    count = [int((table.max(1, initial=0) < 1 - CERTAIN).sum()) for table in tables]
    chosen = sorted(there, key=lambda i: -count[i])[:most]
    if not chosen:
        raise ValueError("all graphs are empty: nothing to draw.")
    names = model.classes_.tolist()
    figure, rows = _rows(len(chosen), 2)
    for i, panels in zip(chosen, rows, strict=True):
        plot_fractional(tables[i], shapes[i], names, ax=panels)
        panels[0].set_ylabel(f"graph {i}", fontsize=8, color=INK)
    _legend(figure, names)
    return figure


def _rows(n: int, panels: int):
    size = (PANEL * panels + 0.8, (PANEL + 0.3) * n + 0.5)
    figure, axes = _pyplot().subplots(
        n, panels, figsize=size, squeeze=False, layout="constrained"
    )
    return figure, axes
