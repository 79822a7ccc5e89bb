"""Part scores from elsewhere: sums and searches on one flat array for all examples.

A network, say, has scored the parts of every example. Scores that all examples have in
common (``contract.common``: the transitions of a chain) stand once, in ``head``; those of
example i alone follow each other in ``own[place[i] : place[i + 1]]``. Together they are
the theta of the example, row by row up to its extent.

    log Z_i, mu_i         sums over outputs, and expected parts
    <theta_i, parts(y)>   value of an output

What belongs to the parts in common is summed over the examples, each times its weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.contract import (
    argmax,
    common,
    complete,
    extent,
    known_sums,
    loss,
    parts,
    shape,
    sums,
    sums_room,
    value,
)
from maxmargin.core.formulation import Form, Plain
from maxmargin.core.kernel import inlined, kernel, run
from maxmargin.core.oracle import most_violated


class Layout(NamedTuple):
    """Where the scores of the parts lie."""

    place: np.ndarray  # int64[n + 1]
    head: int  # how many scores all examples have in common


class Scores(NamedTuple):
    """Scores, or expected parts in their places: float64 arrays."""

    own: np.ndarray
    head: np.ndarray


def layout_of(batch) -> Layout:
    sizes = np.zeros(len(batch.start), np.int64)
    head = run(measure, batch, sizes[1:])
    return Layout(np.cumsum(sizes), int(head))


def empty(layout: Layout) -> Scores:
    """No score, as sums begin."""
    return Scores(np.zeros(layout.place[-1]), np.zeros(layout.head))


def expected_parts(
    batch, layout: Layout, scores: Scores, weights=None, known: bool = False
) -> tuple[np.ndarray, np.ndarray, Scores]:
    """(log Z, <theta, mu>, mu) of every example.

    mu_i is not weighted in ``own``; the sum over examples in ``head`` is. With ``known``,
    sums are over the outputs that agree with what is known.
    """
    n, mu = len(layout.place) - 1, empty(layout)
    total, inner = np.zeros(n), np.zeros(n)
    weights = np.ones(n) if weights is None else weights
    arguments = layout.place, *scores, weights, int(known), *mu, total, inner
    run(sum_all, batch, *arguments)
    return total, inner, mu


def best(
    batch, layout: Layout, scores: Scores, scale: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """(labellings, values): the best outputs, where every loss counts ``scale`` times."""
    labels = np.zeros(len(batch.y), np.int32)
    values = np.zeros(len(layout.place) - 1)
    run(search_all, batch, layout.place, *scores, float(scale), labels, values)
    return labels, values


def worst(batch, layout: Layout, scores: Scores, form: Form | Plain) -> np.ndarray:
    """Labellings: the most violated outputs under a formulation."""
    labels = np.zeros(len(batch.y), np.int32)
    run(violate_all, batch, form, layout.place, *scores, labels)
    return labels


def completions(batch, layout: Layout, scores: Scores) -> np.ndarray:
    """The best labellings that agree with what is known."""
    labels = batch.y.copy()
    run(complete_every, batch, layout.place, *scores, labels)
    return labels


def values_of(batch, layout: Layout, scores: Scores, labels) -> np.ndarray:
    """The value of one labelling per example."""
    values = np.zeros(len(layout.place) - 1)
    run(value_all, batch, layout.place, *scores, labels, values)
    return values


def losses_of(batch, labels) -> np.ndarray:
    """The loss of one labelling per example."""
    losses = np.zeros(len(batch.start) - 1)
    run(lose_all, batch, labels, losses)
    return losses


def sum_of_parts(batch, layout: Layout, labels, weights) -> Scores:
    """The parts of one labelling per example, each times its weight."""
    out = empty(layout)
    run(parts_of_all, batch, layout.place, labels, weights, *out)
    return out


# kernels --------------------------------------------------------------------------------


@kernel
def measure(batch, sizes):
    head = common(batch)
    for i in range(len(sizes)):
        sizes[i] = max(extent(batch, i) - head, 0)
    return head


@inlined
def is_empty(batch, place, i):
    """An example without slots and scores has one output, of value 0."""
    return batch.start[i] == batch.start[i + 1] and place[i] == place[i + 1]


@inlined
def load(i, place, own, head, theta):
    """theta <- the scores of example i."""
    flat, n = theta.ravel(), len(head)
    for k in range(n):
        flat[k] = head[k]
    for k in range(place[i + 1] - place[i]):
        flat[n + k] = own[place[i] + k]


@inlined
def store(i, place, weight, mu, own, head):
    """Add what an example has to the flat arrays."""
    flat, n = mu.ravel(), len(head)
    for k in range(n):
        head[k] += weight * flat[k]
    for k in range(place[i + 1] - place[i]):
        own[place[i] + k] += flat[n + k]


@inlined
def product(theta, mu, n):
    """<theta, mu>; what is impossible is not expected."""
    a, b, total = theta.ravel(), mu.ravel(), 0.0
    for k in range(n):
        if b[k] != 0.0:
            total += a[k] * b[k]
    return total


@kernel
def sum_all(batch, place, own, head, weights, known, mu_own, mu_head, total, inner):
    theta, mu = np.zeros(shape(batch)), np.zeros(shape(batch))
    work = np.zeros(sums_room(batch))
    for i in range(len(total)):
        if is_empty(batch, place, i):
            continue
        load(i, place, own, head, theta)
        if known:
            total[i] = known_sums(batch, i, theta, mu, work)
            load(i, place, own, head, theta)
        else:
            total[i] = sums(batch, i, theta, mu, work)
        inner[i] = product(theta, mu, len(head) + place[i + 1] - place[i])
        store(i, place, weights[i], mu, mu_own, mu_head)


@kernel
def search_all(batch, place, own, head, scale, labels, values):
    theta = np.zeros(shape(batch))
    for i in range(len(values)):
        if is_empty(batch, place, i):
            continue
        load(i, place, own, head, theta)
        y = labels[batch.start[i] : batch.start[i + 1]]
        argmax(batch, i, theta, scale, y)
        values[i] = value(batch, i, theta, y)


@kernel
def violate_all(batch, form, place, own, head, labels):
    theta = np.zeros(shape(batch))
    for i in range(len(place) - 1):
        if is_empty(batch, place, i):
            continue
        load(i, place, own, head, theta)
        y = labels[batch.start[i] : batch.start[i + 1]]
        most_violated(batch, form, i, theta, y)


@kernel
def complete_every(batch, place, own, head, labels):
    theta = np.zeros(shape(batch))
    for i in range(len(place) - 1):
        if is_empty(batch, place, i):
            continue
        load(i, place, own, head, theta)
        complete(batch, i, theta, labels[batch.start[i] : batch.start[i + 1]])


@kernel
def value_all(batch, place, own, head, labels, values):
    theta = np.zeros(shape(batch))
    for i in range(len(values)):
        if is_empty(batch, place, i):
            continue
        load(i, place, own, head, theta)
        values[i] = value(batch, i, theta, labels[batch.start[i] : batch.start[i + 1]])


@kernel
def lose_all(batch, labels, losses):
    for i in range(len(losses)):
        if batch.start[i] < batch.start[i + 1]:
            losses[i] = loss(batch, i, labels[batch.start[i] : batch.start[i + 1]])


@kernel
def parts_of_all(batch, place, labels, weights, mu_own, mu_head):
    mu = np.zeros(shape(batch))
    for i in range(len(weights)):
        if is_empty(batch, place, i):
            continue
        flat = mu.ravel()
        for k in range(len(mu_head) + place[i + 1] - place[i]):
            flat[k] = 0.0
        y = labels[batch.start[i] : batch.start[i + 1]]
        parts(batch, i, y, weights[i], mu)
        store(i, place, 1.0, mu, mu_own, mu_head)
