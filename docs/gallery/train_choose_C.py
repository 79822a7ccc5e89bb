"""Choose how much to trust the data, using held-out data.

``C`` weighs errors on the training data against small weights: if it is too small, the
model learns little; if it is too large, it learns the noise. ``path`` trains for a list of
values, each fit starting from the previous one.

The best value is chosen on one part of the data, and reported on another.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger
from maxmargin.files import digit_strings

rng = np.random.default_rng(0)
part = {"train": digit_strings(150, split="train"),
        "chosen on": digit_strings(150, split="train", random_state=1),
        "reported on": digit_strings(300, split="test")}  # fmt: skip
X = {name: [x + rng.normal(0, 0.5, x.shape) for x in p.X] for name, p in part.items()}

Cs = [0.0001, 0.001, 0.01, 0.1, 1.0]
models = SequenceTagger(tol=0.01).path(X["train"], part["train"].y, Cs=Cs)
right = {
    name: [100 * m.score(X[name], p.y) for m in models] for name, p in part.items()
}
best = int(np.argmax(right["chosen on"]))
print(f"best C: {Cs[best]}")
for name, scores in right.items():
    print(f"{name}: {scores[best]:.1f}% of the digits are right")

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for (name, scores), style in zip(right.items(), ("o--", "s-", "^:"), strict=True):
    ax.plot(Cs, scores, style, label=f"data it was {name}" if name != "train"
            else "training data")  # fmt: skip
ax.axvline(Cs[best], color="0.7", zorder=0)
ax.set(xscale="log", xlabel="C", ylabel="digits right (%)")
ax.set_title(f"The best C is {Cs[best]}")
ax.legend(frameon=False)
