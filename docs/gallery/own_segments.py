"""Cut a day into rest, walks and runs with a search of your own.

The model predicts the pieces of a day, each with a label, a beginning and an end. The
library does not know such outputs: you define how they are built, step by step, and get
training and prediction for them. Dashed lines are the true cuts of a day.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import DynamicProgram, HypergraphBuilder, StructuralSVM

PACE = {"rest": 0.0, "walk": 1.0, "run": 2.0}
COLOURS = {"rest": "#56B4E9", "walk": "#E69F00", "run": "#D55E00"}
rng = np.random.default_rng(0)


class Day(DynamicProgram):
    """x is a series of numbers, y a list of pieces (label, begin, end)."""

    def graph(self, x):
        builder = HypergraphBuilder(root="day")
        builder.leaf((0, None))  # node (t, label): cut up to t, the last piece is this
        for label in PACE:
            builder.edge("day", (len(x), label))
            for end in range(1, len(x) + 1):
                for n in range(1, min(end, 8) + 1):
                    features = {label: [n, x[end - n : end].sum()], (label, n): 1.0}
                    part = (label, end - n, end)
                    for last in [k for k in (None, *PACE) if k != label]:
                        step = (end, label), (end - n, last)
                        builder.edge(*step, part=part, features=features)
        return builder


def day(n=40):
    x, y = [], []
    while len(x) < n:
        label = str(rng.choice([k for k in PACE if not y or k != y[-1][0]]))
        end = min(n, len(x) + int(rng.integers(3, 9)))
        y.append((label, len(x), end))
        x += list(rng.normal(PACE[label], 0.4, end - len(x)))
    return np.array(x), y


X, y = zip(*[day() for _ in range(30)], strict=True)
X_test, y_test = zip(*[day() for _ in range(20)], strict=True)
found = StructuralSVM(Day(), C=0.1).fit(X, y).predict(X_test)
hits = sum(len({*a} & {*b}) for a, b in zip(found, y_test, strict=True))
print(f"{hits} of {sum(map(len, y_test))} pieces are found, both ends to the minute")

figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
ax.plot(X_test[0], "o-", color="#333333", ms=3, lw=1)
for label, begin, end in found[0]:
    ax.axvspan(begin - 0.5, end - 0.5, color=COLOURS[label], alpha=0.5, lw=0)
    ax.text((begin + end - 1) / 2, 2.8, label, ha="center")
for _, begin, _ in y_test[0][1:]:
    ax.axvline(begin - 0.5, color="black", ls="--", lw=1)
ax.set(xlabel="minutes", ylabel="pace", ylim=(-1.2, 3.2), title="A day in pieces")
