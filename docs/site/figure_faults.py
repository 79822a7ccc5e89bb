"""What is wrong with a figure: axes that say not what they show, words on words."""

from __future__ import annotations

import itertools


def faults_of(figure) -> list[str]:
    """Sentences about a figure of matplotlib, none if it is fine."""
    figure.draw_without_rendering()
    axes = [ax for ax in figure.axes if ax.axison or ax.has_data() or ax.texts]
    found = [] if axes else ["it is empty"]
    boxes = []
    for ax in axes:
        words = [text for text in labels_of(ax) if text.get_text()]
        silent = not words and not ax.images
        if silent and (ax.axison or not ax.texts):
            found.append(f"{ax} says not what it shows")
        boxes += [
            (t.get_text(), t.get_window_extent()) for t in words if t.get_visible()
        ]
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        if a.overlaps(b):
            found.append(f"{one!r} lies on {other!r}")
    return found


def labels_of(ax) -> list:
    """Titles, and labels of axes: what constrained layout may push together."""
    from matplotlib.text import Text

    inside = {id(text) for text in ax.texts}
    around = [
        t for t in ax.get_children() if isinstance(t, Text) and id(t) not in inside
    ]
    axis = [ax.xaxis.label, ax.yaxis.label] if ax.axison else []
    return [*around, *axis]
