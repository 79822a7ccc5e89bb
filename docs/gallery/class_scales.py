"""See what one column in large units does to a classifier.

The wines have thirteen measurements. Proline is counted in hundreds, hue in tenths. Large
numbers need only small weights, so with a small C proline decides almost alone. After
``StandardScaler`` every column has the same chance, whatever C is.

A pipeline applies the scales that it saw in training to everything it predicts later.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import MulticlassSVM

X, y = load_wine(return_X_y=True)
names = load_wine().feature_names
spread = X.std(axis=0)
widest, narrowest = spread.argmax(), spread.argmin()
print(f"standard deviation of {names[widest]}: {spread[widest]:.0f}")
print(
    f"standard deviation of {names[narrowest].split('_')[0]}: {spread[narrowest]:.2f}"
)

Cs = 10.0 ** np.arange(-7, 2, 2)
scores = {"as measured": [], "scaled": []}
for C in Cs:
    model = MulticlassSVM(C=C, max_iter=200)
    with warnings.catch_warnings():  # of fits that end early, which is what scales cost
        warnings.simplefilter("ignore", ConvergenceWarning)
        scores["as measured"].append(cross_val_score(model, X, y, cv=5).mean())
    scaled = make_pipeline(StandardScaler(), model)
    scores["scaled"].append(cross_val_score(scaled, X, y, cv=5).mean())
for name, values in scores.items():
    print(f"{name}: between {min(values):.1%} and {max(values):.1%} right")

figure, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for (name, values), style in zip(scores.items(), ("o-", "s--"), strict=True):
    ax.plot(Cs, 100 * np.array(values), style, label=name)
ax.set(xscale="log", xlabel="C", ylabel="right (%), by cross-validation", ylim=(0, 102))
ax.set_title("Thirteen measurements of wines, with and without scaling")
ax.legend(frameon=False, loc="lower right")
