"""Training with labels that are not known: ``None`` inside y.

First a fit on the runs of tokens whose labels are known. Then two steps alternate until no
label changes: complete every sequence with the best labels under the current weights, the
known ones fixed, and train on the completed sequences. (For the hinge this is the
concave-convex procedure of Yu & Joachims 2009, with the loss counted on completed labels
too.)
"""

from __future__ import annotations

import numpy as np

ROUNDS = 10


def has_gaps(y) -> bool:
    """Whether a label is None; anything that is not a list of lists is checked later."""
    if not isinstance(y, (list, tuple)):
        return False
    lists = (row.tolist() if isinstance(row, np.ndarray) else row for row in y)
    return any(isinstance(row, (list, tuple)) and None in row for row in lists)


def fit_with_gaps(tagger, X, y, sample_weight, fit) -> None:
    """``fit(X, y, sample_weight)`` on the gaps as they are, then on completed y."""
    fit(X, y, sample_weight)
    completed = None
    for _ in range(ROUNDS):
        again = tagger.complete(X, y)
        if again == completed:
            break
        completed = again
        fit(X, completed, sample_weight)


def known_runs(tokens, labels, weights):
    """(tokens, labels, weights) of the runs of known labels as sequences of their own."""
    kept = np.flatnonzero(labels >= 0)
    sequence = np.repeat(np.arange(len(tokens.start) - 1), np.diff(tokens.start))[kept]
    new = np.ones(len(kept), bool)
    new[1:] = (np.diff(kept) > 1) | (np.diff(sequence) > 0)
    first = np.flatnonzero(new)
    sizes = np.diff(tokens.indptr)[kept]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    entries = np.arange(indptr[-1]) + np.repeat(
        tokens.indptr[kept] - indptr[:-1], sizes
    )
    runs = tokens._replace(
        start=np.append(first, len(kept)),
        indptr=indptr,
        indices=tokens.indices[entries],
        values=tokens.values[entries],
    )
    return runs, labels[kept], weights[sequence[first]]
