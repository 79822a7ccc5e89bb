"""Clean a noisy picture by letting neighbours agree.

Every pixel has a colour, blurred by noise, and four neighbours, which usually belong to
the same object. From eight pictures the model learns how much to trust a pixel and how
much its neighbours.

For two labels whose neighbours tend to be equal, a cut through the grid finds the best
labelling exactly.
"""

import numpy as np

from maxmargin import GraphLabeler, grid_graph, plots

rng = np.random.default_rng(0)
rows, columns = np.mgrid[:40, :60]


def picture():
    """Some round islands in the sea, and a photograph of them in bad weather."""
    truth = np.zeros((40, 60), int)
    for _ in range(4):
        centre, radius = rng.uniform([5, 5], [35, 55]), rng.uniform(4, 10)
        truth |= np.hypot(rows - centre[0], columns - centre[1]) < radius
    return truth + rng.normal(0, 0.9, truth.shape), np.where(truth, "island", "sea")


images, y = zip(*[picture() for _ in range(8)], strict=True)
tests, truths = zip(*[picture() for _ in range(8)], strict=True)
X, X_test = [grid_graph(i) for i in images], [grid_graph(i) for i in tests]

grid = GraphLabeler(C=0.01, edges="associative", inference="graph-cut").fit(X, y)
pixels = GraphLabeler(C=0.01).fit([(i.reshape(-1, 1), []) for i in images],
                                  [labels.ravel() for labels in y])  # fmt: skip
alone = pixels.score(
    [(i.reshape(-1, 1), []) for i in tests], [t.ravel() for t in truths]
)
print(f"pixels alone: {alone:.1%} right")
print(f"with their neighbours: {grid.score(X_test, truths):.1%} right")
print(f"proved to be within {grid.certificate_.relative_gap:.2%} of the best objective")

found = grid.predict(X_test[:1])[0].reshape(40, 60)
plots.plot_segmentation(tests[0], truths[0], found)
