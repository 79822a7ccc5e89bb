"""Save a model, load it again, and look at what it has learned.

A model file holds arrays and plain values but no code, so loading one from a stranger
executes nothing. It can be read wherever the library is installed, and predicts the same to
the last bit.

The pictures are the weights of the ten digits in the loaded model: purple pixels count for
the digit, orange ones against it.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import maxmargin
from maxmargin import MulticlassSVM

X, y = load_digits(return_X_y=True)
model = MulticlassSVM(C=0.01).fit(X[:1000] / 16, y[:1000])
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "digits.safetensors"
    maxmargin.save(model, path)
    print(
        f"the file has {path.stat().st_size / 1000:.0f} kB for {model.coef_.size} weights"
    )
    again = maxmargin.load(path)
same = np.array_equal(again.decision_function(X), model.decision_function(X))
print("the same scores to the last bit:", same)
print(f"{again.score(X[1000:] / 16, y[1000:]):.1%} of new digits are right")

limit = abs(again.coef_).max()
figure, axes = plt.subplots(2, 5, figsize=(8, 3.8), layout="constrained")
for ax, label, weights in zip(axes.flat, again.classes_, again.coef_, strict=True):
    image = ax.imshow(weights.reshape(8, 8), cmap="PuOr", vmin=-limit, vmax=limit)
    ax.set(title=f"digit {label}", xticks=[], yticks=[])
figure.colorbar(image, ax=axes, label="weight of the pixel")
figure.suptitle("What speaks for each digit, and what against it")
