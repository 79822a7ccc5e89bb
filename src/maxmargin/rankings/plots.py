"""How good rankings are at every length. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from maxmargin.core.checks import one_of, whole
from maxmargin.metrics.bootstrap import mean_interval
from maxmargin.plots.training import GREY, INK, _axes
from maxmargin.rankings.metrics import by_query

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From the palette of Okabe and Ito.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
MARKERS = "osD^vPX"
NAMES = {"precision": "Precision at k", "ndcg": "NDCG at k"}


def plot_ranking_curves(
    y: Any,
    scores: Mapping,
    qid: Any,
    metric: str = "precision",
    most: int = 20,
    ax: Axes | None = None,
) -> Figure:
    """A metric against k = 1 .. ``most``, one line for every model.

    ``scores`` are {name of a model: its scores of the documents}; ``metric`` is "precision"
    or "ndcg". Bands are 95% intervals: the mean over queries, if others like these had been
    drawn (the bootstrap).
    """
    one_of("metric", metric, NAMES)
    if not isinstance(scores, Mapping) or not scores:
        raise ValueError("scores must be a dict of the scores of at least one model.")
    ks = range(1, whole("most", most) + 1)
    tables = {
        str(name): by_query(y, values, qid, metric, ks)
        for name, values in scores.items()
    }
    (ax,) = _axes(ax, figsize=(6.4, 4.0))
    lows, highs = [], []
    for i, (name, table) in enumerate(tables.items()):
        colour = COLOURS[i % len(COLOURS)]
        low, high = mean_interval(table)
        ax.fill_between(ks, low, high, color=colour, alpha=0.13, lw=0)
        style = {"color": colour, "marker": MARKERS[i % len(MARKERS)], "markersize": 4}
        ax.plot(ks, table.mean(axis=0), label=name, **style)
        lows.append(low.min())
        highs.append(high.max())
    queries = len(next(iter(tables.values())))
    title = f"{NAMES[metric]}: mean of {queries} queries, with 95% intervals"
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel("k: how many documents from the top are looked at", color=INK)
    ax.set_ylabel(NAMES[metric], color=INK)
    low, high = min(lows), max(highs)
    low = min(low, high - 0.2)  # small differences look small
    room = 0.05 * (high - low)
    ax.set_ylim(max(low - room, 0.0), min(high + room, 1.02))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(axis="y", color=GREY, linewidth=0.4)
    for text in ax.legend(frameon=False).get_texts():
        text.set_parse_math(False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax.figure
