"""Prediction of one input at a time, without what only many inputs are worth.

A batch, its checks and its table of functions cost some 150 microseconds, which is nothing
beside a corpus and much beside one sentence. A fitted tagger keeps a ``Single``: what of
its settings prediction needs, in the arrays of one kernel. It answers the common cases and
gives back None for all others, and for input that it cannot read: the ordinary way then
answers, or says what is wrong.
"""

from __future__ import annotations

from itertools import accumulate, chain, repeat
from typing import Any

import numpy as np

from maxmargin.core.tables.arrays import writable
from maxmargin.core.vectors import padded_width
from maxmargin.tags.features.one_sentence import OneSentence
from maxmargin.tags.single_kernels import label_one

_SETTINGS = ("order", "scheme", "forbidden", "decoding", "objective", "n_jobs")
_TOKENS = ({list}, {tuple}, {list, tuple})


def single_of(tagger: Any) -> Single | None:
    """The one that the tagger keeps, made anew where weights or settings are others."""
    fitted = tagger.__dict__
    kept = fitted.get("_single")
    if kept is None or not kept.is_of(tagger):
        if "_w" not in fitted:
            return None
        kept = tagger._single = Single(tagger)
    return kept


class Single:
    """What predicts single inputs of a tagger as it is now."""

    def __init__(self, tagger: Any):
        self._of = tagger._w, tagger.structure_
        self._settings = _settings(tagger)
        structure = self._structure = tagger._fitted()
        self._serves = (
            self._settings is not None
            and structure.order in (0, 1)
            and tagger._w.flags.c_contiguous
            and not structure.posterior
        )
        if not self._serves:
            return
        tagger._threads()  # refuses what is no number of threads
        self._w, self._alone = writable(tagger._w), structure.order == 0
        k = len(structure.labels)
        self._wall = np.zeros((k + 2, padded_width(k)))
        barrier = structure.barrier()
        if barrier is not None:
            self._wall[:, :k] = barrier
        self._ones = np.ones(1 << 10, tagger._w.dtype)
        self._label, self._one = label_one, None
        self._encoder, self._labels = structure.encoder, structure.labels
        if self._encoder.kind == "columns" and OneSentence.serves(self._encoder):
            self._one = OneSentence(self._encoder)

    def is_of(self, tagger: Any) -> bool:
        """Whether the tagger has the weights and settings that this was made of."""
        w, structure = self._of
        return (
            tagger._w is w
            and tagger.structure_ is structure
            and self._settings == _settings(tagger)
        )

    def labels(self, x: Any) -> list | None:
        """The best labels of an input, or None: ask a batch."""
        if not self._serves:
            return None
        indices, indptr, values = self._quick(x) or self._encoded(x)
        labels = self._labels
        y = np.empty(len(indptr) - 1, np.int32)
        score, unknown = self._label(
            indices, values, indptr, self._w, self._wall, len(labels), self._alone, y
        )
        # no labels are allowed; or what was taken for an unknown string is none
        if score == -np.inf or (unknown and not _all_strings(x)):
            return None
        return [labels[k] for k in y.tolist()]

    # encoding: (indices, indptr, values) ------------------------------------------------

    def _quick(self, x: Any):
        """Rows for a template, or lists of strings; None for anything else."""
        if type(x) is not list or set(map(type, x)) not in _TOKENS:
            return None
        encoder = self._encoder
        if self._one is not None:
            found = self._one.encode(x)
            if found is None:
                return None
            indices, indptr = found
        elif encoder.kind == "tokens":
            ends = accumulate(map(len, x), initial=0)
            indptr = np.fromiter(ends, np.int64, len(x) + 1)
            numbers = map(encoder.vocabulary.get, chain.from_iterable(x), repeat(-1))
            try:
                indices = np.fromiter(numbers, np.int32, indptr[-1])
            except TypeError:  # a feature that cannot be hashed
                return None
        else:
            return None
        if len(indices) > len(self._ones):
            self._ones = np.ones(2 * len(indices), self._ones.dtype)
        return indices, indptr, self._ones

    def _encoded(self, x: Any):
        """Whatever the encoder reads."""
        tokens = self._structure.tokens([x])
        # the kernel has one signature, of arrays that could be written
        values = np.ascontiguousarray(tokens.values, self._w.dtype)
        return writable(tokens.indices), writable(tokens.indptr), writable(values)


def _settings(tagger: Any) -> tuple | None:
    """What prediction depends on; None if it could change without being seen."""
    found = tuple(map(tagger.__getattribute__, _SETTINGS))
    forbidden, n_jobs = found[2], found[5]
    if n_jobs is not None and type(n_jobs) is not int:
        return None
    if forbidden is None:
        return found
    if type(forbidden) is not list or set(map(type, forbidden)) != {tuple}:
        return None
    return *found, *forbidden


def _all_strings(x: Any) -> bool:
    return set(map(type, chain.from_iterable(x))) == {str}
