"""A picture of named weights, for models of every kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from maxmargin.plots.training import BLUE, INK, ORANGE, _axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 60  # bars that have room


def plot_weights(
    rows: Sequence[tuple[str, str, float]], ax: Axes | None = None
) -> Figure:
    """Bars of (group, name, weight), in this order from the top; at most 60.

    The names of groups are shown if there are several.
    """
    if not rows:
        raise ValueError("there is no weight with a name: nothing can be drawn.")
    rows = list(rows)[:MOST]
    several = len({group for group, _, _ in rows}) > 1
    names = [f"{group}: {name}" if several else name for group, name, _ in rows]
    values = [weight for _, _, weight in rows]
    (ax,) = _axes(ax, figsize=(6.4, 0.8 + 0.22 * len(rows)))
    colors = [BLUE if value >= 0 else ORANGE for value in values]
    ax.barh(range(len(rows)), values, color=colors)
    ax.set_yticks(range(len(rows)), names, fontsize=8, parse_math=False)
    ax.invert_yaxis()
    ax.axvline(0, color=INK, lw=0.8)
    ax.set_xlabel("weight")
    ax.spines[["top", "right"]].set_visible(False)
    return ax.figure
