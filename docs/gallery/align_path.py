"""See an alignment as a path, and the alternatives.

Two sequences with a common ancestor are aligned: changed letters stand opposite each
other; other letters were inserted or lost. The table has a score for every pair of
positions. An alignment is a path through it, and the best path is found exactly.

The aligner learned the scores from 50 pairs whose history is known; the second picture
shows them. The certificate bounds how far its objective is from the best possible one.
"""

import numpy as np

from maxmargin import SequenceAligner, metrics, plots

rng = np.random.default_rng(0)
LETTERS = "ACGT"
CHANGED = dict(
    zip("ACGT", "GTAC", strict=True)
)  # A for G and C for T, most of the time


def descend(n=30):
    """A sequence, a changed copy, and which positions belong together."""
    old, new, pairs = "".join(rng.choice(list(LETTERS), n)), "", []
    i = 0
    while i < n:
        luck = rng.random()
        if luck < 0.05:
            i += int(rng.integers(1, 5))  # some letters are lost
        elif luck < 0.1:
            new += "".join(rng.choice(list(LETTERS), rng.integers(1, 5)))
        else:
            pairs.append((i, len(new)))
            new += CHANGED[old[i]] if rng.random() < 0.3 else old[i]
            i += 1
    return (old, new), pairs


X, y = zip(*[descend() for _ in range(50)], strict=True)
X_test, y_test = zip(*[descend() for _ in range(100)], strict=True)
aligner = SequenceAligner(tol=0.01).fit(X, y)
found = aligner.predict(X_test)
print(metrics.alignment_report(y_test, found))
print(
    f"at most {aligner.certificate_.relative_gap:.1%} from the best objective (proved)"
)

right = [len(set(a) & set(b)) / len(a) for a, b in zip(y_test, found, strict=True)]
k = int(np.argsort(right)[30])  # one of those that are hard
a, b = X_test[k]
table = aligner.substitution_matrix_
at = [[aligner.alphabet_.index(letter) for letter in text] for text in (a, b)]
plots.plot_alignment_path(
    a, b, found[k], y_test[k], scores=table[np.ix_(*at)], names=("old", "new")
)
plots.plot_substitutions(aligner)
