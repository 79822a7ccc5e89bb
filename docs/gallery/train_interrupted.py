"""Stop a fit when time is up, and continue later as if nothing had happened.

A fit can be stopped by Ctrl-C, by ``max_time``, or by a callback of your own, as here: it
keeps the best weights so far, and the certificate says how good they are.

With ``checkpoint``, the state is on disk. Even after a power cut, the same fit with
``resume=True`` continues from there and reaches the same weights, to the last bit.
"""

import tempfile
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from maxmargin import Checkpoint, SequenceTagger
from maxmargin.files import digit_strings

X, y, _ = digit_strings(300, split="train")


def enough(row):
    """A callback gets a row of the history after each pass; True ends the fit."""
    return row["iteration"] == 5


settings = {"C": 0.1, "tol": 0.0005, "random_state": 0}
with tempfile.TemporaryDirectory() as folder:
    disk = Checkpoint(folder, every=0)  # after every pass
    with warnings.catch_warnings():  # a fit that ends early says so
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = SequenceTagger(checkpoint=disk, callbacks=[enough], **settings).fit(
            X, y
        )
    second = SequenceTagger(checkpoint=disk, resume=True, **settings).fit(X, y)
whole = SequenceTagger(**settings).fit(X, y)

print(
    f"stopped after {first.n_iter_} passes: gap {first.certificate_.relative_gap:.2%}"
)
print(
    f"resumed, ended after {second.n_iter_}: gap {second.certificate_.relative_gap:.2%}"
)
same = np.array_equal(second.coef_, whole.coef_)
print("the same weights as without a stop, to the last bit:", same)

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for model, style, name in ((whole, "-", "in one go"), (second, "--", "resumed")):
    rows = model.history_
    passes, proved = [r["iteration"] for r in rows], [r["dual"] for r in rows]
    ax.plot(passes, proved, style, lw=2, label=f"proved, {name}")
for model, name in ((first, "stopped"), (second, "end")):
    low, high = model.certificate_.dual, model.certificate_.primal
    ax.plot([model.n_iter_] * 2, [low, high], "o-", color="black")
    ax.text(model.n_iter_, high, f"{name}\n", va="center", ha="center")
ax.set(xlabel="passes over the data", ylabel="objective", ylim=(6, 21))
ax.set_title("The optimum lies between two dots")
ax.legend(frameon=False, loc="lower right")
