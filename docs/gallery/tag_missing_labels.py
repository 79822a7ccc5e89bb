"""Learn from strings with few known labels.

Labelling is work. Here every label of the training strings is missing (``None``) with the
same probability.

Usually one only keeps the strings that are labelled completely. The tagger can use all of
them instead: it sums over the unknown labels (``objective="log"``).
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger
from maxmargin.files import digit_strings

rng = np.random.default_rng(0)
train = digit_strings(200, length=5, split="train")
test = digit_strings(300, length=5, split="test")

shares, all_used, only_whole = [0.0, 0.2, 0.4, 0.6, 0.8], [], []
for share in shares:
    y = [[None if rng.random() < share else k for k in labels] for labels in train.y]
    model = SequenceTagger(objective="log").fit(train.X, y)
    all_used.append(model.score(test.X, test.y))
    whole = [i for i, labels in enumerate(y) if None not in labels]
    few = SequenceTagger(objective="log")
    few.fit([train.X[i] for i in whole], [y[i] for i in whole])
    only_whole.append(few.score(test.X, test.y))
    print(
        f"{share:.0%} missing: {all_used[-1]:.1%} right with all strings, "
        f"{only_whole[-1]:.1%} with the {len(whole)} that are complete"
    )

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
percent = 100 * np.array(shares)
ax.plot(percent, 100 * np.array(all_used), "o-", color="#0072B2", label="all strings")
ax.plot(percent, 100 * np.array(only_whole), "s--", color="#D55E00",
        label="complete strings only")  # fmt: skip
ax.set(
    xlabel="labels that are missing (%)", ylabel="digits right (%)", ylim=(None, 100)
)
ax.set_title("What missing labels cost")
ax.grid(axis="y", color="0.9")
ax.legend(frameon=False, loc="lower left")
