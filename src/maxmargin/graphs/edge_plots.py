"""What a GraphLabeler learned of neighbours. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.plots.cells import digits_of, ink_on, name_cells, signed, write_cell
from maxmargin.plots.training import INK, _axes
from maxmargin.plots.weights import plot_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NUMBERS = 12  # labels up to which cells show their numbers
MOST = 12  # tables in a picture
MOST_EQUAL = 4  # features of associative edges that are tables, not bars
COLUMNS = 4


def plot_edge_weights(
    model: Any, names: Sequence[str] | None = None, ax: Axes | None = None
) -> Figure:
    """Heat maps of pairs of labels, one for every feature (and type) of edges.

    Rows are labels of the first node of an edge, columns of the second: what such a pair
    adds to the score, per unit of the feature. Associative edges have one weight per
    feature, which equal labels get: it stands on the diagonal, and other pairs get 0. Of
    many such features, bars.

    Parameters
    ----------
    model : fitted GraphLabeler
    names : names of the features of edges, or None for numbers
    ax : Axes, as many as there are tables, or None
        Of more than 12 tables, those with the largest weights are drawn.
    """
    equal = model.edges == "associative"
    if equal and len(_bars(model, names)) > MOST_EQUAL:
        return plot_weights(_bars(model, names), ax)
    tables = _tables(model, names)
    if not tables:
        raise ValueError("the graphs of this model have no edges: nothing to draw.")
    limit = max(float(np.abs(table).max(initial=0.0)) for _, table, _ in tables) or 1.0
    k = max(max(table.shape) for _, table, _ in tables)
    cell = 0.5 if k <= MOST_NUMBERS else 0.3
    side = min(max(1.9, 1.0 + cell * k), 9.0)
    columns = min(len(tables), COLUMNS)
    rows = -(-len(tables) // columns)
    size = (max(columns * side + 1.0, 4.8), rows * (side + 0.3) + 0.3)
    axes = _axes(ax, nrows=rows, ncols=columns, figsize=size)
    for (title, table, ends), panel in zip(tables, axes, strict=False):
        image = panel.imshow(table, cmap="PuOr_r", vmin=-limit, vmax=limit)
        name_cells(panel, *([str(label) for label in some] for some in ends), k)  # type: ignore[call-arg]
        panel.set_title(title, loc="left", fontsize=9, color=INK, parse_math=False)
        if k <= MOST_NUMBERS:
            _write_numbers(panel, image, table, limit)
    for panel in axes[len(tables) :]:
        panel.set_visible(False)
    figure = axes[0].figure
    axes[0].set_ylabel("label of the first node", fontsize=8, color=INK)
    axes[0].set_xlabel("label of the second", fontsize=8, color=INK)
    if ax is None:
        title = "What pairs of neighbouring labels add to the score"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        bar = figure.colorbar(image, ax=axes, shrink=0.7)
        bar.set_label("weight", fontsize=8)
        bar.outline.set_visible(False)
    return figure


def _write_numbers(ax, image, table, limit: float) -> None:
    digits = digits_of(limit)
    for (i, j), value in np.ndenumerate(table):
        write_cell(ax, i, j, signed(float(value), digits), ink_on(image, value), 7)


def _feature(names, j: int, featured: bool) -> str:
    if not featured:
        return "all edges"
    if names is None:
        return f"feature {j}"
    names = list(names)
    if j >= len(names):
        raise ValueError(f"there are {len(names)} names, but a feature {j} of edges.")
    return str(names[j])


def _by_type(model) -> list:
    """(edge type as text, number of it, its weights)."""
    schema = model.structure_.schema
    found = []
    for s, (u, name, v) in enumerate(schema.edge_types):
        key = (u, name, v)
        table = model.edge_coef_[key] if schema.typed else model.edge_coef_
        text = f"{u} {name} {v}".replace("  ", " - ").strip() if schema.typed else ""
        found.append((text, s, table))
    return found


def _tables(model, names) -> list[tuple[str, np.ndarray, list]]:
    """(title, weights of pairs of labels, labels of both ends)."""
    schema, found = model.structure_.schema, []
    for text, s, weights in _by_type(model):
        ends = [schema.labels[t] for t in schema.ends(s)]
        if weights.ndim == 1:  # of equal labels
            same = np.equal.outer(*(np.asarray(some, object) for some in ends))
            weights = same.astype(float)[:, :, None] * weights
        for j in range(weights.shape[2]):
            title = f"{text}: " if text else ""
            title += _feature(names, j, schema.featured[s])
            found.append((title, weights[:, :, j], ends))
    if len(found) > MOST:
        order = sorted(range(len(found)), key=lambda t: -np.abs(found[t][1]).max())
        found = [found[t] for t in sorted(order[:MOST])]
    return found


def _bars(model, names) -> list[tuple[str, str, float]]:
    featured = model.structure_.schema.featured
    return [
        (text or "equal labels", _feature(names, j, featured[s]), float(value))
        for text, s, weights in _by_type(model)
        for j, value in enumerate(weights)
    ]
