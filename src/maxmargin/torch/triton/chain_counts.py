"""Expected parts of chains from alpha and beta: marginals and counts of transitions.

With s_t = sum_k alpha_t(k) beta_t(k) and the factor z_t that was taken out of alpha_t,

    P(y_t = k)               = alpha_t(k) beta_t(k) / s_t
    P(y_{t-1} = j, y_t = k)  = alpha_{t-1}(j) E(j, k) w_t(k),
    w_t(k)                   = x_t(k) beta_t(k) / (s_t z_t).

Counts are sums over tokens, each with the coefficient of its example: a product of two
matrices, alpha and w, times E. Programs sum over examples of their own, in order, and
their parts are added afterwards, so that equal calls give equal results. Where labels are
given, their own parts are subtracted.
"""

from __future__ import annotations

import triton
import triton.language as tl

from maxmargin.torch.triton.chain_sums import NONE, finite

MOST = tl.constexpr(2.0**120)  # keeps what is impossible from becoming infinite


@triton.jit
def tokens_of(
    emissions,
    labels,
    alpha,
    beta,
    norm,
    lo,
    token,
    on,
    g,
    k,
    LABELS: tl.constexpr,
    K: tl.constexpr,
):
    """(expected parts of some tokens times g, w times g), rows being tokens."""
    there = on[:, None] & (k < K)[None, :]
    at = (lo + token)[:, None] * K + k[None, :]
    a = tl.load(alpha + at, mask=there, other=0.0)
    b = tl.load(beta + at, mask=there, other=0.0)
    both = a * b
    s = tl.where(on, tl.sum(both, 1), 1.0)
    mu = both / s[:, None] * g
    if LABELS:
        y = tl.load(labels + lo + token, mask=on, other=-1)
        mu -= tl.where((k[None, :] == y[:, None]) & there, g, 0.0)
    x = tl.load(emissions + at, mask=there, other=NONE).to(tl.float32)
    x = tl.exp(x - finite(tl.max(x, 1))[:, None])
    z = tl.load(norm + lo + token, mask=on & (token > 0), other=1.0)
    w = tl.minimum(x * tl.minimum(b / s[:, None], MOST) / z[:, None], MOST)
    w = tl.where((on & (token > 0))[:, None] & (a > 0.0), w * g, 0.0)
    return mu, w


@triton.jit
def labels_before(labels, lo, token, on):
    """(label of the token before, own label); none at the first token."""
    on = on & (token > 0)
    before = tl.load(labels + lo + token - 1, mask=on, other=-1)
    return before, tl.load(labels + lo + token, mask=on, other=-1)


@triton.jit
def add_labels(found, before, y, g, i, j, PRECISION: tl.constexpr):
    """found(i, j) += g for every step from label i to label j."""
    rows = tl.where(i[:, None] == before[None, :], 1.0, 0.0)
    columns = tl.where(y[:, None] == j[None, :], g, 0.0)
    return tl.dot(rows, columns, found, input_precision=PRECISION)


@triton.jit
def rows_before(alpha, lo, token, on, i, K: tl.constexpr):
    """alpha of the tokens before, transposed."""
    at = alpha + (lo + token - 1)[None, :] * K + i[:, None]
    return tl.load(at, mask=(on & (token > 0))[None, :] & (i < K)[:, None], other=0.0)


@triton.jit
def steps_table(transitions, highest, i, j, K: tl.constexpr):
    """Part of E."""
    there = (i < K)[:, None] & (j < K)[None, :]
    x = tl.load(transitions + i[:, None] * K + j[None, :], mask=there, other=NONE)
    return tl.exp(x - highest)


@triton.jit(do_not_specialize=["examples"])
def counts_few(
    emissions,
    labels,
    start,
    transitions,
    alpha,
    beta,
    norm,
    far,
    coefficient,
    marginals,
    parts,
    examples,
    LABELS: tl.constexpr,
    K: tl.constexpr,
    P: tl.constexpr,
    R: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Grid (programs,). Marginals of all examples that are not far, and counts.

    ``parts`` (programs, K + 2, K): pairs, then first and last labels.
    """
    k = tl.arange(0, P)
    found = tl.zeros((P, P), tl.float32)
    own = tl.zeros((P, P), tl.float32)
    firsts = tl.zeros((P,), tl.float32)
    lasts = tl.zeros((P,), tl.float32)
    b = tl.program_id(0)
    while b < examples:
        lo = tl.load(start + b)
        n = (tl.load(start + b + 1) - lo).to(tl.int32)
        n = tl.where(tl.load(far + b) == 0, n, 0)
        g = tl.load(coefficient + b)
        t = 0
        while t < n:
            token = t + tl.arange(0, R)
            on = token < n
            mu, w = tokens_of(
                emissions, labels, alpha, beta, norm, lo, token, on, g, k, LABELS, K
            )
            at = marginals + (lo + token)[:, None] * K + k[None, :]
            tl.store(at, mu, mask=on[:, None] & (k < K)[None, :])
            before = rows_before(alpha, lo, token, on, k, K)
            found = tl.dot(before, w, found, input_precision=PRECISION)
            firsts += tl.sum(tl.where((token == 0)[:, None], mu, 0.0), 0)
            lasts += tl.sum(tl.where((token == n - 1)[:, None], mu, 0.0), 0)
            if LABELS:
                y_before, y = labels_before(labels, lo, token, on)
                own = add_labels(own, y_before, y, g, k, k, PRECISION)
            t += R
        b += tl.num_programs(0)
    there = (k < K)[:, None] & (k < K)[None, :]
    x = tl.load(transitions + k[:, None] * K + k[None, :], mask=there, other=NONE)
    table = tl.exp(x - finite(tl.max(tl.max(x, 1), 0)))
    found = tl.where(table > 0.0, found * table, 0.0) - own
    out = parts + tl.program_id(0).to(tl.int64) * (K + 2) * K
    tl.store(out + k[:, None] * K + k[None, :], found, mask=there)
    tl.store(out + K * K + k, firsts, mask=k < K)
    tl.store(out + (K + 1) * K + k, lasts, mask=k < K)


@triton.jit
def marginals_many(
    emissions,
    labels,
    start,
    alpha,
    beta,
    norm,
    far,
    coefficient,
    marginals,
    weighted,
    ends,
    LABELS: tl.constexpr,
    K: tl.constexpr,
    P: tl.constexpr,
    R: tl.constexpr,
):
    """Grid (examples, programs). Marginals, w, and those of the ends (examples, 2, K)."""
    b = tl.program_id(0)
    lo = tl.load(start + b)
    n = (tl.load(start + b + 1) - lo).to(tl.int32)
    n = tl.where(tl.load(far + b) == 0, n, 0)
    g = tl.load(coefficient + b)
    k = tl.arange(0, P)
    ends = ends + b.to(tl.int64) * 2 * K + k
    if (n == 0) & (tl.program_id(1) == 0):
        tl.store(ends, tl.zeros((P,), tl.float32), mask=k < K)
        tl.store(ends + K, tl.zeros((P,), tl.float32), mask=k < K)
    t = tl.program_id(1) * R
    while t < n:
        token = t + tl.arange(0, R)
        on = token < n
        mu, w = tokens_of(
            emissions, labels, alpha, beta, norm, lo, token, on, g, k, LABELS, K
        )
        at = (lo + token)[:, None] * K + k[None, :]
        there = on[:, None] & (k < K)[None, :]
        tl.store(marginals + at, mu, mask=there)
        tl.store(weighted + at, w, mask=there)
        if t == 0:
            one = tl.sum(tl.where((token == 0)[:, None], mu, 0.0), 0)
            tl.store(ends, one, mask=k < K)
        if t + R >= n:
            one = tl.sum(tl.where((token == n - 1)[:, None], mu, 0.0), 0)
            tl.store(ends + K, one, mask=k < K)
        t += R * tl.num_programs(1)


@triton.jit(do_not_specialize=["examples"])
def pairs_many(
    labels,
    start,
    transitions,
    highest,
    alpha,
    weighted,
    far,
    coefficient,
    parts,
    examples,
    LABELS: tl.constexpr,
    K: tl.constexpr,
    S: tl.constexpr,
    R: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Grid (programs, tiles, tiles): S by S of the counts of each program's examples."""
    i = tl.program_id(1) * S + tl.arange(0, S)
    j = tl.program_id(2) * S + tl.arange(0, S)
    found = tl.zeros((S, S), tl.float32)
    own = tl.zeros((S, S), tl.float32)
    b = tl.program_id(0)
    while b < examples:
        lo = tl.load(start + b)
        n = (tl.load(start + b + 1) - lo).to(tl.int32)
        n = tl.where(tl.load(far + b) == 0, n, 0)
        t = 0
        while t < n:
            token = t + tl.arange(0, R)
            on = token < n
            at = weighted + (lo + token)[:, None] * K + j[None, :]
            w = tl.load(at, mask=on[:, None] & (j < K)[None, :], other=0.0)
            before = rows_before(alpha, lo, token, on, i, K)
            found = tl.dot(before, w, found, input_precision=PRECISION)
            if LABELS:
                y_before, y = labels_before(labels, lo, token, on)
                g = tl.load(coefficient + b)
                own = add_labels(own, y_before, y, g, i, j, PRECISION)
            t += R
        b += tl.num_programs(0)
    table = steps_table(transitions, tl.load(highest), i, j, K)
    found = tl.where(table > 0.0, found * table, 0.0) - own
    out = parts + tl.program_id(0).to(tl.int64) * (K + 2) * K
    there = (i < K)[:, None] & (j < K)[None, :]
    tl.store(out + i[:, None] * K + j[None, :], found, mask=there)
