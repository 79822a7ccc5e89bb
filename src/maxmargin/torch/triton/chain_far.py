"""Ends of the forward call, and chains whose scores lie far apart, in log space.

``finish`` looks at the two sums of each example. Where they agree it only writes log Z;
where not, it goes forward in log space and double precision, and keeps log alpha in two
parts of single precision, in the places of alpha and beta. ``expected_far`` goes back
through these examples alone: programs of other examples return at once, so that the host
need not know which ones they are.
"""

from __future__ import annotations

import triton
import triton.language as tl

from maxmargin.torch.triton.chain_sums import NONE, finite

AGREE = tl.constexpr(1e-5)  # log Z of both directions, for rounding
AGREE_PER_TOKEN = tl.constexpr(2e-7)


@triton.jit
def double(pointer, there):
    return tl.load(pointer, mask=there, other=NONE).to(tl.float64)


@triton.jit
def exp_sum(x, top):
    """sum_i exp(x_ij - top_j) where top may be minus infinity."""
    return tl.sum(tl.exp(x - finite(top)[None, :]), 0)


@triton.jit
def keep(v, high, low, at, there):
    """A vector in double precision as two of single precision."""
    h = v.to(tl.float32)
    rest = tl.where(v > NONE, v - h.to(tl.float64), 0.0)
    tl.store(high + at, h, mask=there)
    tl.store(low + at, rest.to(tl.float32), mask=there)


@triton.jit
def kept(high, low, at, there):
    rest = tl.load(low + at, mask=there, other=0.0).to(tl.float64)
    return double(high + at, there) + rest


@triton.jit
def forward_far(
    emissions,
    lo,
    n,
    transitions,
    first,
    last,
    high,
    low,
    K: tl.constexpr,
    P: tl.constexpr,
    C: tl.constexpr,
):
    """log Z, by log alpha_t(k) = e_t(k) + log sum_j exp(log alpha_{t-1}(j) + T(j, k))."""
    k = tl.arange(0, P)
    total = tl.zeros((), tl.float64)
    v = double(emissions + lo * K + k, k < K) + double(first + k, k < K)
    t = 1
    while t <= n:
        top = finite(tl.max(v, 0))
        total += top
        keep(v - top, high, low, (lo + t - 1) * K + k, k < K)
        tl.debug_barrier()
        if t < n:
            best = tl.full((P,), NONE, tl.float64)
            size = tl.zeros((P,), tl.float64)
            j = 0
            while j < K:
                c = j + tl.arange(0, C)
                there = (c < K)[:, None] & (k < K)[None, :]
                x = double(transitions + c[:, None] * K + k[None, :], there)
                x += kept(high, low, (lo + t - 1) * K + c, c < K)[:, None]
                higher = tl.maximum(best, tl.max(x, 0))
                before = tl.where(best > NONE, size * tl.exp(best - higher), 0.0)
                size = before + exp_sum(x, higher)
                best = higher
                j += C
            v = best + tl.log(size) + double(emissions + (lo + t) * K + k, k < K)
            v = tl.where(size > 0.0, v, NONE)
        else:
            v = v - top + double(last + k, k < K)
        t += 1
    top = finite(tl.max(v, 0))
    return total + top + tl.log(tl.sum(tl.exp(v - top), 0))


@triton.jit
def path_score(
    emissions, labels, lo, n, transitions, first, last, K: tl.constexpr, R: tl.constexpr
):
    """Score of the given labels, R tokens at a time."""
    score = tl.zeros((R,), tl.float64)
    t = 0
    while t < n:
        token = t + tl.arange(0, R)
        on = token < n
        y = tl.load(labels + lo + token, mask=on, other=0)
        e = tl.load(emissions + (lo + token) * K + y, mask=on, other=0.0)
        score += e.to(tl.float64)
        on = on & (token > 0)
        before = tl.load(labels + lo + token - 1, mask=on, other=0)
        step = tl.load(transitions + before.to(tl.int64) * K + y, mask=on, other=0.0)
        score += step.to(tl.float64)
        t += R
    one = tl.load(first + tl.load(labels + lo)) + tl.zeros((), tl.float64)
    return tl.sum(score, 0) + one + tl.load(last + tl.load(labels + lo + n - 1))


@triton.jit
def finish(
    emissions,
    labels,
    start,
    transitions,
    first,
    last,
    alpha,
    beta,
    both,
    far,
    value,
    LABELS: tl.constexpr,
    K: tl.constexpr,
    P: tl.constexpr,
    C: tl.constexpr,
    R: tl.constexpr,
):
    """Grid (examples,). Writes far, and log Z as value; less the score of labels."""
    b = tl.program_id(0)
    lo = tl.load(start + b)
    n = (tl.load(start + b + 1) - lo).to(tl.int32)
    if n == 0:
        tl.store(far + b, 0)
        tl.store(value + b, 0.0)
        return
    log_z = tl.load(both + 2 * b)
    difference = tl.abs(log_z - tl.load(both + 2 * b + 1))
    near = difference <= AGREE + AGREE_PER_TOKEN * n  # False for NaN
    tl.store(far + b, tl.where(near, 0, 1))
    if near == 0:
        log_z = forward_far(
            emissions, lo, n, transitions, first, last, alpha, beta, K, P, C
        )
    if LABELS:
        log_z -= path_score(emissions, labels, lo, n, transitions, first, last, K, R)
    tl.store(value + b, log_z.to(tl.float32))


@triton.jit
def expected_tokens_far(
    q, labels, g, token, k, marginals, LABELS: tl.constexpr, K: tl.constexpr
):
    """Marginals of one token from log alpha + log beta, less its label, times g."""
    p = tl.exp(q - finite(tl.max(q, 0)))
    size = tl.sum(p, 0)
    p = tl.where(size > 0.0, p / size, 0.0)
    if LABELS:
        p -= tl.where(k == tl.load(labels + token), 1.0, 0.0)
    p = (p * g).to(tl.float32)
    tl.store(marginals + token * K + k, p, mask=k < K)
    return p


@triton.jit
def step_behind(r, transitions, k, behind, K: tl.constexpr, C: tl.constexpr):
    """behind(j) <- log sum_k exp(T(j, k) + r(k))."""
    j = 0
    while j < K:
        c = j + tl.arange(0, C)
        there = (c < K)[:, None] & (k < K)[None, :]
        x = double(transitions + c[:, None] * K + k[None, :], there) + r[None, :]
        top = tl.max(x, 1)
        size = tl.sum(tl.exp(x - finite(top)[:, None]), 1)
        tl.store(behind + c, tl.where(size > 0.0, top + tl.log(size), NONE), mask=c < K)
        j += C


@triton.jit
def expected_steps_far(
    high,
    low,
    row,
    r,
    total,
    g,
    transitions,
    k,
    counts,
    K: tl.constexpr,
    C: tl.constexpr,
):
    """counts(j, k) += g exp(log alpha(j) + T(j, k) + r(k) - total)."""
    j = 0
    while j < K:
        c = j + tl.arange(0, C)
        there = (c < K)[:, None] & (k < K)[None, :]
        at = c[:, None] * K + k[None, :]
        x = double(transitions + at, there) + r[None, :]
        x += kept(high, low, row + c, c < K)[:, None]
        p = tl.exp(x - total) * g
        tl.atomic_add(counts + at, p.to(tl.float32), mask=there & (p != 0.0))
        j += C


@triton.jit
def expected_far(
    emissions,
    labels,
    start,
    transitions,
    first,
    last,
    alpha,
    beta,
    far,
    coefficient,
    marginals,
    table,
    room,
    LABELS: tl.constexpr,
    K: tl.constexpr,
    P: tl.constexpr,
    C: tl.constexpr,
):
    """Grid (examples,). Expected parts of examples that are far; others return at once.

    ``table`` (K + 2, K) is added to: pairs, then first and last labels. ``room``
    (examples, K) holds log beta.
    """
    b = tl.program_id(0)
    if tl.load(far + b) == 0:
        return
    lo = tl.load(start + b)
    n = (tl.load(start + b + 1) - lo).to(tl.int32)
    g = tl.load(coefficient + b).to(tl.float64)
    k = tl.arange(0, P)
    behind = room + b * K
    v = double(last + k, k < K)
    t = n - 1
    while t >= 0:
        q = v + kept(alpha, beta, (lo + t) * K + k, k < K)
        p = expected_tokens_far(q, labels, g, lo + t, k, marginals, LABELS, K)
        if t == n - 1:
            tl.atomic_add(table + (K + 1) * K + k, p, mask=k < K)
        if t == 0:
            tl.atomic_add(table + K * K + k, p, mask=k < K)
        else:
            r = v + double(emissions + (lo + t) * K + k, k < K)
            tl.debug_barrier()
            step_behind(r, transitions, k, behind, K, C)
            tl.debug_barrier()
            v = double(behind + k, k < K)
            row = (lo + t - 1) * K
            q = v + kept(alpha, beta, row + k, k < K)
            top = tl.max(q, 0)
            total = top + tl.log(tl.sum(tl.exp(q - finite(top)), 0))
            if top > NONE:
                expected_steps_far(
                    alpha, beta, row, r, total, g, transitions, k, table, K, C
                )
            v -= finite(tl.max(v, 0))
            if LABELS:
                y = tl.load(labels + lo + t)
                before = tl.load(labels + lo + t - 1)
                tl.atomic_add(table + before.to(tl.int64) * K + y, -g.to(tl.float32))
        t -= 1
