"""Letters that both sequences of a reference leave unmatched at one place, as in loops.

    reference   ..GAV---KLE..        its completion   ..GAV-KLE..
                ..GSIPNG-LE..                         ..GSIPNLE..

References made from structures match what is alike in space and leave the rest open on
both sides. The losses "q" count reference pairs that are missed, and do not ask for open
letters: more pairs cost nothing. But as the truth, such an alignment would have to win
against those with the pairs that usual scores find there, and training would make gaps too
cheap. So it is completed before: with the best alignment of the open letters by the prior
(``features/prior.py``). The loss of this completion is 0, so that the hinge

    max_y [loss(y_i, y) - w.(Psi(x_i, completion of y_i) - Psi(x_i, y))]

is a bound on the loss of the prediction, as before. The new pairs do not count in losses.
"""

from __future__ import annotations

import numpy as np

from maxmargin.alignments.batch import align_batch
from maxmargin.alignments.features.encoder import length_of
from maxmargin.core.decode import decode


def complete_loops(model, prior, targets, templates, labels, counts, free):
    """(labels, counts) of the completions; arguments as of ``align_batch``."""
    places, left, right = [], [], []
    first = 0
    for s, t in zip(targets, templates, strict=True):
        n, m = length_of(s), length_of(t)
        for i0, i1, j0, j1 in _loops(labels[first : first + n], m, any(free)):
            places.append((first + i0, j0))
            left.append({track: values[i0:i1] for track, values in s.items()})
            right.append({track: values[j0:j1] for track, values in t.items()})
        first += n
    if not places:
        return labels, counts
    labels, counts = labels.copy(), counts.copy()
    size = sum(map(length_of, left))
    open_, all_count = np.full(size, -1, np.int32), np.ones(size, bool)
    batch = align_batch(
        model, left, right, open_, all_count, np.ones(len(left)), 0, (0, 0)
    )
    found = decode(batch, prior.scores)
    for k, (slot, j0) in enumerate(places):
        part = found[batch.start[k] : batch.start[k + 1]]
        here = slot + np.flatnonzero(part >= 0)
        labels[here] = j0 + part[part >= 0]
        counts[here] = False
    return labels, counts


def _loops(labels, m: int, free: bool):
    """(i0, i1, j0, j1) where both sequences have unmatched letters; not at free ends."""
    at = np.flatnonzero(labels >= 0)
    if not len(at):
        return
    i = np.concatenate([[-1], at, [len(labels)]])
    j = np.concatenate([[-1], labels[at], [m]])
    some = (np.diff(i) > 1) & (np.diff(j) > 1)
    if free:
        some[[0, -1]] = False
    for k in np.flatnonzero(some).tolist():
        yield int(i[k]) + 1, int(i[k + 1]), int(j[k]) + 1, int(j[k + 1])
