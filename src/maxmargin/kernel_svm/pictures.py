"""Basis points as pictures, where the inputs are. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.plots.training import GREY, INK, ORANGE, _axes, _pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# pictures -----------------------------------------------------------------


def plot_basis_images(
    model: Any,
    shape: tuple[int, ...] | None = None,
    columns: int = 15,
    ax: Axes | None = None,
) -> Figure:
    """Basis points as pictures, sorted by the class that they support most.

    That is the class with the largest coefficient; larger ones come first. Negative pixels,
    which points that lie anywhere can have, are orange.

    Parameters
    ----------
    model : fitted KernelSVM whose inputs are pixels
    shape : (height, width) or (height, width, 3) of a picture; None: a square
    columns : pictures in a row, at most
    ax : Axes or None
    """
    points, shape = _pictures(model, shape)
    if columns < 1:
        raise ValueError(f"columns={columns!r} is not possible: it must be 1 or more.")
    owner = model.dual_coef_.argmax(axis=1)
    rows = []  # (class, numbers of points)
    for k, label in enumerate(model.classes_.tolist()):
        mine = np.flatnonzero(owner == k)
        mine = mine[np.argsort(-model.dual_coef_[mine, k], kind="stable")]
        rows += [
            (label if start == 0 else "", mine[start : start + columns])
            for start in range(0, len(mine), columns)
        ]
    high, wide = shape[:2]
    most = max(len(mine) for _, mine in rows)
    step_y, step_x = high + max(1, high // 12), wide + max(1, wide // 12)
    canvas = np.full((step_y * len(rows), step_x * most, *shape[2:]), np.nan)
    frames = []
    for i, (_, mine) in enumerate(rows):
        for j, point in enumerate(mine):
            top, left = i * step_y, j * step_x
            canvas[top : top + high, left : left + wide] = points[point].reshape(shape)
            frames.append((left - 0.5, top - 0.5))
    unit = 0.55 / max(high, wide)  # inches
    size = 1.2 + unit * step_x * most, 0.7 + unit * step_y * len(rows)
    (ax,) = _axes(ax, figsize=(max(size[0], 3.6), max(size[1], 1.6)))
    negative = _draw_canvas(ax, canvas, points)
    for corner in frames:
        ax.add_patch(
            _pyplot().Rectangle(corner, wide, high, fc="none", ec=GREY, lw=0.5)
        )
    places = [i * step_y + high / 2 - 0.5 for i in range(len(rows))]
    marked = [(p, str(label)) for p, (label, _) in zip(places, rows, strict=True)]
    marked = [(p, label) for p, label in marked if label != ""]
    ax.set_yticks(*zip(*marked, strict=True), color=INK, parse_math=False)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_ylabel("class of the largest coefficient", color=INK, fontsize=9)
    title = f"{len(points):,} basis points"
    title += "; orange pixels are negative" if negative else ""
    ax.set_title(title, loc="left", fontsize=11)
    return ax.figure


def _draw_canvas(ax, canvas, points) -> bool:
    """Ink on white; whether pixels can be negative: these are orange."""
    low, high = np.quantile(points, [0.005, 0.995])
    high = high if high > low else low + 1.0
    if canvas.ndim == 3:
        canvas = np.nan_to_num(np.clip((canvas - low) / (high - low), 0, 1), nan=1.0)
        ax.imshow(canvas, interpolation="nearest")
        return False
    signed = low < -0.05 * high
    bound = max(high, -low)
    limits = (-bound, bound) if signed else (low, high)
    style = {"vmin": limits[0], "vmax": limits[1], "interpolation": "nearest"}
    ax.imshow(canvas, cmap=_orange_to_black() if signed else "gray_r", **style)
    return signed


def _orange_to_black():
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("ink", [ORANGE, "white", "black"])


def _pictures(model, shape) -> tuple[np.ndarray, tuple[int, ...]]:
    points = model.basis_
    if getattr(points, "ndim", 0) != 2:
        raise ValueError("the basis points of this model are no vectors: no pictures.")
    points = (
        points.toarray() if hasattr(points, "toarray") else np.asarray(points, float)
    )
    pixels = points.shape[1]
    if shape is None:
        side = math.isqrt(pixels)
        if side**2 != pixels:
            raise ValueError(
                f"{pixels} pixels are no square: give the shape, (height, width)."
            )
        shape = (side, side)
    shape = tuple(int(n) for n in shape)
    if len(shape) not in (2, 3) or shape[2:] not in ((), (3,)):
        raise ValueError(
            f"shape={shape} is not possible: give (height, width), or (height, width, 3)."
        )
    if math.prod(shape) != pixels:
        raise ValueError(
            f"shape={shape} has {math.prod(shape)} pixels, but basis points have {pixels}."
        )
    return points, shape
