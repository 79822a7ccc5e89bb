"""Ask for the ten best readings instead of one.

If pictures are bad, the best reading is often wrong, but the right one is seldom far down
the list. A person, or another program, can choose from it.

``predict_k_best`` returns the best label sequences with their scores, found exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger
from maxmargin.files import digit_strings

rng = np.random.default_rng(0)
train, test = digit_strings(400, split="train"), digit_strings(400, split="test")
X_train = [x + rng.normal(0, 0.3, x.shape) for x in train.X]
X_test = [x + rng.normal(0, 0.3, x.shape) for x in test.X]

model = SequenceTagger(C=0.03).fit(X_train, train.y)
lists = model.predict_k_best(X_test, 10)
ranks = [
    next((r for r, (labels, _) in enumerate(ranked, 1) if labels == truth), np.inf)
    for ranked, truth in zip(lists, test.y, strict=True)
]
shares = [np.mean(np.array(ranks) <= k) for k in range(1, 11)]
for k in (1, 2, 5, 10):
    print(f"the right string is among the {k:>2} best: {shares[k - 1]:.1%}")

i = ranks.index(3)
print("\nwritten    ", *test.y[i])
for rank, (labels, score) in enumerate(lists[i][:4], 1):
    print(f"{rank}. ({score:.2f})  ", *labels)

figure, (top, below) = plt.subplots(
    2, figsize=(6.4, 5), layout="constrained", height_ratios=[1, 3]
)
top.imshow(np.hstack(X_test[i].reshape(-1, 8, 8)), cmap="gray_r")
top.set_title(f"A string whose third reading is right: {' '.join(map(str, test.y[i]))}")
top.set_axis_off()
below.plot(range(1, 11), 100 * np.array(shares), marker="o", color="#0072B2")
below.set(xlabel="length of the list", ylabel="right string in the list (%)")
below.set(ylim=(None, 100), xticks=range(1, 11))
below.grid(axis="y", color="0.9")
