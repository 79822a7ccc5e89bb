"""Labels that are not known: ``None`` inside y, or in place of a whole label sequence.

How they are trained with stands in ``core/partial.py``. The first fit is one on the runs of
tokens whose labels are known, as sequences of their own.
"""

from __future__ import annotations

import numpy as np


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
