"""Learn what a hiker values from the bags that she packed.

A bag holds at most ten kilograms. What she packs reveals what she values, but nobody wrote
the values down. Four methods turn this into a problem for the library: the features of a
bag, the loss between two bags, and two searches for the best bag. Training finds a value
for every property.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import Problem, StructuralSVM

PROPERTIES = ["warm", "tasty", "heavy to carry", "keeps dry"]
VALUES = np.array([1.0, 0.7, -0.3, 1.5])  # what she values; the model never sees it
ROOM = 10  # kilograms


def best_bag(value, kilos):
    """The most valuable bag, by dynamic programming over the room that is used."""
    bags = {0: (0.0, frozenset())}
    for item, (v, w) in enumerate(zip(value, kilos, strict=True)):
        for used, (total, bag) in list(bags.items())[::-1]:
            more = used + int(w)
            if more <= ROOM and total + v > bags.get(more, (-np.inf,))[0]:
                bags[more] = total + v, bag | {item}
    return max(bags.values(), key=lambda pair: pair[0])[1]


class Packing(Problem):
    """x: properties of the items, and their weights in kilograms; y: the items packed."""

    def joint_feature(self, x, y):
        return x[0][sorted(y)].sum(axis=0)

    def loss(self, y, y_hat):
        return float(len(y ^ y_hat))  # items missed, and items too many

    def argmax(self, x, w):
        return best_bag(x[0] @ w, x[1])

    def loss_augmented_argmax(self, x, y, w):
        change = [-1.0 if item in y else 1.0 for item in range(len(x[1]))]
        return best_bag(x[0] @ w + change, x[1])


rng = np.random.default_rng(0)
trips = [(rng.uniform(0, 1, (12, 4)), rng.integers(1, 5, 12)) for _ in range(280)]
bags = [best_bag(x @ VALUES, kilos) for x, kilos in trips]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.bar(np.arange(4) - 0.3, VALUES / VALUES.max(), 0.2, color="black", label="hers")
for k, size in enumerate((5, 20, 80)):
    model = StructuralSVM(Packing(), C=100.0).fit(trips[:size], bags[:size])
    same = np.mean(np.array(model.predict(trips[80:])) == np.array(bags[80:]))
    print(f"{size:>2} bags seen: {same:.0%} of new bags are packed as she would")
    place = np.arange(4) + 0.2 * k - 0.1
    ax.bar(place, model.coef_ / model.coef_.max(), 0.2, label=f"from {size} bags")
ax.set_xticks(range(4), PROPERTIES)
ax.set(ylabel="value (largest is 1)", title="What she values, read from her bags")
ax.legend(frameon=False)
