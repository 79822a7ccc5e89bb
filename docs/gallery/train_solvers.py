"""Watch five solvers approach the same optimum, and see what each can prove.

Training minimises an objective. Most solvers know at any time a bound below which no
weights can get (lines), and occasionally measure what they have reached (dots). The optimum
lies between the two, and a fit ends when they are close. That is the certificate.

Work is counted in searches, each for the most violated output of one sample. Subgradients,
the simplest method, prove nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger
from maxmargin.files import digit_strings

X, y, _ = digit_strings(300, split="train")
figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
solvers = "block-coordinate", "one-slack", "n-slack", "proximal-bundle", "subgradient"
for solver, mark in zip(solvers, "os^Dv", strict=True):
    model = SequenceTagger(C=0.1, solver=solver, tol=0.001).fit(X, y)
    calls = np.array([row["oracle_calls"] for row in model.history_])
    reached = np.array([row["primal"] for row in model.history_])
    proved = np.array([row["dual"] for row in model.history_])
    proof = model.certificate_
    print(f"{solver}: reached {proof.primal:.2f}, proved {proof.dual:.2f}", end="")
    print(f" with {calls[-1]:,} searches")
    new = np.isfinite(reached) & (reached != np.append(0.0, reached[:-1]))
    (dots,) = ax.plot(calls[new], reached[new], mark, label=solver)
    if proof.dual > 0:
        ax.plot(calls, proved, color=dots.get_color())
ax.set(xscale="log", xlabel="searches for the worst output", ylim=(0, 35))
ax.set(ylabel="objective", title="Dots: what is reached. Lines: what is proved.")
ax.legend(frameon=False)
