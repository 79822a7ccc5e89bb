"""Train with several threads and keep the proof.

``n_jobs`` sets how many threads share a fit. They change the same weights at the same time,
so the last digits depend on the order in which they finish. The certificate does not: the
objective is as close to the best possible one as requested.

So two fits with threads may differ a little, but both are proved to be good. On data as
small as these, some threads sit idle: a thread is only woken if its work takes longer than
that.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger
from maxmargin.files import digit_strings

train, test = digit_strings(1000, split="train"), digit_strings(500, split="test")
figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
models = {}
for n_jobs, style in ((1, "o-"), (2, "s--"), (4, "^:")):
    model = SequenceTagger(C=0.03, tol=0.002, n_jobs=n_jobs).fit(train.X, train.y)
    models[n_jobs] = model
    proof = model.certificate_
    print(
        f"n_jobs={n_jobs}: gap proved to be at most 0.2%: {proof.relative_gap <= 0.002}"
    )
    proved = np.array([row["dual"] for row in model.history_])
    ax.plot(1 - proved / proof.primal, style, ms=4, label=f"n_jobs={n_jobs}")
one, two = (np.array(list(models[n].predict(test.X))) for n in (1, 2))
print(
    f"one thread and two agree on more than 99% of the digits: {np.mean(one == two) > 0.99}"
)

ax.axhline(0.002, color="0.6", ls=":")
ax.set(yscale="log", xlabel="passes over the data")
ax.xaxis.get_major_locator().set_params(integer=True)
ax.set_ylabel("what is not yet proved (share of the objective)")
ax.set_title("With threads, a fit needs about as many passes")
ax.legend(frameon=False)
