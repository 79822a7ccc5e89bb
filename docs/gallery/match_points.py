"""Follow every bird of a flock from one photograph to the next.

Between two photographs all birds move, two leave and two arrive. Which bird is which? Every
pair of a bird before and a bird after has features: the step from one to the other, its
square, and the difference in size. A matching gives each bird at most one partner, and the
best matching is found exactly.

The weights of the features are learned from photographs that a person matched.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import WordAligner

rng = np.random.default_rng(0)


def photographs(n=14):
    """A scene (features and places), and which birds are the same."""
    place, size = rng.uniform(0, 10, (n, 2)), rng.uniform(1, 3, n)
    moved = place + rng.normal([2.0, 1.0], 0.5, (n, 2))
    order = rng.permutation(n)
    before, after = np.arange(n - 2), order[order >= 2]
    step = moved[None, after] - place[before, None]
    unlike = abs(size[None, after] + rng.normal(0, 0.2, n - 2) - size[before, None])
    features = np.stack(
        [*np.moveaxis(step, 2, 0), (step**2).sum(axis=2), unlike], axis=2
    )
    names = [f"bird {i}" for i in before], [f"bird {j}" for j in range(len(after))]
    links = [(int(i), j) for j, i in enumerate(after) if i < n - 2]
    return (*names, features), links, (place[before], moved[after])


train, y, _ = zip(*[photographs() for _ in range(40)], strict=True)
test, truth, places = zip(*[photographs() for _ in range(200)], strict=True)
model = WordAligner(fertility=1, features=["bias"], C=1).fit(train, y)
found = model.predict(test)
near = [list(enumerate(x[2][..., 2].argmin(axis=1).tolist())) for x in test]
for name, links in (("learned matching", found), ("nearest bird", near)):
    right = sum(len({*a} & {*b}) for a, b in zip(links, truth, strict=True))
    print(f"{name}: {right / sum(map(len, truth)):.1%} of the birds are followed, "
          f"{right / sum(map(len, links)):.1%} of its links are right")  # fmt: skip
print({name: round(float(w), 2) for name, w in zip(
    ["constant", "step east", "step north", "step squared", "unlike sizes"],
    model.coef_, strict=True)})  # fmt: skip

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
before, after = places[0]
for i, j in found[0]:
    colour = "#0072B2" if (i, j) in truth[0] else "#D55E00"
    ax.annotate(
        "", after[j], before[i], arrowprops={"arrowstyle": "->", "color": colour}
    )
ax.scatter(*before.T, color="0.6", label="before")
ax.scatter(*after.T, color="black", marker="^", label="after")
ax.plot([], [], color="#0072B2", label="followed")
ax.plot([], [], color="#D55E00", label="mistaken")
ax.set(xlabel="east", ylabel="north", title="Birds, and where each of them went")
ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
