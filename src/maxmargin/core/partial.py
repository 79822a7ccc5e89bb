"""Truths that are only partly known: ``None`` in y.

A family that allows them has a second class of batches, its *partial twin*: the same
fields and, by slot, which labels are ``known``. All contract functions hold for it; of its
own it has ``contract.clamp``, which makes outputs that contradict what is known impossible.
Ordinary fits never see it.

    hinge    minimise 1/2 |w|^2 + sum_i C_i H_i(w; h_i) over w and the completions h_i of
             the truths, in turns (``solvers/hidden/concave_convex.py``); a completed label
             counts in the loss like a known one
    log      -log of the sum of p over all completions, the marginal likelihood
             (``solvers/hidden/marginal_likelihood.py``)
    others   fit and complete in turns, until no label changes (:func:`alternate`)

The first completions are those of a model of what is known for sure (:func:`sure_part`).
"""

from __future__ import annotations

from collections import namedtuple
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from maxmargin.core.completion import complete_all, with_truths
from maxmargin.core.contract import argmax, clamp, complete, probabilistic
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, twins

ROUNDS = 10  # fits, each on the completions of the last


def with_known(batch_class: type, completed=None, also=MappingProxyType({})) -> type:
    """The partial twin of a class of batches.

    Put this directly behind the class: whatever implements a function for the one then
    does so for the other. ``completed(batch, y)`` is the batch with other truths, where
    more than ``y`` depends on them. ``also`` names fields of the twin beside ``known`` and
    how they are cut (``core/cutting.py``).
    """
    name = f"Partial{batch_class.__name__}"
    fields = [*batch_class._fields, *also, "known"]
    twin = namedtuple(name, fields, module=batch_class.__module__)
    twin.ordinary = batch_class
    if hasattr(batch_class, "cuts"):
        twin.cuts = cut_by(**batch_class.cuts, **also, known="start")
    if hasattr(batch_class, "compact"):
        twin.compact = batch_class.compact
    if completed is not None:
        twin.completed = completed
    twins[batch_class] = twin
    implements(complete, twin)(complete_known)
    return twin


def complete_known(batch, i, theta, y):
    clamp(batch, i, theta)
    argmax(batch, i, theta, 0.0, y)


def partly_known(batch, known, **also):
    """The batch as one of which only the slots ``known`` are."""
    known = np.ascontiguousarray(known, np.bool_)
    return twins[type(batch)](*batch, known=known, **also)


def ordinary(batch):
    """The batch as if its present completions were known."""
    if not is_partial(batch):
        return batch
    return batch.ordinary(*batch[: len(batch.ordinary._fields)])


def is_partial(batch) -> bool:
    """Whether the batch says slot by slot what is known."""
    return hasattr(type(batch), "ordinary")


def count_known(batch) -> np.ndarray:
    """CachedOutputs slots of every example."""
    total = np.concatenate([[0], np.cumsum(batch.known)])
    return total[batch.start[1:]] - total[batch.start[:-1]]


# training -------------------------------------------------------------------------------


def sure_part(encoded):
    """A problem to begin with: what the family says (``encoded.first``), or the examples
    that are known whole. If there is none, the whole batch as it is, for the marginal
    likelihood; for structures without sums, all of which something is known."""
    if encoded.first is not None:
        return encoded.first
    known, size = count_known(encoded.batch), np.diff(encoded.batch.start)
    kept = (known == size) & (size > 0) & (encoded.weights > 0)
    if not kept.any() and probabilistic(encoded.batch):
        return encoded
    kept = kept if kept.any() else known > 0
    weights = np.where(kept, encoded.weights, 0.0)
    return replace(encoded, batch=ordinary(encoded.batch), weights=weights)


def alternate(encoded, solve, n_jobs: int = 1, over=lambda found: False):
    """What ``solve(encoded)``, weights first, answers on the last completions.

    An answer that is ``over`` is the last one.
    """
    batch = encoded.batch
    found, last = solve(sure_part(encoded)), None
    for _ in range(ROUNDS):
        if over(found):
            break
        truths = complete_all(batch, found[0], n_jobs)
        if last is not None and np.array_equal(truths, last):
            break
        last, batch = truths, with_truths(batch, truths)
        found = solve(replace(encoded, batch=ordinary(batch)))
    return found
