"""The clusters of a document and their links. Needs matplotlib (extra ``plot``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.clusterings.documents import as_document, first_mentions, numbered
from maxmargin.plots.cells import PLAIN
from maxmargin.plots.training import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    _axes,
    _pyplot,
    legend_below,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 25  # clusters in one picture
LINK = "link (thicker: a higher score)"
RIGHT = "link inside a true cluster (thicker: a higher score)"
WRONG = "link between two true clusters"
DASHED = (0, (3, 1.5))


def plot_clusters(
    document: Any,
    clusters: Any,
    links: Any = None,
    truth: Any = None,
    ax: Axes | None = None,
) -> Figure:
    """A line per cluster of two or more mentions, largest first, in the order of the text.

    ``links`` are those of ``predict_links``: drawn as arcs, the thicker the higher the
    score; with ``truth`` (cluster ids), links between different true clusters are orange
    and dashed. Mentions are numbered along the axis. If there are more than 25
    clusters, the largest are shown.
    """
    document = as_document(document, "document")
    n = len(document.mentions)
    ids = numbered(first_mentions(clusters, n, "clusters").tolist())
    gold = None if truth is None else first_mentions(truth, n, "truth").tolist()
    members: dict[int, list[int]] = {}
    for v, c in enumerate(ids):
        members.setdefault(c, []).append(v)
    several = [c for c in members if len(members[c]) > 1]
    order = sorted(several, key=lambda c: -len(members[c]))[:MOST]
    row = {c: k for k, c in enumerate(order)}
    own = ax is None
    (ax,) = _axes(ax, figsize=(9.6, 2.3 + 0.36 * max(len(order), 1)))
    drawn: dict[str, Any] = {}  # what the legend names
    for c, k in row.items():
        (drawn["mention"],) = ax.plot(
            members[c], [k] * len(members[c]), "o", color=INK, markersize=3, zorder=3
        )
    strongest = max((abs(s) for *_, s in links or ()), default=1.0) or 1.0
    for a, b, score in links or ():
        if ids[a] in row:
            wrong = gold is not None and gold[a] != gold[b]
            width = 0.6 + 1.8 * max(score, 0.0) / strongest
            kind = WRONG if wrong else RIGHT if gold is not None else LINK
            drawn[kind] = _arc(ax, a, b, row[ids[a]], wrong, width)
    names = [f"{_text(document, members[c][0])}  ({len(members[c])})" for c in order]
    ax.set_yticks(range(len(order)), names, color=INK, fontsize=8, parse_math=False)
    ax.set_ylim(len(order) - 0.3, -0.9)
    ax.set_xlim(-1, max(n, 1))
    ax.set_xlabel("number of the mention in the document", color=INK)
    ax.set_ylabel("first mention (how many)", color=INK, fontsize=9)
    ax.hlines(range(len(order)), 0, max(n - 1, 0), color=GREY, linewidth=0.3, zorder=0)
    alone = len(members) - len(several)
    title = f"{n} mentions: {len(several)} clusters of several, {alone} of one"
    if len(order) < len(several):
        title += f"; the {len(order)} largest are shown"
    ax.set_title(f"{document.name}\n{title}".strip(), loc="left", fontsize=10, **PLAIN)
    ax.spines[["top", "right", "left"]].set_visible(False)
    if drawn:
        _legend(ax, drawn, own)
    return ax.figure


def _legend(ax, drawn: dict, own: bool) -> None:
    """Of what there is."""
    line = _pyplot().Line2D
    items = []
    for name in (n for n in ("mention", LINK, RIGHT, WRONG) if n in drawn):
        style: dict[str, Any] = (
            {"color": ORANGE, "ls": DASHED} if name == WRONG else {"color": BLUE}
        )
        if name == "mention":
            style = {"color": INK, "ls": "none", "marker": "o", "markersize": 3}
        items.append(line([], [], label=name, **style))
    legend_below(ax, own, handles=items, ncols=len(items))


def _arc(ax, a: int, b: int, row: int, wrong: bool, width: float):
    from matplotlib.patches import Arc

    height = min(0.25 + 0.02 * (b - a), 0.75)
    arc = Arc(
        ((a + b) / 2, row), b - a, 2 * height, theta1=180, theta2=360,
        color=ORANGE if wrong else BLUE, linewidth=width, ls=DASHED if wrong else "-",
    )  # fmt: skip
    return ax.add_patch(arc)


def _text(document, v: int) -> str:
    m = document.mentions[v]
    text = " ".join(document.sentences[m.sentence][m.first : m.last + 1])
    return text if len(text) <= 28 else text[:25] + "..."
