"""What pictures share, and those of predicted labels. Needs matplotlib (extra ``plot``).

Every function draws into the ``ax`` that it is given, or makes a figure, and returns
the figure. Colours are told apart by all common kinds of colour vision, and nothing is
said by colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From the palette of Okabe and Ito.
BLUE, ORANGE, GREY, INK = "#0072B2", "#D55E00", "#8C8C8C", "#333333"
LINE = 0.42  # height of a line of labels under pictures of height 1


def plot_predictions(
    images: Sequence[np.ndarray],
    truth: Sequence[Sequence],
    predictions: Mapping[str, Sequence[Sequence]],
    title: str | None = None,
    columns: int = 2,
    ax: Axes | None = None,
) -> Figure:
    """A row of pictures per sequence, over what they are and what each model reads.

    Parameters
    ----------
    images : list of arrays (length, height, width)
    truth : list of label sequences
    predictions : dict of model name -> list of label sequences
        Wrong labels stand white in a coloured box.
    title : str or None
        None counts the wrong labels of each model.
    columns : int
        How many sequences stand side by side.
    ax : Axes or None
    """
    images, truth = list(images), list(truth)
    read = {name: list(rows) for name, rows in predictions.items()}
    _check_predictions(images, truth, read, columns)
    # Units: a picture is 1 wide and 1 high, a line of labels LINE high.
    margin = 0.5 + 0.15 * max(map(len, ["written", *read]))
    width = margin + max(map(len, images)) + 0.3
    block = 1.1 + LINE * (1 + len(read)) + 0.35
    columns = min(columns, len(images))
    right, bottom = columns * width, math.ceil(len(images) / columns) * block
    (ax,) = _axes(ax, figsize=(0.5 * right + 0.2, 0.5 * bottom + 0.4))
    for i, pictures in enumerate(images):
        left, top = i % columns * width + margin, i // columns * block
        for t, picture in enumerate(pictures):
            box = (left + t + 0.05, left + t + 0.95, top + 0.95, top + 0.05)
            ax.imshow(picture, cmap="gray_r", extent=box, interpolation="nearest")
        line = top + 1.1 + LINE / 2
        _write_labels(ax, "written", truth[i], truth[i], left, line)
        for name, rows in read.items():
            line += LINE
            _write_labels(ax, name, rows[i], truth[i], left, line)
    ax.set_xlim(0, right)
    ax.set_ylim(bottom - 0.3, -0.1)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_title(title or _count_wrong(truth, read), loc="left", fontsize=11)
    return ax.figure


def _check_predictions(images, truth, read, columns) -> None:
    if not images:
        raise ValueError("there are no images: nothing to draw.")
    if columns < 1:
        raise ValueError(f"columns={columns!r} is not possible: it must be 1 or more.")
    for name, rows in [("truth", truth), *read.items()]:
        if [len(row) for row in rows] != [len(row) for row in images]:
            raise ValueError(
                f"{name!r} does not fit the images: one label per picture is needed."
            )


def _write_labels(ax, name, labels, truth, x, y) -> None:
    plain = name == "written"
    style = {"va": "center", "fontsize": 9}
    ax.text(x - 0.25, y, name, ha="right", color=GREY if plain else INK, **style)
    for t, (label, true) in enumerate(zip(labels, truth, strict=True)):
        if label == true:
            look: dict[str, Any] = {"color": GREY if plain else INK}
        else:
            box = {"boxstyle": "round,pad=0.18", "fc": ORANGE, "ec": "none"}
            look = {"color": "white", "weight": "bold", "bbox": box}
        ax.text(x + t + 0.5, y, str(label), ha="center", **look, **style)


def _count_wrong(truth, read) -> str:
    counts = []
    for name, rows in read.items():
        pairs = zip(truth, rows, strict=True)
        wrong = sum(a != b for y, z in pairs for a, b in zip(y, z, strict=True))
        counts.append(f"{name} {wrong}")
    return f"Wrong labels of {sum(map(len, truth))}: {', '.join(counts)}"


# shared ------------------------------------------------------------------------------


def _axes(ax, **layout) -> list:
    """The given Axes as a list, or those of a new figure."""
    pyplot = _pyplot()
    if ax is not None:
        return list(np.ravel(ax))
    _, made = pyplot.subplots(layout="constrained", **layout)
    return list(np.ravel(made))


def legend_below(ax, own: bool, **look) -> None:
    """Under the axis: of a figure of ours, as the layout has room for it."""
    where = {"loc": "outside lower left"} if own else {"loc": "best"}
    place = ax.figure.legend if own else ax.legend
    for text in place(frameon=False, fontsize=9, **where, **look).get_texts():
        text.set_parse_math(False)


def _pyplot():
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError(
            "Plots need matplotlib: install it with  pip install 'maxmargin[plot]'"
        ) from None
    return pyplot
