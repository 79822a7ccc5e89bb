"""Ask how certain the model is, and whether to believe it.

A conditional random field (``objective="log"``) is trained to give probabilities. A
margin (``objective="hinge"``, the default) is trained to be right; its scores can be
turned into numbers from 0 to 1, but these are not probabilities.

Tokens are sorted by how certain the model was. If it says 0.8, four of five such tokens
should be right: then the dots lie on the diagonal.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger
from maxmargin.files import digit_strings


def noisy(strings, seed):
    """The pictures behind a veil of noise: else there is nothing to be unsure of."""
    rng = np.random.default_rng(seed)
    return [x + rng.normal(0, 0.6, x.shape) for x in strings.X]


train = digit_strings(600, split="train", missing=0.5)
test = digit_strings(600, split="test", missing=0.5)
X_train, X_test = noisy(train, 0), noisy(test, 1)
truth = np.concatenate(test.y)

figure, ax = plt.subplots(figsize=(5.6, 5), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.6", ls="--", label="as sure as right")
for objective, name, colour in (
    ("log", "random field", "#0072B2"),
    ("hinge", "margin", "#D55E00"),
):
    model = SequenceTagger(objective=objective, C=0.2).fit(X_train, train.y)
    chances = np.vstack(model.predict_marginals(X_test))
    sure, right = chances.max(axis=1), chances.argmax(axis=1) == truth
    bins = np.minimum((sure * 10).astype(int), 9)
    used = [b for b in range(10) if np.sum(bins == b) >= 20]
    said = np.array([sure[bins == b].mean() for b in used])
    seen = np.array([right[bins == b].mean() for b in used])
    share = np.array([np.mean(bins == b) for b in used])
    error = np.sum(share * abs(said - seen)) / share.sum()
    print(f"{name}: {right.mean():.1%} right, sure by {sure.mean():.1%} on average,")
    print(f"    off by {error:.1%} (mean distance from the diagonal)")
    ax.plot(said, seen, color=colour, marker="o", label=name)
ax.set(xlabel="how sure the model was", ylabel="share that was right", xlim=(0, 1.02))
ax.set(ylim=(0, 1.02), title="Is the model right as often as it says?", aspect="equal")
ax.legend(frameon=False)
