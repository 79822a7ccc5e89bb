"""Find the one relative among twenty unrelated sequences.

Every sequence comes with twenty-one candidates, one of which descends from a part of it.
The finder scores each candidate by its best local alignment, and learns the scores of
matched letters so that relatives rank first.

For some test sequences, the picture shows the score of the relative among the scores of
all candidates.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import HomologFinder
from maxmargin.alignments.homologs.invented import make_homologs

X_test, y_test = make_homologs(100, n_decoys=20, random_state=1)
for size in (5, 20, 40):
    X, y = make_homologs(size, n_decoys=5, random_state=0)
    finder = HomologFinder(C=0.1).fit(X, y)
    found = finder.score(X_test, y_test)
    print(f"trained on {size:>2} sequences: {found:.0%} of the relatives are found")

figure, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
scores = finder.decision_function(X_test[:25])
margin = [
    s[k] - np.delete(s, k).max() for s, (k, _) in zip(scores, y_test, strict=False)
]
for row, i in enumerate(np.argsort(margin)):
    relative, _ = y_test[i]
    others = np.delete(scores[i], relative)
    ax.plot(others, [row] * len(others), "|", color="0.6", ms=8)
    colour = "#0072B2" if margin[i] > 0 else "#D55E00"
    ax.plot(scores[i][relative], row, "o", color=colour)
ax.plot([], [], "o", color="#0072B2", label="relative, found")
ax.plot([], [], "o", color="#D55E00", label="relative, missed")
ax.plot([], [], "|", color="0.6", ms=8, label="strangers")
ax.set(xlabel="score of the best local alignment", ylabel="sequence, hardest below")
ax.set_title("Relatives among strangers: 25 sequences of the test")
ax.legend(frameon=False, loc="lower right")
