"""Find an irregular heartbeat without being told where it is.

Some recordings have an odd beat somewhere; the rest of the signal looks the same. Labels
say whether a recording has one, not where. The place is a hidden part of the output:
training finds it together with the weights, which learn the shape of the beat.

The thick line marks where the model sees the odd beat in new recordings.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LatentProblem, LatentStructuralSVM

WIDTH, SHAPE = 3, np.array([1.6, -2.0, 1.6])
rng = np.random.default_rng(0)


class OddBeat(LatentProblem):
    """x is a signal, y whether it has an odd beat, and h where that begins."""

    def joint_feature(self, x, y, h):
        return y * np.append(x[h : h + WIDTH], 1.0)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [(0, 0)] + [(1, h) for h in range(len(x) - WIDTH + 1)]


def recordings(n):
    X, places = rng.normal(0, 0.4, (n, 60)), rng.integers(0, 60 - WIDTH, n)
    for x, h in zip(X[::2], places[::2], strict=True):
        x[h : h + WIDTH] += SHAPE
    return list(X), [1 - i % 2 for i in range(n)], places


X, y, _ = recordings(80)
X_test, y_test, places = recordings(200)
model = LatentStructuralSVM(OddBeat(), C=1.0, n_restarts=5).fit(X, y)
found = model.predict_latent(X_test)
right = [a == b for (a, _), b in zip(found, y_test, strict=True)]
near = [h == place for (_, h), place in zip(found[::2], places[::2], strict=True)]
print(f"{np.mean(right):.0%} of the recordings are judged right")
print(f"{np.mean(near):.0%} of the odd beats are found where they are")
print("objectives of the starts:", *np.round(model.restarts_, 1))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), width_ratios=[2, 1])
for row in range(6):
    left.plot(X_test[row] - 4 * row, color="#333333", lw=1)
    has, h = found[row]
    if has:
        left.plot(range(h, h + WIDTH), X_test[row][h : h + WIDTH] - 4 * row, lw=4)
left.set(xlabel="time", ylabel="signal", yticks=[], title="Six new recordings")
right.plot(SHAPE, "--", color="0.5", label="true shape")
right.plot(model.coef_[:WIDTH], "o-", label="learned weights")
right.set(xlabel="time", ylabel="height", title="What an odd beat is")
right.legend(frameon=False)
figure.set_layout_engine("constrained")
