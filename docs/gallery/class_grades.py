"""Predict grades, and be wrong by one rather than by four.

Grades from 1 to 5 are ordered classes. If only errors count, taking a 1 for a 5 is no worse
than taking it for a 2. You can change that by a loss of your own, any function of two
labels: here the distance between the grades.

Both models see the same noisy samples. The one that knows the order is seldom wrong by
three grades or more, and here it is also right more often.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import MulticlassSVM

rng = np.random.default_rng(0)


def make_samples(n):
    quality = rng.uniform(0, 5, n)
    X = np.stack(
        [np.sin(quality), np.cos(quality), quality / 3, quality**2 / 9], axis=1
    )
    grades = np.clip(quality + rng.normal(0, 0.7, n), 0, 4.99).astype(int) + 1
    return X + rng.normal(0, 0.6, X.shape), grades


def distance(a, b):
    return float(abs(a - b))


X_train, y_train = make_samples(1000)
X_test, y_test = make_samples(4000)
figure, axes = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained", sharey=True)
for ax, loss, name in zip(
    axes, ("zero-one", distance), ("every error costs 1", "the distance"), strict=True
):
    found = MulticlassSVM(loss=loss).fit(X_train, y_train).predict(X_test)
    off = abs(found - y_test)
    print(
        f"{name}: {np.mean(off == 0):.1%} right, {off.mean():.3f} grades off on "
        f"average, {np.mean(off >= 3):.1%} by three or more"
    )
    table = np.zeros((5, 5), int)
    np.add.at(table, (y_test - 1, found - 1), 1)
    shares = table / table.sum(axis=1, keepdims=True)
    image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=0.7)
    for i, j in np.ndindex(5, 5):
        colour = "white" if shares[i, j] > 0.4 else "#333333"
        ax.text(j, i, f"{shares[i, j]:.0%}", ha="center", va="center", color=colour)
    ax.set(title=f"Trained with: {name}", xlabel="predicted grade")
    ax.set_xticks(range(5), range(1, 6))
    ax.set_yticks(range(5), range(1, 6))
axes[0].set_ylabel("true grade")
figure.colorbar(image, ax=axes, label="share of the true grade", shrink=0.8)
