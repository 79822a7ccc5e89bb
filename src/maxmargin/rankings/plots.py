"""How good rankings are at every length. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from maxmargin.core.checks import one_of
from maxmargin.plots.training import GREY, INK, _axes
from maxmargin.rankings.metrics import ranking_scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# From the palette of Okabe and Ito.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
NAMES = {"precision": "precision at k", "ndcg": "NDCG at k"}


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
    or "ndcg".
    """
    one_of("metric", metric, NAMES)
    if not isinstance(scores, Mapping) or not scores:
        raise ValueError("scores must be a dict of the scores of at least one model.")
    ks = range(1, most + 1)
    reports = {
        name: ranking_scores(y, values, qid, at=ks) for name, values in scores.items()
    }
    (ax,) = _axes(ax, figsize=(6.4, 4.0))
    for i, (name, report) in enumerate(reports.items()):
        found = list(getattr(report, metric).values())
        style = {"color": COLOURS[i % len(COLOURS)], "marker": "o", "markersize": 3.5}
        ax.plot(ks, found, label=str(name), **style)
    queries = next(iter(reports.values())).queries
    ax.set_title(f"{NAMES[metric]}, mean of {queries} queries", loc="left", fontsize=11)
    ax.set_xlabel("k", color=INK)
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.grid(axis="y", color=GREY, linewidth=0.4)
    for text in ax.legend(frameon=False).get_texts():
        text.set_parse_math(False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax.figure
