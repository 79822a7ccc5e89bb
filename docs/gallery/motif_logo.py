"""Find a short word that is hidden in DNA, and draw it.

Half of the sequences have a site of eight letters somewhere, almost never exactly the same;
the others have none. The sites are not marked. The finder learns which sequences have
one, where it is, and what it looks like.

The logo shows the letters at the predicted sites: the taller a letter, the more consistent
the position. Below are the scores of new sequences.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import MotifFinder, plots

SITE = "TGACGTCA"
rng = np.random.default_rng(0)


def sequences(n):
    X, y, starts = [], [], []
    for k in range(n):
        letters = rng.choice(list("ACGT"), size=60)
        starts.append(int(rng.integers(52)))
        if k % 2:
            keep = rng.random(8) < 0.9  # the others stay as chance has made them
            part = letters[starts[-1] : starts[-1] + 8]
            part[keep] = np.array(list(SITE))[keep]
        X.append("".join(letters))
        y.append(bool(k % 2))
    return X, y, starts


X, y, _ = sequences(200)
X_test, y_test, starts = sequences(400)
model = MotifFinder(width=8, composition=False, both_strands=False, random_state=0)
model.fit(X, y)
sites = model.predict_sites(X_test)
hits = [
    s.start == start for s, start, has in zip(sites, starts, y_test, strict=True) if has
]
print("the motif:", model.consensus())
print(f"{model.score(X_test, y_test):.1%} of new sequences are told apart")
print(f"{np.mean(hits):.1%} of their sites are found to the letter")

figure, (top, below) = plt.subplots(2, figsize=(6.4, 5.6), layout="constrained")
plots.plot_logo(model, ax=top)
plots.plot_site_scores(y_test, model.decision_function(X_test), ax=below)
