"""Pictures of kernel machines. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.plots.training import GREY, INK, _axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito, and three of Tol; neighbours differ in lightness too
COLOURS: tuple[str, ...] = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"),
    *("#882255", "#F0E442", "#332288", "#999933"),
)
MARKERS = "osD^vP*X<>"
STEPS = 160  # points along a side of the plane
ANCHORS = 500  # samples that say where the data are, beside the plane
MOST = 3000  # samples that are drawn


# decision regions -----------------------------------------------------------------


def plot_boundary(
    model: Any,
    X: Any,
    y: Sequence,
    columns: tuple[int, int] | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Decision regions in a plane, with samples and basis points.

    Parameters
    ----------
    model : fitted KernelSVM of vectors
    X, y : samples and their classes
        Wrongly predicted ones have a dark edge. At most 3,000 are drawn, evenly spread over
        the list.
    columns : pair of column numbers, or None
        The axes; None means both columns if there are two, otherwise the first two
        principal components of X. What the axes do not show is, at every place, the mean of
        the samples nearby: regions are those of a surface through the data.
    names : list of the names of columns, or None
    ax : Axes or None
    """
    X, y = _samples(model, X, y)  # type: ignore[assignment]
    plane = _Plane.of(X, columns, names)
    points = plane.flat(X)
    (ax,) = _axes(ax, figsize=(6.4, 5.4))
    x_range, y_range = _range(points[:, 0]), _range(points[:, 1])
    grid = np.stack(
        np.meshgrid(np.linspace(*x_range, STEPS), np.linspace(*y_range, STEPS))
    )
    _draw_regions(ax, model, grid, plane)
    wrong = model.predict(X) != y
    _draw_samples(ax, model.classes_, points, y, wrong)
    _draw_basis(ax, model, plane)
    ax.set_xlim(*x_range)
    ax.set_ylim(*y_range)
    ax.set_xlabel(plane.names[0], parse_math=False)
    ax.set_ylabel(plane.names[1], parse_math=False)
    title = (
        f"{len(model.dual_coef_):,} basis functions; {wrong.sum():,} of {len(y):,} samples "
        "wrong"
    )
    if wrong.any():
        edge = {"marker": "o", "ms": 4, "mfc": "#CCCCCC", "mec": INK, "mew": 1.1}
        ax.plot([], [], ls="none", label="wrong: a dark edge", **edge)
    if X.shape[1] > 2:
        title += "\nregions: other columns are as in the samples nearby"
    ax.set_title(title, loc="left", fontsize=11 if X.shape[1] == 2 else 10)
    legend = ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    for mark in legend.legend_handles:
        if hasattr(mark, "set_sizes"):
            mark.set_sizes([40])
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax.figure


class _Plane:
    """Two orthonormal directions (2, features), and what samples are beside them."""

    def __init__(self, X, directions, names):
        self.directions, self.names = directions, names
        chosen = np.linspace(0, len(X) - 1, min(len(X), ANCHORS)).astype(int)
        self.anchors = self.flat(X[chosen])
        self.beside = X[chosen] - self.anchors @ directions
        self.near = 0.06 * np.maximum(np.ptp(self.anchors, axis=0), 1e-12)

    @classmethod
    def of(cls, X, columns, names) -> _Plane:
        width = X.shape[1]
        if columns is None and width > 2:
            _, size, directions = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
            directions *= np.where(directions.sum(axis=1) < 0, -1.0, 1.0)[:, None]
            share = size**2 / max(float((size**2).sum()), 1e-300)
            axes = [
                f"principal component {k + 1} ({part:.0%} of the variance)"
                for k, part in enumerate(share[:2])
            ]
            return cls(X, directions[:2], axes)
        a, b = _checked_columns((0, 1) if columns is None else columns, width)
        if names is None:
            names = [f"column {j}" for j in range(width)]
        directions = np.zeros((2, width))
        directions[0, a] = directions[1, b] = 1.0
        return cls(X, directions, [str(names[a]), str(names[b])])

    def flat(self, X) -> np.ndarray:
        return X @ self.directions.T

    def lifted(self, points) -> np.ndarray:
        """Into the space: beside the plane as the samples nearby are, on average."""
        out = points @ self.directions
        if out.shape[1] > 2:
            a, b = self.anchors / self.near, points / self.near
            near = b @ a.T - (a * a).sum(axis=1) / 2
            near = np.exp(near - near.max(axis=1, keepdims=True))
            out += (near / near.sum(axis=1, keepdims=True)) @ self.beside
        return out


def _checked_columns(columns, width: int) -> tuple[int, int]:
    try:
        a, b = (int(j) for j in columns)
    except (TypeError, ValueError):
        a = b = -1
    if a == b or not (0 <= a < width and 0 <= b < width):
        raise ValueError(
            f"columns={columns!r} is not possible: give two different numbers from 0 to "
            f"{width - 1}."
        )
    return a, b


def _samples(model, X, y) -> tuple[np.ndarray, np.ndarray]:
    """X as a dense table and y as an array, thinned out where there are many."""
    if getattr(model.basis_, "ndim", 0) != 2:
        raise ValueError(
            "the boundary can be drawn of kernels of vectors only; this model has none."
        )
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, float)
    y = np.asarray(y)
    if X.ndim != 2 or X.shape[1] < 2 or len(X) != len(y) or not len(y):
        raise ValueError(
            f"X of shape {X.shape} and y of length {len(y)} cannot be drawn: give a class "
            "per row, and two columns at least."
        )
    if len(y) > MOST:
        chosen = np.linspace(0, len(y) - 1, MOST).round().astype(int)
        X, y = X[chosen], y[chosen]
    return X, y


def _range(values) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    edge = 0.08 * (high - low) or 1.0
    return low - edge, high + edge


def _colour(k: int) -> str:
    return COLOURS[k % len(COLOURS)]


def _draw_regions(ax, model, grid, plane) -> None:
    from matplotlib.colors import ListedColormap, to_rgb

    k = len(model.classes_)
    scores = model.decision_function(plane.lifted(grid.reshape(2, -1).T))
    best = (scores > 0).astype(int) if k == 2 else scores.argmax(axis=1)
    pale = [[1 - 0.3 * (1 - c) for c in to_rgb(_colour(j))] for j in range(k)]
    ax.pcolormesh(
        *grid,
        best.reshape(grid.shape[1:]),
        cmap=ListedColormap(pale),
        vmin=-0.5,
        vmax=k - 0.5,
        shading="nearest",
        rasterized=True,
        zorder=0,
    )
    shape = grid.shape[1:]
    if k == 2:
        lines = {"levels": [-1, 0, 1], "linestyles": ["--", "-", "--"]}
        ax.contour(*grid, scores.reshape(shape), colors=INK, linewidths=0.9, **lines)
        ax.plot([], [], "-", color=INK, lw=0.9, label="boundary")
        ax.plot([], [], "--", color=INK, lw=0.9, label="margin")
        return
    for j in range(k):
        others = np.delete(scores, j, axis=1).max(axis=1)
        ahead = (scores[:, j] - others).reshape(shape)
        if ahead.min() < 0 < ahead.max():
            ax.contour(*grid, ahead, levels=[0], colors="white", linewidths=1.2)


def _draw_samples(ax, classes, points, y, wrong) -> None:
    size = float(np.clip(6000 / len(y), 14, 32))
    known = {label: k for k, label in enumerate(classes.tolist())}
    for label in sorted(set(y.tolist()), key=lambda z: (z not in known, str(z))):
        k, here = known.get(label), y == label
        colour = GREY if k is None else _colour(k)
        marker = "." if k is None else MARKERS[k % len(MARKERS)]
        edges = np.where(wrong[here], INK, "white")
        ax.scatter(
            *points[here].T,
            s=size,
            c=colour,
            marker=marker,
            edgecolors=edges,
            linewidths=np.where(wrong[here], 1.1, 0.4),
            label=str(label),
            zorder=2,
        )
        if len(known) > 2 and k is not None:
            ax.text(
                *np.median(points[here], axis=0),
                str(label),
                fontsize=12,
                weight="bold",
                ha="center",
                va="center",
                parse_math=False,
                bbox={"fc": "white", "ec": colour, "alpha": 0.85, "pad": 1.5},
                zorder=4,
            )


def _draw_basis(ax, model, plane) -> None:
    points = model.basis_
    points = points.toarray() if hasattr(points, "toarray") else np.asarray(points)
    ax.scatter(
        *plane.flat(points).T,
        s=70,
        facecolors="none",
        edgecolors=INK,
        linewidths=1.1,
        label="basis point",
        zorder=3,
    )


# accuracy -----------------------------------------------------------------


def plot_accuracy_by_size(
    models: Sequence | Mapping[str, Any], X: Any, y: Sequence, ax: Axes | None = None
) -> Figure:
    """Accuracy on X and y against the number of basis functions.

    ``models`` are those that ``model.path(n_components=[...])`` returns, or a dict of
    names and such lists. A list of one, such as the exact machine, is a level to compare
    with.
    """
    lists: dict[str, Any] = (
        dict(models) if isinstance(models, Mapping) else {"": models}
    )
    lists = {k: v if isinstance(v, (list, tuple)) else [v] for k, v in lists.items()}
    if not lists or not all(lists.values()):
        raise ValueError(
            "there are no models: give a list of them, or a dict of lists."
        )
    (ax,) = _axes(ax, figsize=(6.4, 4.2))
    sizes = set()
    for k, (name, found) in enumerate(lists.items()):
        found = sorted(found, key=lambda model: len(model.dual_coef_))
        size = [len(model.dual_coef_) for model in found]
        right = [float(model.score(X, y)) for model in found]
        style = {"color": COLOURS[k % 6], "marker": MARKERS[k % len(MARKERS)]}
        label = name if not name or len(found) > 1 else f"{name} ({size[0]:,})"
        if len(found) == 1 and len(lists) > 1:
            ax.axhline(right[0], color=style["color"], lw=1, ls="--", zorder=1)
        else:
            sizes.update(size)
        ax.plot(size, right, lw=1.8, ms=5.5, label=label, **style)
    ax.set_xscale("log")
    _size_ticks(ax, sorted(sizes))
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.4g}%")
    ax.set_xlabel("basis functions")
    ax.set_ylabel("accuracy")
    ax.set_title(f"Accuracy on {len(y):,} samples", loc="left", fontsize=11)
    ax.grid(axis="y", color=GREY, alpha=0.25, lw=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    if any(lists):
        ax.legend(frameon=False)
    return ax.figure


def _size_ticks(ax, sizes: list[int]) -> None:
    """The sizes themselves, as far as there is room for them."""
    shown: list[int] = []
    reach = math.log(max(sizes[-1:] or [1])) - math.log(min(sizes[:1] or [1])) or 1.0
    for size in sizes:
        if not shown or math.log(size / shown[-1]) > 0.06 * reach:
            shown.append(size)
    if shown:
        ax.set_xticks(shown, [f"{size:,}" for size in shown])
        ax.set_xticks([], minor=True)
