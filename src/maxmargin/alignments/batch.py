"""Checked sequences and alignments to a batch; right pairs of predictions."""

from __future__ import annotations

import numpy as np

from maxmargin.alignments.features.arrays import encode_sides, entries_of
from maxmargin.alignments.features.encoder import length_of
from maxmargin.alignments.features.prior import NONE
from maxmargin.alignments.pair_alignments import make_batch

LARGEST_PAIR = 10**8  # cells: beyond it the tables take gigabytes


def norms(targets, templates, normalize) -> np.ndarray:
    """By what the features of each pair are multiplied."""
    if not normalize:
        return np.ones(len(targets))
    lengths = map(length_of, targets), map(length_of, templates)
    return 1.0 / np.array([n + m for n, m in zip(*lengths, strict=True)], float)


def align_batch(
    model, targets, templates, labels, counts, norm, shift, free, prior=NONE
):
    """The AlignmentBatch of these pairs; arguments as in its make_batch()."""
    for i, (a, b) in enumerate(zip(targets, templates, strict=True)):
        if length_of(a) * length_of(b) > LARGEST_PAIR:
            raise ValueError(
                f"sample {i} has {length_of(a)} x {length_of(b)} positions, more than "
                f"{LARGEST_PAIR:.0e} pairs: cut the sequences into shorter ones."
            )
    s, t, terms = encode_sides(model, targets, templates, prior)
    return make_batch(s, t, terms, labels, norm, counts, shift, free, entries_of(model))


def right_pairs(batch, labels) -> np.ndarray:
    """How many pairs of each example are as in the reference, where that counts."""
    n = len(batch.start) - 1
    owner = np.repeat(np.arange(n), np.diff(batch.start))
    at = np.flatnonzero(labels >= 0)
    # partner is -1 where the reference pair does not count
    wanted = batch.partner[batch.t.start[owner[at]] + labels[at]]
    hit = wanted == at - batch.start[owner[at]]
    return np.bincount(owner[at[hit]], minlength=n)
