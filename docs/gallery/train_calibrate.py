"""Turn margins into probabilities, with data that were put aside.

A margin says which class wins, not how often it will be right. ``calibrate`` divides all
scores by one number, the temperature, chosen so that the truth of held-out data is as
likely as possible. Predictions stay the same; only how sure they are changes.

Digits are sorted by how sure the model is. Of those where it says 0.8, four of five should
be right: then dots lie on the diagonal. The digits of the picture took no part in training
or calibration.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from maxmargin import MulticlassSVM

X, y = load_digits(return_X_y=True)
X = X / 16 + np.random.default_rng(0).normal(0, 0.4, X.shape)  # else all is certain
X_train, X_rest, y_train, y_rest = train_test_split(
    X, y, train_size=600, random_state=0
)
X_held, X_test, y_held, y_test = train_test_split(
    X_rest, y_rest, test_size=0.6, random_state=0
)

model = MulticlassSVM().fit(X_train, y_train)
scores = model.decision_function(X_test)
exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
before = exponentials / exponentials.sum(axis=1, keepdims=True)
model.calibrate(X_held, y_held)
after = model.predict_proba(X_test)
print(f"temperature: {model.calibration_.temperature:.2f}")

figure, ax = plt.subplots(figsize=(5.6, 5), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.6", ls="--", label="as sure as right")
for name, chances, colour in (
    ("margins", before, "#D55E00"),
    ("calibrated", after, "#0072B2"),
):
    sure, right = chances.max(axis=1), model.classes_[chances.argmax(axis=1)] == y_test
    bins = np.minimum((sure * 10).astype(int), 9)
    used = [b for b in range(10) if np.sum(bins == b) >= 20]
    said = np.array([sure[bins == b].mean() for b in used])
    seen = np.array([right[bins == b].mean() for b in used])
    ax.plot(said, seen, color=colour, marker="o", label=name)
    print(f"{name}: {right.mean():.1%} right, sure by {sure.mean():.1%} on average")
ax.set(xlabel="how sure the model was", ylabel="share that was right", xlim=(0, 1.02))
ax.set(ylim=(0, 1.02), title="The same predictions, as sure as they are right")
ax.set_aspect("equal")
ax.legend(frameon=False, loc="lower right")
