"""Fold an RNA molecule, and see how probable every pair is.

An RNA molecule is a string of A, C, G and U that folds back on itself: letters pair, and
pairs are nested. A class with one method, ``graph``, defines how foldings are put together;
the library learns the weights and finds the best folding and the probability of each pair.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import DynamicProgram, HypergraphBuilder, StructuralSVM

rng = np.random.default_rng(0)


class Folding(DynamicProgram):
    """x is a text, y a list of pairs (i, k) of positions."""

    def graph(self, x):
        builder = HypergraphBuilder(root=(0, len(x)))
        for i in range(len(x) + 1):
            builder.leaf((i, i))
            for j in range(i + 1, len(x) + 1):
                builder.edge((i, j), (i + 1, j))  # letter i stays alone
            for k in range(i + 4, len(x)):
                features = [x[i] + x[k], ("inside", x[i + 1] + x[k - 1])]
                builder.edge(("pair", i, k), (i + 1, k), part=(i, k), features=features)
                for j in range(k + 1, len(x) + 1):
                    builder.edge((i, j), ("pair", i, k), (k + 1, j))
        return builder


def molecule():
    """One stem or two, each of three to five pairs and a loop."""
    x, y = "", []
    for _ in range(rng.integers(1, 3)):
        stem = rng.choice(["GC", "CG", "AU", "UA"], rng.integers(3, 6))
        loop = "".join(rng.choice([*"ACGU"], rng.integers(3, 6)))
        end = len(x) + 2 * len(stem) + len(loop) - 1
        y += [(len(x) + i, end - i) for i in range(len(stem))]
        x += "".join(p[0] for p in stem) + loop + "".join(p[1] for p in stem[::-1])
    return x, y


X, Y = zip(*[molecule() for _ in range(90)], strict=True)
X_test, Y_test = X[60:], Y[60:]
model = StructuralSVM(Folding(), objective="log", C=1.0).fit(X[:60], Y[:60])
hits = [len({*a} & {*b}) for a, b in zip(model.predict(X_test), Y_test, strict=True)]
print(f"{sum(hits)} of {sum(map(len, Y_test))} pairs are found")

figure, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
(chances,), half = model.predict_marginals(X_test[:1]), np.linspace(0, np.pi, 50)
true = dict.fromkeys(Y_test[0], 1.0), 1, "black"
for pairs, up, colour in (true, (chances, -1, "#0072B2")):
    for (i, k), p in pairs.items():
        place, height = i + k - (k - i) * np.cos(half), up * (k - i) * np.sin(half)
        ax.plot(place / 2, height / 2, color=colour, alpha=min(1.0, p), lw=2)
ax.set_xticks(range(len(X_test[0])), X_test[0])
ax.set(yticks=[], xlabel="the molecule")
ax.set_title("True pairs above, probable ones below (darker: surer)")
