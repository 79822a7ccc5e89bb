"""Stop training when other data no longer gain from it.

A large ``C`` fits every training example, noise included. ``fit(..., dev=(X, y))`` scores
the model on data that were put aside, after passes 1, 2, 3, 5, 8 and so on. Training ends
when weights have changed three times without a better score, and the best ones are kept.

The certificate belongs to the weights that were kept: it says honestly how far they are
from the optimum of the training objective, which nobody wanted here.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger
from maxmargin.files import digit_strings


def noisy(strings, seed):
    rng = np.random.default_rng(seed)
    return [x + rng.normal(0, 0.5, x.shape) for x in strings.X]


train = digit_strings(150, split="train")
held_out = digit_strings(150, split="train", random_state=1)
test = digit_strings(300, split="test")
X_train, X_held, X_test = (
    noisy(part, seed) for seed, part in enumerate((train, held_out, test))
)

early = SequenceTagger(C=1, tol=0.001).fit(X_train, train.y, dev=(X_held, held_out.y))
late = SequenceTagger(C=1, tol=0.001).fit(X_train, train.y)
kept = early.dev_
print(f"kept: the weights of pass {kept.iteration}; {early.n_iter_} passes were made")
for name, model in (("stopped early", early), ("trained to the end", late)):
    print(f"{name}: {100 * model.score(X_test, test.y):.1f}% right on the test data, ")
    print(f"    {model.n_iter_} passes, gap {model.certificate_.relative_gap:.1%}")

rows = [row for row in early.history_ if "dev_score" in row]
passes = [row["iteration"] for row in rows]
scores = [100 * row["dev_score"] for row in rows]

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.plot(passes, scores, "o-", color="#0072B2", label="data put aside")
ax.plot(kept.iteration, 100 * kept.score, "o", ms=14, mfc="none", color="#D55E00")
ax.annotate("kept", (kept.iteration, 100 * kept.score), (0, -22),
            textcoords="offset points", ha="center", color="#D55E00")  # fmt: skip
ax.set(xscale="log", xlabel="passes over the training data", ylabel="digits right (%)")
ax.set_xticks(passes, passes)
ax.minorticks_off()
ax.set_title("Data that were put aside say when to stop")
ax.legend(frameon=False, loc="lower right")
