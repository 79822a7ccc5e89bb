"""What pictures of tables share: squares for cells, numbers that fit into them."""

from __future__ import annotations

import io
import math
import os
from typing import TYPE_CHECKING

from maxmargin.files.atomic import write_file
from maxmargin.plots.training import INK, _pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MINUS = "\N{MINUS SIGN}"
PLAIN = {"parse_math": False}  # a dollar is a dollar: PRP$ is a label


def square(ax, k, cell=0.36):
    """The given Axes, or those of a new figure for a table with k rows and columns."""
    pyplot = _pyplot()
    if ax is not None:
        return ax
    side = min(max(3.6, 1.8 + cell * k), 13.0)  # inches
    return pyplot.subplots(figsize=(side + 1.0, side), layout="compressed")[1]


def power_norm(limit):
    from matplotlib.colors import PowerNorm

    return PowerNorm(0.5, vmin=0, vmax=limit)


def name_cells(ax, rows, columns, k) -> None:
    """Names at the sides of a table."""
    size = 9 if k <= 15 else 8 if k <= 30 else 6
    turned = 90 if max(map(len, columns)) > 2 else 0
    ax.set_xticks(range(len(columns)), columns, rotation=turned, fontsize=size, **PLAIN)
    ax.set_yticks(range(len(rows)), rows, fontsize=size, **PLAIN)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def write_cell(ax, i, j, text, color, size) -> None:
    ax.text(j, i, text, ha="center", va="center", color=color, fontsize=size)


def ink_on(image, value: float) -> str:
    """Black or white, whichever can be read on the colour of this value."""
    red, green, blue, _ = image.cmap(image.norm(value))
    return "white" if 0.3 * red + 0.59 * green + 0.11 * blue < 0.5 else INK


def signed(value: float, digits: int) -> str:
    """A number with a true minus sign."""
    return number_text(value, digits).replace("-", MINUS)


def digits_of(largest: float) -> int:
    """Decimals that show numbers of this size: 1 from 1 up, 2 below, ..."""
    return 1 + min(max(-math.floor(math.log10(largest)), 0), 6) if largest > 0 else 1


def number_text(value: float, digits: int) -> str:
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def save_figure(figure, path: str | os.PathLike) -> None:
    """Write a picture whole or not at all; its ending says of what kind (default: PNG)."""
    data = io.BytesIO()
    ending = os.path.splitext(os.fsdecode(path))[1].lstrip(".").lower() or "png"
    figure.savefig(data, format=ending, dpi=150)
    write_file(path, data.getvalue())


def finish(figure, own: bool, path) -> Figure:
    if own:  # squares of fixed shape need a round of layout before that of drawing
        figure.get_layout_engine().execute(figure)
    if path is None:
        return figure
    save_figure(figure, path)
    if own:
        _pyplot().close(figure)  # it is in the file: do not keep it for show()
    return figure
