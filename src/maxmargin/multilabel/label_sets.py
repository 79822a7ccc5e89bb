"""Sets of labels: every label k has a row of weights, and theta_k is its score.

With truth T among labels 1..K, and loss

    hamming   sum_k cost_k [k is missed or too many]
    f1        1 - 2 |y & T| / (|y| + |T|), which is 0 if both are empty
    ranking   share of misordered pairs (a, b) of a label in T and one that is not; a label
              0 with score 0 stands between them, so that scores above 0 are predicted

For the first two, an output is a set, the slots hold 0 or 1, and its score is the sum of
its theta_k. For ranking, Psi = 1/N sum over the N pairs of +-(phi_a - phi_b) / 2, so that
the margin of an output is the sum of theta_a - theta_b over its misordered pairs, divided
by N. The slots then hold in how many such pairs each label (the last slot: label 0) is.
With an empty T, as when predicting, that is again 0 or 1, and the predicted set.

All searches are exact, in every formulation: for sets, the best output with given numbers
of labels inside and outside T has the highest of each; for rankings, the best output with
m misordered pairs has those with the smallest differences. Only Hamming losses with costs
that differ leave slack rescaling and quadratic slacks to the general search.
(Joachims 2005 for losses of counts and for pairs; Fuernkranz et al. 2008 for label 0.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.classes import sparse as multiclass
from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined
from maxmargin.core.rescale import violation
from maxmargin.core.vectors import padded_width

HAMMING, F1, RANKING = range(3)
KINDS = {"hamming": HAMMING, "f1": F1, "ranking": RANKING}


class LabelSetBatch(NamedTuple):
    """CSR rows and their true sets; w is (features, width), padded for SIMD."""

    cuts = cut_by(**multiclass.MulticlassBatch.cuts, truth="example")

    start: np.ndarray
    y: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    norms: np.ndarray  # |x_i|^2
    truth: np.ndarray  # uint8 (examples, labels)
    cost: np.ndarray  # (labels,), for the Hamming loss
    kind: int
    even: int  # whether all costs are equal
    n_labels: int
    width: int
    n_features: int
    longest: int


def make_batch(
    indptr, indices, values, n_features, truth, cost, kind, dtype
) -> LabelSetBatch:
    """Encode rows in CSR form with true sets as a 0/1 matrix (zeros to predict)."""
    truth = np.ascontiguousarray(truth, np.uint8)
    n, k = truth.shape
    slots = k + (kind == RANKING)
    y = np.zeros((n, slots), np.int32)
    if kind != RANKING:
        y[:] = truth
    return LabelSetBatch(
        start=np.arange(n + 1, dtype=np.int64) * slots,
        y=y.ravel(),
        **multiclass.row_fields(indptr, indices, values, n_features, dtype),
        truth=truth,
        cost=np.ascontiguousarray(cost, np.float64),
        kind=kind,
        even=int(len(set(np.asarray(cost).tolist())) == 1),
        n_labels=k,
        width=padded_width(k),
    )


# Labels have scores as classes do.
implements(contract.shape, LabelSetBatch)(multiclass.shape)
implements(contract.score, LabelSetBatch)(multiclass.score)
implements(contract.spread, LabelSetBatch)(multiclass.spread)


@implements(contract.capacity, LabelSetBatch)
def capacity(batch):
    return batch.longest * batch.n_labels


@inlined
def count_true(batch, i):
    count = 0
    for k in range(batch.n_labels):
        count += batch.truth[i, k]
    return count


@inlined
def pairs(batch, i):
    """N, the pairs of the ranking loss, those with label 0 included."""
    inside = count_true(batch, i)
    return inside * (batch.n_labels - inside) + batch.n_labels


@inlined
def coefficient(batch, i, k, slot):
    """By how much theta_k counts in the score of an output with this in slot k."""
    if batch.kind != RANKING:
        return float(slot)
    inside = count_true(batch, i)
    if batch.truth[i, k]:
        return (batch.n_labels - inside + 1 - slot) / pairs(batch, i)
    return (slot - inside - 1) / pairs(batch, i)


@implements(contract.value, LabelSetBatch)
def value(batch, i, theta, y):
    total = 0.0
    for k in range(batch.n_labels):
        total += coefficient(batch, i, k, y[k]) * float(theta[0, k])
    return total


@implements(contract.possible, LabelSetBatch)
def possible(batch, i, y):
    """Marks of labels; or in how many misordered pairs labels are, two in each."""
    most = batch.n_labels if batch.kind == RANKING else 1
    total = 0
    for k in range(batch.start[i + 1] - batch.start[i]):
        if not 0 <= y[k] <= most:
            return False
        total += y[k]
    return batch.kind != RANKING or total % 2 == 0


@implements(contract.loss, LabelSetBatch)
def loss(batch, i, y):
    hits, found, inside, wrong = 0, 0, 0, 0.0
    for k in range(batch.n_labels):
        inside += batch.truth[i, k]
        if batch.kind == RANKING:
            wrong += y[k]
        else:
            hits += y[k] * batch.truth[i, k]
            found += y[k]
            if y[k] != batch.truth[i, k]:
                wrong += batch.cost[k]
    if batch.kind == RANKING:
        return (wrong + y[batch.n_labels]) / (2.0 * pairs(batch, i))
    return f1_loss(hits, found, inside) if batch.kind == F1 else wrong


@inlined
def f1_loss(hits, found, inside):
    return 1.0 - 2.0 * hits / (found + inside) if found + inside > 0 else 0.0


@implements(contract.emit, LabelSetBatch)
def emit(batch, i, y, factor, index, values, m):
    for k in range(batch.n_labels):
        c = factor * coefficient(batch, i, k, y[k])
        if c != 0.0:
            m = emit_row(batch, i, k, c, index, values, m)
    return m


@inlined
def emit_row(batch, i, k, c, index, values, m):
    for j in range(batch.indptr[i], batch.indptr[i + 1]):
        index[m] = batch.indices[j] * batch.width + k
        values[m] = c * batch.values[j]
        m += 1
    return m


@inlined
def change(batch, i, k, s, rs, a, ra):
    """The coefficient of x in row k of rs psi(s) - ra psi(a)."""
    true = coefficient(batch, i, k, batch.y[batch.start[i] + k])
    to = rs * (true - coefficient(batch, i, k, s[k]))
    return to - ra * (true - coefficient(batch, i, k, a[k]))


@implements(contract.difference, LabelSetBatch)
def difference(batch, i, s, rs, a, ra, index, values):
    m = 0
    for k in range(batch.n_labels):
        c = change(batch, i, k, s, rs, a, ra)
        if c != 0.0:
            m = emit_row(batch, i, k, c, index, values, m)
    return m


@implements(contract.shift, LabelSetBatch)
def shift(batch, i, step, s, rs, a, ra, theta):
    for k in range(batch.n_labels):
        theta[0, k] += step * batch.norms[i] * change(batch, i, k, s, rs, a, ra)
    return True


# sums over all sets ------------------------------------------------------------------


@implements(contract.sums, LabelSetBatch)
def sums(batch, i, theta, mu, work):
    n, total = batch.n_labels, 0.0
    for k in range(batch.width):
        mu[0, k] = 0.0
    if batch.kind == RANKING:  # every pair for itself
        share = 1.0 / pairs(batch, i)
        for a in range(n + 1):
            for b in range(n + 1):
                if is_pair(batch, i, a, b):
                    x = share * difference_of(theta, n, a, b)
                    total += log_sum(x)
                    if a < n:
                        mu[0, a] += share * chance(x)
                    if b < n:
                        mu[0, b] -= share * chance(x)
        return total
    for k in range(n):
        x = float(theta[0, k])
        total += log_sum(x)
        mu[0, k] = chance(x)
    return total


@inlined
def log_sum(x):
    """log(1 + exp(x))."""
    return max(x, 0.0) + np.log1p(np.exp(-abs(x)))


@inlined
def chance(x):
    """1 / (1 + exp(-x))."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


@implements(contract.parts, LabelSetBatch)
def parts(batch, i, y, factor, mu):
    for k in range(batch.n_labels):
        mu[0, k] += factor * coefficient(batch, i, k, y[k])


# search ------------------------------------------------------------------------------


@implements(contract.argmax, LabelSetBatch)
def argmax(batch, i, theta, scale, y):
    if batch.kind == RANKING:
        misorder(batch, i, theta, scale, y)
    elif batch.kind == F1 and scale > 0.0:
        best_counts(batch, i, theta, scale, 0, 0, y)
    else:
        for k in range(batch.n_labels):
            extra = scale * batch.cost[k] * (1.0 - 2.0 * batch.truth[i, k])
            y[k] = theta[0, k] + extra > 0.0


@implements(contract.argmax_rescaled, LabelSetBatch)
def argmax_rescaled(batch, i, theta, form, y):
    if batch.kind == RANKING:
        fewest_pairs(batch, i, theta, form, y)
        return True
    if batch.kind == HAMMING and not batch.even:
        return False
    best_counts(batch, i, theta, 0.0, form.slack, form.quadratic, y)
    return True


@inlined
def best_counts(batch, i, theta, scale, slack, quadratic, y):
    """y <- the best set, searched by its numbers of labels inside and outside the truth.

    With scale > 0 by score plus scale * loss, else by violation in a formulation.
    """
    n = batch.n_labels
    row = np.empty(n)
    for k in range(n):
        row[k] = theta[0, k]
    order = np.argsort(-row, kind="mergesort")
    inside = count_true(batch, i)
    true_order = np.empty(inside, np.int64)
    other_order = np.empty(n - inside, np.int64)
    s, t = 0, 0
    for k in order:
        if batch.truth[i, k]:
            true_order[s] = k
            s += 1
        else:
            other_order[t] = k
            t += 1
    whole = 0.0
    for k in true_order:
        whole += row[k]
    best, best_hits, best_others = -np.inf, inside, 0
    score_inside = 0.0
    for hits in range(inside + 1):
        if hits > 0:
            score_inside += row[true_order[hits - 1]]
        total = score_inside
        for others in range(n - inside + 1):
            if others > 0:
                total += row[other_order[others - 1]]
            if batch.kind == F1:
                cost = f1_loss(hits, hits + others, inside)
            else:
                cost = batch.cost[0] * (inside - hits + others)
            if scale > 0.0:
                v = total + scale * cost
            else:
                c = np.sqrt(cost) if quadratic else cost
                v = c - (c if slack else 1.0) * (whole - total)
            if v > best:
                best, best_hits, best_others = v, hits, others
    for k in range(n):
        y[k] = 0
    for k in true_order[:best_hits]:
        y[k] = 1
    for k in other_order[:best_others]:
        y[k] = 1


@inlined
def misorder(batch, i, theta, limit, y):
    """Misorder every pair whose difference is below ``limit``; ties stay as they are."""
    n = batch.n_labels
    for k in range(n + 1):
        y[k] = 0
    for a in range(n + 1):
        for b in range(n + 1):
            if is_pair(batch, i, a, b) and difference_of(theta, n, a, b) < limit:
                y[a] += 1
                y[b] += 1


@inlined
def is_pair(batch, i, a, b):
    """Whether a should stand above b."""
    n = batch.n_labels
    above = a < n and batch.truth[i, a] == 1
    below = b < n and batch.truth[i, b] == 0
    return (above and (below or b == n)) or (a == n and below)


@inlined
def difference_of(theta, n, a, b):
    high = float(theta[0, a]) if a < n else 0.0
    low = float(theta[0, b]) if b < n else 0.0
    return high - low


@inlined
def fewest_pairs(batch, i, theta, form, y):
    """The most violated ranking: for some m, the m pairs with the smallest differences."""
    n = batch.n_labels
    total = pairs(batch, i)
    above, below = np.empty(total, np.int64), np.empty(total, np.int64)
    lead = np.empty(total)
    m = 0
    for a in range(n + 1):
        for b in range(n + 1):
            if is_pair(batch, i, a, b):
                above[m], below[m] = a, b
                lead[m] = difference_of(theta, n, a, b)
                m += 1
    order = np.argsort(lead, kind="mergesort")
    best, count, margin = 0.0, 0, 0.0
    for m in range(total):
        margin += lead[order[m]] / total
        v = violation(form, (m + 1) / total, margin)
        if v > best:
            best, count = v, m + 1
    for k in range(n + 1):
        y[k] = 0
    for m in range(count):
        y[above[order[m]]] += 1
        y[below[order[m]]] += 1
