"""Label everything in a picture, not just one thing.

Every picture has a set of labels. A beach rarely appears without the sea, and snow rarely
with a palm: with ``graph="tree"``, pairs of labels have scores, too, and the set is
predicted as a whole.

The heat map shows what was learned about the pairs that the model selected.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import MultilabelSVM

LABELS = ["beach", "city", "mountain", "palm", "sea", "snow"]
SCENES = [{"beach", "sea"}, {"beach", "sea", "palm"}, {"city"}, {"city", "sea"},
          {"mountain", "snow"}, {"mountain"}]  # fmt: skip
rng = np.random.default_rng(0)
looks = rng.normal(size=(len(LABELS), 12))  # what a label adds to the measurements


def pictures(n):
    y = [SCENES[k] for k in rng.integers(len(SCENES), size=n)]
    there = np.array([[label in labels for label in LABELS] for labels in y], float)
    return there @ looks + rng.normal(0, 1.5, (n, 12)), y


X_train, y_train = pictures(300)
X_test, y_test = pictures(1000)
for graph, name in ((None, "labels one by one"), ("tree", "labels together")):
    model = MultilabelSVM(graph=graph).fit(X_train, y_train)
    found = [set(labels) for labels in model.predict(X_test)]
    whole = np.mean([a == b for a, b in zip(found, y_test, strict=True)])
    print(
        f"{name}: {whole:.1%} of the sets are right, F1 {model.score(X_test, y_test):.3f}"
    )

together = np.full((6, 6), np.nan)
for pair, table in zip(model.edges_, model.edge_coef_, strict=True):
    a, b = map(LABELS.index, pair)
    together[a, b] = together[b, a] = (
        table[1, 1] + table[0, 0] - table[0, 1] - table[1, 0]
    )
limit = np.nanmax(abs(together))
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
image = ax.imshow(together, cmap="PuOr_r", vmin=-limit, vmax=limit)
ax.set_xticks(range(6), LABELS, rotation=30)
ax.set_yticks(range(6), LABELS)
for i, j in zip(*np.nonzero(~np.isnan(together)), strict=True):
    colour = "white" if abs(together[i, j]) > limit / 2 else "#333333"
    ax.text(j, i, f"{together[i, j]:+.2f}", ha="center", va="center", color=colour)
ax.set(title="Which labels go together", xlabel="label", ylabel="label")
figure.colorbar(image, label="for both or neither, against one alone")
