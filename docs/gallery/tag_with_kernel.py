"""Follow a machine that starts, runs and stops, from two sensors.

A sequence of measurements is to be divided into states. The regions of the states in the
plane of the two sensors are round, and no straight line can bound them, so the tagger uses
a kernel. It learns which state follows which as always.

Colours show what the model predicts for every point of the plane on its own.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger

STATES = ["idle", "warming up", "working"]
RADIUS = dict(zip(STATES, (0.5, 1.6, 2.8), strict=True))
rng = np.random.default_rng(0)


def run(n=30):
    """States that last a while, each on a ring around the origin."""
    k = np.cumsum(rng.random(n) < 0.15) % 3
    labels = [STATES[i] for i in k]
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.array([RADIUS[a] for a in labels]) + rng.normal(0, 0.45, n)
    return radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1), labels


X, y = zip(*[run() for _ in range(30)], strict=True)
X_test, y_test = zip(*[run() for _ in range(100)], strict=True)
models = {
    "linear": SequenceTagger(C=1),
    "kernel, each moment alone": SequenceTagger(C=1, kernel="rbf", order=0),
    "kernel": SequenceTagger(C=1, kernel="rbf"),
}
for name, model in models.items():
    print(
        f"{name}: {model.fit(X, y).score(X_test, y_test):.1%} of the moments are right"
    )

line = np.linspace(-4, 4, 80)
plane = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 1, 2)
at = np.array([STATES.index(k) for (k,) in models["kernel"].predict(list(plane))])
figure, ax = plt.subplots(figsize=(5.6, 5), layout="constrained")
colours = ["#0072B2", "#E69F00", "#D55E00"]
ax.contourf(line, line, at.reshape(80, 80), [-0.5, 0.5, 1.5, 2.5], colors=colours,
            alpha=0.25)  # fmt: skip
for state, colour in zip(STATES, colours, strict=True):
    points = np.vstack(
        [
            x[[k == state for k in labels]]
            for x, labels in zip(X_test[:15], y_test[:15], strict=True)
        ]
    )
    ax.scatter(*points.T, s=12, color=colour, label=state)
ax.set(xlabel="first sensor", ylabel="second sensor", aspect="equal")
ax.set(xlim=(-4, 4), ylim=(-4, 4), title="What the sensors say in each state")
ax.legend(loc="upper right")
