"""How a fit converged: its bounds against time, and the gap between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.plots.curves import Curves, tolerance_of
from maxmargin.plots.training import BLUE, GREY, INK, ORANGE, _axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKED = 60  # passes up to which each has a dot
DOTTED = {"lw": 1.2, "ls": (0, (4, 2))}  # lines of what is estimated


def plot_convergence(model: Any, ax: Axes | Sequence[Axes] | None = None) -> Figure:
    """Primal and dual of a fit against time, and the relative gap that they prove.

    A certificate costs a pass, so not every pass has one: before the first, the primal is
    the solver's estimate, drawn dashed. Of a fit with hidden parts, bounds of every convex
    problem, and the objective after each outer step: what it proves is a stationary point.
    Of a network, which has no bounds, the loss and the scores on held-out data.

    Parameters
    ----------
    model : fitted estimator, or a list of history rows (``history_``)
        Passes without a certificate of their own show the dual and the estimate only.
    ax : Axes, pair of Axes, or None
        One Axes gets the bounds only; the second of a pair gets the relative gap.
    """
    rows = _history(model)
    if rows and "primal" not in rows[0]:
        return _network(rows, ax)
    rounds = getattr(model, "rounds_", None)
    if not any(math.isfinite(row["primal"]) for row in rows):
        raise ValueError("the history holds no certified pass: nothing to draw.")
    certificate = getattr(model, "certificate_", None)
    exact = getattr(certificate, "exact", True)
    axes = _axes(ax, nrows=2, sharex=True, figsize=(6.4, 5.2), height_ratios=[3, 2])
    curves = Curves.of(rows)

    if rounds:
        _draw_rounds(axes[0], rows, curves, rounds)
        title = _latent_verdict(model, rows[-1])
    else:
        _draw_bounds(axes[0], curves, exact)
        title = _verdict(rows[-1], exact)
    axes[0].set_title(title, loc="left", fontsize=11)
    if len(axes) > 1:
        _draw_gap(axes[1], curves, tolerance_of(model), bool(rounds))
    for panel in axes if ax is not None else axes[-1:]:
        panel.set_xlabel("seconds of training")
        if curves.seconds[0] < curves.seconds[-1] / 2:  # else compiling came first
            panel.set_xlim(0, None)
    return axes[0].figure


def _network(rows: list[dict], ax: Any) -> Figure:
    """Loss and held-out score after every pass."""
    scored = "dev_score" in rows[0]
    axes = _axes(ax, nrows=1 + scored, sharex=True, figsize=(6.4, 2.6 + 2.6 * scored))
    seconds = [row["seconds"] for row in rows]
    names = ("loss", "loss per token", ORANGE), ("dev_score", "held-out score", BLUE)
    for panel, (name, title, color) in zip(axes, names, strict=False):
        style = {"color": color, "lw": 1.8, **_dots(len(rows))}
        panel.plot(seconds, [row[name] for row in rows], **style)
        panel.set_ylabel(title)
        _plain(panel)
    for panel in axes if ax is not None else axes[-1:]:
        panel.set_xlabel("seconds of training")
    return axes[0].figure


def _dots(n: int) -> dict:
    """Dots for passes, as long as they can be told apart."""
    return {"marker": "o", "ms": 3.5} if n <= MARKED else {}


def _draw_bounds(ax, curves: Curves, exact: bool) -> None:
    seconds, primal, dual, _ = curves
    known = curves.certified
    style = {"lw": 1.8, **_dots(len(seconds))}
    alone = {"marker": "o", "ms": 6} if known.sum() == 1 else {}
    guess = curves.guessed()
    label = "primal, proved" if exact else "primal"
    ax.plot(seconds[known], primal[known], color=ORANGE, label=label, **(style | alone))
    if np.isfinite(guess).any():
        ax.plot(seconds, guess, color=ORANGE, label="primal, estimated", **DOTTED)
    if known.sum() > 1:
        between = "the optimum is in here" if exact else "gap, not proved"
        fill = {"color": GREY, "alpha": 0.2, "lw": 0, "label": between}
        ax.fill_between(seconds[known], dual[known], primal[known], **fill)
    ax.plot(seconds, dual, color=BLUE, label="dual: a lower bound", **style)
    # The first passes are far off and would press the rest into one line.
    low, high = dual[-1], primal[-1]
    room = max(2.0 * (high - low), 0.6 * abs(high), 1e-12)
    ax.set_ylim(max(dual.min(), low - room) - 0.05 * room, None)
    top = max(primal[known].max(), guess[np.isfinite(guess)].max(initial=-math.inf))
    ax.set_ylim(None, min(top, high + room) + 0.05 * room)
    ax.set_ylabel("objective")
    ax.legend(frameon=False, loc="best")
    _plain(ax)


def _draw_rounds(ax, rows, curves: Curves, rounds) -> None:
    """Inner bounds, apart for each convex problem, and the outer objective as steps."""
    seconds, primal, dual, _ = curves
    outer = np.array([row.get("outer", 1) for row in rows])
    at = [row["seconds"] for row in rounds]
    value = [row["objective"] for row in rounds]
    room = max(0.6 * (value[0] - value[-1]), 0.3 * abs(value[-1]), 1e-12)
    low, high = value[-1] - room, value[0] + room
    named: set[str] = set()

    def draw(name, where, values, color) -> None:
        if ((low <= values[where]) & (values[where] <= high)).any():
            style = {"lw": 1.2, "marker": "o", "ms": 2.5, "color": color}
            label = None if name in named else name
            ax.plot(seconds[where], values[where], label=label, **style)
            named.add(name)

    for problem in np.unique(outer):
        chosen = outer == problem
        draw("convex problem: primal", chosen & curves.certified, primal, ORANGE)
        draw("convex problem: dual", chosen, dual, BLUE)
    look = {"color": INK, "lw": 1.8, "marker": "s", "ms": 4}
    ax.step(at, value, where="post", label="objective after each step", **look)
    ax.set_ylim(low, high)
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


def _draw_gap(ax, curves: Curves, tol: float | None, latent: bool) -> None:
    known = curves.certified
    gap, guess = curves.gap_of(curves.primal, known), curves.gap_of(curves.guessed())
    seen, guessed = gap > 0, np.isfinite(guess) & (guess > 0)
    alone = {"marker": "o", "ms": 6 if known.sum() == 1 else 3.5}
    dots = alone if known.sum() == 1 else _dots(len(known))
    line = {"color": INK, "lw": 1.8, "label": "proved", **dots}
    ax.plot(curves.seconds[known][seen], gap[seen], **line)
    ax.set_yscale("log")
    shown = list(gap[seen])
    if guessed.any() and not latent:
        line = {"color": INK, "label": "estimated", **DOTTED}
        ax.plot(curves.seconds[guessed], guess[guessed], **line)
        shown += list(guess[guessed])
        ax.legend(frameon=False, loc="best")
    if tol is not None:
        _draw_tolerance(ax, tol)
        ax.set_ylim(min([tol, *shown]) / 2.2, None)
    _name_shares(ax)
    ax.set_ylabel("relative gap")
    _plain(ax)


def _draw_tolerance(ax, tol: float) -> None:
    ax.axhline(tol, color=GREY, lw=1.2, ls=":")
    ax.annotate(
        f"tol = {_percent(tol)}",
        (0.0, tol),
        xycoords=("axes fraction", "data"),
        xytext=(4, -3),
        textcoords="offset points",
        va="top",
        color=GREY,
    )


def _name_shares(ax) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator

    low, high = ax.get_ylim()
    steps = (1.0,) if high > 100 * low else (1.0, 2.0, 5.0)
    ax.yaxis.set_major_locator(LogLocator(subs=steps))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _percent(value)))
    ax.minorticks_off()


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
