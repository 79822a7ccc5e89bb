"""Learn from examples what belongs together.

Which dots of a drawing belong to one group? Somebody grouped the dots of some drawings
into strokes: consecutive dots with the same tint. Every pair of dots has features (their
distance, their difference in tint), and the weights of these are learned.

A dot needs one good link to its group and need not resemble all of it, so that even long
strokes hold together. Lines show the predicted links.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LinkClusterer
from maxmargin.metrics import cluster_scores

rng = np.random.default_rng(1)


def drawing(strokes=4, n=12):
    """Places and tints of dots, and the stroke of each."""
    start, turn = rng.uniform(2, 8, (strokes, 2)), rng.uniform(0, np.pi, strokes)
    way = np.linspace(-3.5, 3.5, n)[:, None]
    tint = rng.permutation(strokes) / strokes
    dots = [np.hstack([start[k] + way * [np.cos(turn[k]), np.sin(turn[k])],
                       np.full((n, 1), tint[k])]) for k in range(strokes)]  # fmt: skip
    dots = np.vstack(dots) + rng.normal(0, [0.1, 0.1, 0.03], (strokes * n, 3))
    order = rng.permutation(len(dots))
    return dots[order], (order // n).tolist()


def pairs(dots):
    a, b = np.triu_indices(len(dots), 1)
    far, unlike = np.linalg.norm((dots[a] - dots[b])[:, :2], axis=1), dots[a] - dots[b]
    return np.stack([far, abs(unlike[:, 2])], axis=1)


dots, y = zip(*[drawing() for _ in range(20)], strict=True)
new, truth = zip(*[drawing() for _ in range(50)], strict=True)
model = LinkClusterer(C=0.3, r=1.0).fit([pairs(d) for d in dots], y)
far = LinkClusterer(C=0.3, r=1.0).fit([pairs(d)[:, :1] for d in dots], y)
X_new = [pairs(d) for d in new]
print("weights of distance and tint:", model.coef_.round(2))
for name, found in (
    ("distance and tint", model.predict(X_new)),
    ("distance alone", far.predict([x[:, :1] for x in X_new])),
):
    print(f"{name}: B-cubed F1 {cluster_scores(truth, found).b_cubed.f1:.3f}")

figure, axes = plt.subplots(1, 2, figsize=(8.5, 4.2), layout="constrained")
(groups,), (links,) = model.predict(X_new[1:2]), model.predict_links(X_new[1:2])
for ax, colour, title in zip(
    axes, (new[1][:, 2], groups), ("Tints of the dots", "Groups found"), strict=True
):
    ax.scatter(*new[1][:, :2].T, c=colour, cmap="viridis" if ax is axes[0] else "Set1")
    ax.set(title=title, xlabel="across", ylabel="up")
for a, b, _ in links:
    axes[1].plot(*new[1][[a, b], :2].T, color="0.6", zorder=0)
