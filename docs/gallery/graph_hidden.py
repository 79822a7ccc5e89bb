"""Colour a whole river from a few known places.

A river system is a tree: every stretch flows into another. Its water is clear, green or
brown, and seldom changes from one stretch to the next. Most labels of the training rivers
are missing: they are ``None``, and training fills them in.

On a new river, ``complete`` keeps what is known and finds the best labels of all others.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import GraphLabeler

WATER = {"clear": "#56B4E9", "green": "#009E73", "brown": "#A0522D"}
rng = np.random.default_rng(0)


def river(n=60):
    """A tree; a sensor at every stretch sees the water through noise."""
    into = [2 * i // 3 for i in range(n - 1)]  # where stretches 1, 2, ... flow to
    kind = [int(rng.integers(3))]
    for parent in into:
        kind.append(kind[parent] if rng.random() < 0.9 else int(rng.integers(3)))
    seen = np.eye(3)[kind] + rng.normal(0, 1.2, (n, 3))
    return (seen, list(enumerate(into, 1))), [list(WATER)[k] for k in kind]


def hide(labels, share):
    return [None if rng.random() < share else label for label in labels]


X, y = zip(*[river() for _ in range(40)], strict=True)
few = [hide(labels, 0.7) for labels in y]
model = GraphLabeler(C=0.1, edges="symmetric").fit(X, few)

X_new, y_new = zip(*[river() for _ in range(50)], strict=True)
some = [hide(labels, 0.8) for labels in y_new]
completed = model.complete(X_new, some)
for name, found in (("sensors", model.predict(X_new)), ("and known places", completed)):
    right = [f == t for f, t, s in zip(found, y_new, some, strict=True)
             for f, t, s in zip(f, t, s, strict=True) if s is None]  # fmt: skip
    print(f"{name}: {np.mean(right):.1%} of the unknown places are right")

depth, across = [0], np.zeros(60)
for _, parent in X_new[0][1]:
    depth.append(depth[parent] + 1)
for level in range(max(depth) + 1):  # stretches of one depth side by side
    here = [i for i in range(60) if depth[i] == level]
    across[here] = np.linspace(-len(here), len(here), len(here) + 2)[1:-1]
figure, axes = plt.subplots(1, 2, figsize=(8.5, 4.6), layout="constrained", sharey=True)
panels = ("What is known", some[0]), ("What was filled in", completed[0])
for ax, (title, labels) in zip(axes, panels, strict=True):
    for i, parent in X_new[0][1]:
        ax.plot(across[[i, parent]], [depth[i], depth[parent]], color="0.8", zorder=0)
    for name, colour in WATER.items():
        here = np.flatnonzero([label == name for label in labels])
        ax.scatter(across[here], np.array(depth)[here], color=colour, label=name)
    ax.set(title=title, xticks=[], ylabel="stretches to the sea")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
