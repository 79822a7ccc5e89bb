"""See which handwritten digits are confused.

A classifier for ten classes is trained on pictures of 8 x 8 pixels. The number of errors
alone says little about how to reduce them.

The first picture counts which digit is taken for which, the second shows the digits
themselves: the errors with the most wrong scores.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from maxmargin import MulticlassSVM, plots

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X / 16, y, test_size=0.5, random_state=0
)
model = MulticlassSVM().fit(X_train, y_train)
found, scores = model.predict(X_test), model.decision_function(X_test)
wrong = np.flatnonzero(found != y_test)
print(f"{len(wrong)} of {len(y_test)} digits are wrong")

plots.plot_confusion([y_test.tolist()], [found.tolist()])

by = scores[wrong, found[wrong]] - scores[wrong, y_test[wrong]]  # classes are 0, ..., 9
worst = wrong[np.argsort(-by)][:12]
print("the worst:", ", ".join(f"{y_test[i]} read as {found[i]}" for i in worst[:3]))
figure, axes = plt.subplots(2, 6, figsize=(7.5, 3.2), layout="constrained")
for ax, i in zip(axes.flat, worst, strict=True):
    ax.imshow(X_test[i].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{y_test[i]} read as {found[i]}", fontsize=10)
    ax.set_axis_off()
figure.suptitle("The digits that were misread most plainly")
