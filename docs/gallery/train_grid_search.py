"""Search for the best settings with scikit-learn's tools.

All estimators follow scikit-learn: ``GridSearchCV``, pipelines and cross-validation accept
them. Here a kernel machine has two settings, and every pair of values is tried on five
folds.

The map shows how large the region of good settings is, which matters more than the single
best pair.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score

from maxmargin import KernelSVM

X, y = load_wine(return_X_y=True)
Cs, gammas = [0.1, 1.0, 10.0, 100.0], [0.001, 0.01, 0.1, 1.0]
search = GridSearchCV(
    KernelSVM(scale="standard"),
    {"C": Cs, "gamma": gammas},
    cv=5,
    return_train_score=True,
).fit(X, y)
table = search.cv_results_["mean_test_score"].reshape(len(Cs), len(gammas))
print("best settings:", search.best_params_)
print(f"accuracy of the best pair: {search.best_score_:.1%}")
nested = cross_val_score(search, X, y, cv=3)
print(f"on data that had no part in the choice: {nested.mean():.1%}")

figure, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
image = ax.imshow(100 * table, cmap="Blues", vmin=90, vmax=100)
for i, j in [(i, j) for i in range(len(Cs)) for j in range(len(gammas))]:
    colour = "white" if table[i, j] > 0.96 else "#333333"
    ax.text(j, i, f"{table[i, j]:.1%}", ha="center", va="center", color=colour)
ax.set_xticks(range(len(gammas)), gammas)
ax.set_yticks(range(len(Cs)), Cs)
ax.set(xlabel="gamma (how narrow the bumps are)", ylabel="C (weight of the data)")
ax.set_title("Accuracy by cross-validation")
figure.colorbar(image, label="accuracy (%)")
