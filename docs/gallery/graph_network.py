"""Find polluted wells with the help of nearby wells.

Each well is linked to its neighbours. The measurement of a well is uncertain, but pollution
spreads: neighbours are often alike, and more so the closer they are. The graph may have any
shape, and edges may have features: here the closeness of two wells.

From maps whose truth is known, the model learns both weights; then it labels a new map.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import Delaunay

from maxmargin import GraphLabeler

rng = np.random.default_rng(0)


def wells(n=150):
    place = rng.uniform(0, 10, (n, 2))
    corners = Delaunay(place).simplices
    edges = np.unique(
        np.sort(corners[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2)), axis=0
    )
    length = np.linalg.norm(place[edges[:, 0]] - place[edges[:, 1]], axis=1)
    source = rng.uniform(2, 8, (2, 2))
    bad = np.linalg.norm(place[:, None] - source, axis=2).min(axis=1) < 2.2
    seen = bad[:, None] + rng.normal(0, 0.8, (n, 1))
    closeness = np.stack([np.ones(len(edges)), np.exp(-length)], axis=1)
    return (seen, edges, closeness), np.where(bad, "polluted", "clean"), place


X, y, _ = zip(*[wells() for _ in range(30)], strict=True)
X_test, y_test, places = zip(*[wells() for _ in range(50)], strict=True)
graph = GraphLabeler(C=1, edges="associative", inference="graph-cut").fit(X, y)
alone = GraphLabeler(C=1).fit([(x[0], []) for x in X], y)
print(f"wells alone: {alone.score([(x[0], []) for x in X_test], y_test):.1%} right")
print(f"with their neighbours: {graph.score(X_test, y_test):.1%} right")

(seen, edges, _), place = X_test[0], places[0]
labels = {"measured alone": alone.predict([(seen, [])])[0],
          "with neighbours": graph.predict(X_test[:1])[0], "truth": y_test[0]}  # fmt: skip
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", sharey=True)
for ax, (name, found) in zip(axes, labels.items(), strict=True):
    for a, b in edges:
        ax.plot(*place[[a, b]].T, color="0.85", lw=1, zorder=0)
    for label, colour, mark in (
        ("clean", "#0072B2", "o"),
        ("polluted", "#D55E00", "s"),
    ):
        ax.scatter(
            *place[found == label].T, color=colour, marker=mark, s=30, label=label
        )
    wrong = f": {np.sum(found != y_test[0])} wrong" if name != "truth" else ""
    ax.set(title=name + wrong, xlabel="east (km)")
axes[0].set_ylabel("north (km)")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
