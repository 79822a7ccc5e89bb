"""Separate two moons with ten curved functions instead of a straight line.

The score of a kernel machine is curved: a sum of bumps, one for every support vector, and
often there are hundreds of these. Here you set how many there may be, and training finds
where to put them.

Rings are the centres of the bumps, dashed lines the margins.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from maxmargin import KernelSVM, plots

X, y = make_moons(400, noise=0.25, random_state=0)
X_test, y_test = make_moons(2000, noise=0.25, random_state=1)
models = {
    "straight line": KernelSVM(kernel="linear", n_components=2),
    "10 functions": KernelSVM(kernel="rbf", n_components=10),
    "exact machine": KernelSVM(kernel="rbf"),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    right = model.score(X_test, y_test)
    print(f"{name}: {right:.1%} right, {len(model.basis_)} functions")
    plots.plot_boundary(model, X, y, names=["across", "up"], ax=ax)
    ax.set_title(f"{name}: {right:.1%} right", loc="left")
    if ax is not axes[-1]:
        ax.get_legend().remove()
