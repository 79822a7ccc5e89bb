"""Stop training when other data no longer gain from it.

A large ``C`` fits every training example, noise included. ``fit(..., dev=(X, y))`` scores
the model on data that were put aside, after passes 1, 2, 3, 5, 8 and so on. Training ends
when weights have changed three times without a better score, and the best ones are kept.

The certificate belongs to the weights that were kept: it says how far they are from the
optimum of the training objective, which nobody wanted here. Where C suits the data, there
is little to gain from stopping early.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger

LABELS = np.array(["rest", "walk", "run", "ride"])
MEAN = 0.35 * np.random.default_rng(99).normal(size=(4, 40))  # of 40 sensors


def days(n, seed):
    """Ten hours each; what is done in one hour often goes on in the next."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=(n, 10))
    for t in range(1, 10):
        y[:, t] = np.where(rng.random(n) < 0.6, y[:, t - 1], y[:, t])
    return list(MEAN[y] + rng.normal(0, 0.8, (n, 10, 40))), LABELS[y].tolist()


train, held_out, test = days(60, 0), days(100, 1), days(500, 2)
early = SequenceTagger(C=1, tol=0.01).fit(*train, dev=held_out)
late = SequenceTagger(C=1, tol=0.01).fit(*train)
kept = early.dev_
print(f"kept: the weights of pass {kept.iteration}; {early.n_iter_} passes were made")
for name, model in (("stopped early", early), ("trained to the end", late)):
    print(f"{name}: {100 * model.score(*test):.1f}% right on the test data,")
    print(f"    {model.n_iter_} passes, gap {model.certificate_.relative_gap:.1%}")

rows = [row for row in early.history_ if "dev_score" in row]
passes = [row["iteration"] for row in rows]
scores = [100 * row["dev_score"] for row in rows]

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.plot(passes, scores, "o-", color="#0072B2", label="data put aside")
ax.plot(kept.iteration, 100 * kept.score, "o", ms=14, mfc="none", color="#D55E00")
ax.annotate("kept", (kept.iteration, 100 * kept.score), (0, -24),
            textcoords="offset points", ha="center", color="#D55E00")  # fmt: skip
ax.set(xscale="log", xlabel="passes over the training data", ylabel="hours right (%)")
ax.set_xticks(passes, passes)
ax.minorticks_off()
ax.set_title("Data that were put aside say when to stop")
ax.legend(frameon=False, loc="lower right")
