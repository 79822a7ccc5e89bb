"""Classify wines when only a few of them are labelled.

Of 178 wines, an expert labelled six; the class of the others is ``None``. Training fills in
the missing classes, alternating between them and the weights. This helps if the classes are
well separated, as they are here; ``unlabelled_weight`` sets how much such guesses count.

The picture shows two of the thirteen measurements. Labelled wines are large.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from maxmargin import MulticlassSVM

data = load_wine()
X = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
names = data.target_names[data.target]
rng = np.random.default_rng(0)
known = np.concatenate([rng.choice(np.flatnonzero(data.target == k), 2, replace=False)
                        for k in range(3)])  # fmt: skip
y = [str(name) if i in known else None for i, name in enumerate(names)]

alone = MulticlassSVM(C=1).fit(X[known], [y[i] for i in known])
model = MulticlassSVM(C=1, unlabelled_weight=0.03).fit(X, y)
found = model.predict(X)
print(f"{len(known)} named wines alone: {alone.score(X, names):.1%} right")
print(f"with the others as well: {model.score(X, names):.1%} right")

figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for name, colour in zip(
    data.target_names, ("#0072B2", "#D55E00", "#009E73"), strict=True
):
    here = found == name
    ax.scatter(*data.data[here][:, [6, 9]].T, s=16, color=colour, alpha=0.6, label=name)
    here = [i for i in known if y[i] == name]
    ax.scatter(*data.data[here][:, [6, 9]].T, s=120, color=colour, ec="black")
wrong = found != names
ax.scatter(
    *data.data[wrong][:, [6, 9]].T, s=50, marker="x", color="black", label="wrong"
)
ax.scatter([], [], s=120, fc="none", ec="black", label="named in training")
ax.set(xlabel=data.feature_names[6], ylabel="colour intensity")
ax.set_title(f"{len(known)} wines have a name, {len(names)} get one")
ax.legend(frameon=False)
