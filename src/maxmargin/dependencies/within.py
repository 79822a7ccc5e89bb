"""Labels within arcs: the best one, and sums over all; what is known of them.

Whatever trees are searched for, they are found in a table of one score per arc.
"""

from __future__ import annotations

import math

import numpy as np

from maxmargin.core.kernel import inlined, summing
from maxmargin.dependencies.arcs import (
    head_place,
    modifier_place,
    n_words,
    tags_place,
)

SMALL = 1e-200  # sums below it are taken again, shifted by their largest term


@inlined
def best_arcs(batch, i, theta, costed):
    """(n + 1, n + 1): the best score of each arc with its loss; -inf where none is."""
    n, labels = n_words(batch, i), batch.n_labels
    found = np.empty((n + 1, n + 1))
    for h in range(n + 1):
        found[h, 0] = -np.inf
        for m in range(1, n + 1):
            found[h, m] = -np.inf
            if h != m:
                found[h, m] = costed[h * n + m - 1]
                if labels > 1:
                    found[h, m] += best_label_value(
                        labels,
                        costed,
                        theta[0],
                        modifier_place(batch, n, m, h),
                        head_place(batch, n, m, h),
                        tags_place(batch, i, n, m, h),
                    )
    return found


@inlined
def with_costs(batch, i, theta, scale):
    """A copy of theta for arcs and modifiers, with ``scale`` more for what is wrong."""
    n, labels, first = n_words(batch, i), batch.n_labels, batch.start[i]
    costed = np.empty((n + 1) * n + (labels > 1) * 2 * n * labels)
    for k in range(len(costed)):
        costed[k] = theta[0, k]
    if scale == 0.0:
        return costed
    for m in range(1, n + 1):
        truth = batch.y[first + m - 1]
        for h in range(n + 1):
            if h != truth // labels:
                costed[h * n + m - 1] += scale
        if labels > 1:
            for h in (0, n + 1):  # from the left, from the right
                at = modifier_place(batch, n, m, h)
                for label in range(labels):
                    if label != truth % labels:
                        costed[at + label] += scale
    return costed


@inlined
def best_label_value(labels, own, out, a, b, c):
    """max over l of own[a + l] + out[b + l] + out[c + l], four at a time."""
    x0, x1, x2, x3 = -np.inf, -np.inf, -np.inf, -np.inf
    last = labels - labels % 4
    for k in range(0, last, 4):
        x0 = max(x0, own[a + k] + out[b + k] + out[c + k])
        x1 = max(x1, own[a + k + 1] + out[b + k + 1] + out[c + k + 1])
        x2 = max(x2, own[a + k + 2] + out[b + k + 2] + out[c + k + 2])
        x3 = max(x3, own[a + k + 3] + out[b + k + 3] + out[c + k + 3])
    for k in range(last, labels):
        x0 = max(x0, own[a + k] + out[b + k] + out[c + k])
    return max(max(x0, x1), max(x2, x3))


@inlined
def write_codes(batch, i, theta, costed, heads, y):
    """y <- the heads with the best label of each arc."""
    n, labels = n_words(batch, i), batch.n_labels
    for m in range(1, n + 1):
        best, label, h = -np.inf, 0, heads[m]
        if labels > 1:
            a = modifier_place(batch, n, m, h)
            b = head_place(batch, n, m, h)
            c = tags_place(batch, i, n, m, h)
            for k in range(labels):
                found = costed[a + k] + theta[0, b + k] + theta[0, c + k]
                if found > best:
                    best, label = found, k
        y[m - 1] = h * labels + label


# sums -----------------------------------------------------------------------------------


@inlined
def sum_arcs(batch, i, theta, powers):
    """(n + 1, n + 1): log of the sum over labels of exp(score), for each arc.

    ``powers`` (as long as theta's row) <- exp of the label scores, each table shifted so
    that its rows have 1 as their largest: a sum is one product for each label.
    """
    n, labels = n_words(batch, i), batch.n_labels
    found = np.empty((n + 1, n + 1))
    for h in range(n + 1):
        found[h, 0] = -np.inf
        for m in range(1, n + 1):
            found[h, m] = theta[0, h * n + m - 1] if h != m else -np.inf
    if labels == 1:
        return found
    first = (n + 1) * n
    k = np.int64(batch.sentences.n_kinds[i])
    rows = 4 * n + 2 + k * k
    top = np.empty(rows)
    for r in range(rows):
        top[r] = raise_row(theta[0], powers, first + r * labels, labels)
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h == m or found[h, m] == -np.inf:
                continue
            a = modifier_place(batch, n, m, h)
            b = head_place(batch, n, m, h)
            c = tags_place(batch, i, n, m, h)
            total = product_sum(powers, a, b, c, labels)
            if total > SMALL:
                found[h, m] += math.log(total) + top[(a - first) // labels]
                found[h, m] += top[(b - first) // labels] + top[(c - first) // labels]
            else:
                found[h, m] += careful_sum(theta[0], a, b, c, labels)
    return found


@inlined
def raise_row(out, powers, at, labels):
    """powers <- exp(row - its maximum), which is returned; 0 where all is -inf."""
    top = -np.inf
    for k in range(at, at + labels):
        top = max(top, out[k])
    if top == -np.inf:
        top = 0.0
    for k in range(at, at + labels):
        powers[k] = math.exp(out[k] - top)
    return top


@summing
def product_sum(powers, a, b, c, labels):
    total = 0.0
    for k in range(labels):
        total += powers[a + k] * powers[b + k] * powers[c + k]
    return total


@inlined
def careful_sum(out, a, b, c, labels):
    """log sum exp of the scores of all labels, whatever their size."""
    top, total = -np.inf, 0.0
    for k in range(labels):
        top = max(top, out[a + k] + out[b + k] + out[c + k])
    if top == -np.inf:
        return top
    for k in range(labels):
        total += math.exp(out[a + k] + out[b + k] + out[c + k] - top)
    return top + math.log(total)


@inlined
def expect_labels(batch, i, theta, powers, chances, mu):
    """mu <- expected parts, of the probabilities of arcs."""
    n, labels = n_words(batch, i), batch.n_labels
    k = np.int64(batch.sentences.n_kinds[i])
    for p in range((n + 1) * n + (labels > 1) * labels * (4 * n + 2 + k * k)):
        mu[0, p] = 0.0
    for h in range(n + 1):
        for m in range(1, n + 1):
            chance = chances[h, m]
            if h == m or chance == 0.0:
                continue
            mu[0, h * n + m - 1] = chance
            if labels == 1:
                continue
            a = modifier_place(batch, n, m, h)
            b = head_place(batch, n, m, h)
            c = tags_place(batch, i, n, m, h)
            total = product_sum(powers, a, b, c, labels)
            if total > SMALL:
                share(powers, a, b, c, labels, chance / total, mu[0])
            else:
                share_carefully(theta[0], a, b, c, labels, chance, mu[0])


@inlined
def share(powers, a, b, c, labels, factor, out):
    for k in range(labels):
        x = factor * powers[a + k] * powers[b + k] * powers[c + k]
        out[a + k] += x
        out[b + k] += x
        out[c + k] += x


@inlined
def share_carefully(theta, a, b, c, labels, chance, out):
    total = careful_sum(theta, a, b, c, labels)
    for k in range(labels):
        x = chance * math.exp(theta[a + k] + theta[b + k] + theta[c + k] - total)
        out[a + k] += x
        out[b + k] += x
        out[c + k] += x


# what is known --------------------------------------------------------------------------


@inlined
def clamp_known(batch, i, theta):
    """theta <- -inf for arcs and labels that are not those of known words."""
    n, labels, first = n_words(batch, i), batch.n_labels, batch.start[i]
    for m in range(1, n + 1):
        if not batch.known[first + m - 1]:
            continue
        code = batch.y[first + m - 1]
        for h in range(n + 1):
            if h != code // labels and h != m:
                theta[0, h * n + m - 1] = -np.inf
        if labels > 1:
            at = modifier_place(batch, n, m, code // labels)
            for label in range(labels):
                if label != code % labels:
                    theta[0, at + label] = -np.inf
    return 0.0
