"""Pictures of training and predictions. Needs matplotlib (extra ``plot``).

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


def plot_convergence(model: Any, ax: Axes | Sequence[Axes] | None = None) -> Figure:
    """Primal and dual of a fit against time, and the relative gap that they prove.

    Of a fit with hidden parts, bounds of every convex problem, and the objective after
    each outer step: what it proves is a stationary point.

    Parameters
    ----------
    model : fitted estimator, or a list of history rows (``history_``)
        Passes without a certificate of their own show the dual only.
    ax : Axes, pair of Axes, or None
        One Axes gets the bounds only; the second of a pair gets the relative gap.
    """
    rows = _history(model)
    rounds = getattr(model, "rounds_", None)
    if not any(math.isfinite(row["primal"]) for row in rows):
        raise ValueError("the history holds no certified pass: nothing to draw.")
    certificate = getattr(model, "certificate_", None)
    exact = getattr(certificate, "exact", True)
    axes = _axes(ax, nrows=2, sharex=True, figsize=(6.4, 5.2), height_ratios=[3, 2])
    seconds = np.array([row["seconds"] for row in rows])
    primal = np.array([row["primal"] for row in rows])
    dual = np.array([row["dual"] for row in rows])

    if rounds:
        _draw_rounds(axes[0], rows, seconds, primal, dual, rounds)
        title = _latent_verdict(model, rows[-1])
    else:
        _draw_bounds(axes[0], seconds, primal, dual, exact)
        title = _verdict(rows[-1], exact)
    axes[0].set_title(title, loc="left", fontsize=11)
    if len(axes) > 1:
        known = np.isfinite(primal)
        gap = (primal - dual)[known] / np.where(primal > 0, primal, 1.0)[known]
        _draw_gap(axes[1], seconds[known], gap, _tolerance(model))
    for panel in axes if ax is not None else axes[-1:]:
        panel.set_xlabel("seconds of training")
        if seconds[0] < seconds[-1] / 2:  # else compiling came first: leave it out
            panel.set_xlim(0, None)
    return axes[0].figure


def _tolerance(model) -> float | None:
    """tol as the fit used it, or None for a bare history."""
    own = getattr(model, "_tolerance", None)
    return own() if own else getattr(model, "tol", None)


def _draw_bounds(ax, seconds, primal, dual, exact) -> None:
    style = {"lw": 1.8, "marker": "o", "ms": 3.5}
    known = np.isfinite(primal)
    ax.plot(seconds[known], primal[known], color=ORANGE, label="primal", **style)
    between = "the optimum is in here" if exact else "gap, not proved"
    fill = {"color": GREY, "alpha": 0.2, "lw": 0, "label": between}
    ax.fill_between(seconds[known], dual[known], primal[known], **fill)
    ax.plot(seconds, dual, color=BLUE, label="dual", **style)
    # The first passes are far off and would press the rest into one line.
    low, high = dual[-1], primal[-1]
    room = max(2.0 * (high - low), 0.6 * abs(high), 1e-12)
    ax.set_ylim(max(dual.min(), low - room) - 0.05 * room, None)
    ax.set_ylim(None, min(primal[known].max(), high + room) + 0.05 * room)
    ax.set_ylabel("objective")
    ax.legend(frameon=False, loc="best")
    _plain(ax)


def _draw_rounds(ax, rows, seconds, primal, dual, rounds) -> None:
    """Inner bounds, apart for each convex problem, and the outer objective as steps."""
    outer = np.array([row.get("outer", 1) for row in rows])
    for k, problem in enumerate(np.unique(outer)):
        chosen = outer == problem
        sure = chosen & np.isfinite(primal)
        names = ("inner primal", "inner dual") if k == 0 else (None, None)
        style = {"lw": 1.2, "marker": "o", "ms": 2.5}
        ax.plot(seconds[sure], primal[sure], color=ORANGE, label=names[0], **style)
        ax.plot(seconds[chosen], dual[chosen], color=BLUE, label=names[1], **style)
    at = [row["seconds"] for row in rounds]
    value = [row["objective"] for row in rounds]
    look = {"color": INK, "lw": 1.8, "marker": "s", "ms": 4, "label": "objective"}
    ax.step(at, value, where="post", **look)
    room = max(0.6 * (value[0] - value[-1]), 0.3 * abs(value[-1]), 1e-12)
    ax.set_ylim(value[-1] - room, value[0] + room)
    ax.set_ylabel("objective")
    ax.legend(frameon=False, loc="best")
    _plain(ax)


def _latent_verdict(model, row) -> str:
    steps = f"{len(model.rounds_)} step{'s' if len(model.rounds_) != 1 else ''}"
    spent = f"{row['seconds']:.2g} s, {steps}"
    if not model.converged_:
        return f"Not yet a stationary point ({spent})"
    point = model.certificate_
    share = max(point.bound, 0.0) / point.objective if point.objective > 0 else 0.0
    return f"Stationary within {_percent(share)}; other starts may end lower ({spent})"


def _draw_gap(ax, seconds, gap, tol) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    seen = gap > 0
    ax.plot(seconds[seen], gap[seen], color=INK, lw=1.8, marker="o", ms=3.5)
    ax.set_yscale("log")
    if tol is not None:
        ax.axhline(tol, color=GREY, lw=1.2, ls="--")
        ax.annotate(
            f"tol = {_percent(tol)}",
            (0.0, tol),
            xycoords=("axes fraction", "data"),
            xytext=(4, -3),
            textcoords="offset points",
            va="top",
            color=GREY,
        )
        low = min([tol, *gap[seen]])
        ax.set_ylim(low / 2.2, None)
    low, high = ax.get_ylim()
    steps = (1.0,) if high > 100 * low else (1.0, 2.0, 5.0)
    ax.yaxis.set_major_locator(LogLocator(subs=steps))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _percent(value)))
    ax.minorticks_off()
    ax.set_ylabel("relative gap")
    _plain(ax)


def _verdict(row, exact) -> str:
    """What the last row proves, in one line."""
    gap = (row["primal"] - row["dual"]) / row["primal"] if row["primal"] > 0 else 0.0
    passes = f"{row['iteration']} pass{'es' if row['iteration'] != 1 else ''}"
    spent = f"{row['seconds']:.2g} s, {passes}"
    if row["dual"] <= 0:
        return f"No lower bound: this solver has no certificate ({spent})"
    if not exact:
        return f"Estimated gap {_percent(gap)}, not proved ({spent})"
    return f"Within {_percent(max(gap, 0.0))} of the optimum, proved ({spent})"


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
    return f"Wrong of {sum(map(len, truth))} labels: {', '.join(counts)}"


# shared ------------------------------------------------------------------------------


def _axes(ax, **layout) -> list:
    """The given Axes as a list, or those of a new figure."""
    pyplot = _pyplot()
    if ax is not None:
        return list(np.ravel(ax))
    _, made = pyplot.subplots(layout="constrained", **layout)
    return list(np.ravel(made))


def _pyplot():
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError(
            "Plots need matplotlib: install it with  pip install 'maxmargin[plot]'"
        ) from None
    return pyplot


def _history(model) -> list[dict]:
    if hasattr(model, "history_"):
        return model.history_
    if isinstance(model, (list, tuple)):
        return list(model)
    raise ValueError(
        f"{type(model).__name__} has no history_: give a fitted model or its history."
    )


def _plain(ax) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#E6E6E6", lw=0.8)
    ax.set_axisbelow(True)


def _percent(value: float) -> str:
    return f"{100 * value:.2g}%" if value < 0.995 else f"{100 * value:.0f}%"
