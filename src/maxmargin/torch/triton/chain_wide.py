"""Forward and backward over chains with many labels: products on tensor cores.

As ``chain_sums.py``, with rows of M sequences side by side, so that a step is a product
of matrices. The table of transitions comes as E = exp(transitions - top), and behind as
its transpose raised to FLOOR; where it is larger than the registers, it is read in chunks
of C rows, and the vectors of the step before come back from memory.
"""

from __future__ import annotations

import triton
import triton.language as tl

from maxmargin.torch.triton.chain_sums import (
    FLOOR,
    LEAST,
    LOG_RAISE,
    NONE,
    RAISE,
    finite,
)


@triton.jit
def rows_of(emissions, token, on, k, K: tl.constexpr):
    """Scores of one token of each sequence as fp32."""
    at = emissions + token[:, None] * K + k[None, :]
    there = on[:, None] & (k < K)[None, :]
    return tl.load(at, mask=there, other=NONE).to(tl.float32)


@triton.jit
def scaled_rows(u, x, on):
    """As ``scaled``; a sequence that is not on keeps its row and takes out nothing."""
    top = finite(tl.max(x, 1))
    w = u * tl.exp(x - top[:, None])
    z = tl.where(on, tl.sum(w, 1), 1.0)
    w = tl.where(on[:, None], w / z[:, None], u)
    return w, z, tl.where(on, top.to(tl.float64) + tl.log(z).to(tl.float64), 0.0)


@triton.jit
def raised_rows(b, x, on):
    """As ``raised``."""
    top = finite(tl.max(x, 1))
    w = b * tl.exp(x - top[:, None])
    z = tl.where(on, tl.sum(w, 1), 1.0)
    w = tl.where((x > NONE) & (b > 0.0), tl.maximum(w / z[:, None], FLOOR), 0.0)
    return w, tl.where(on, top.to(tl.float64) + tl.log(z).to(tl.float64), 0.0)


@triton.jit
def held_table(table, k, K: tl.constexpr, P: tl.constexpr, C: tl.constexpr):
    """The table where it comes in one chunk."""
    if C == P:
        there = (k < K)[:, None] & (k < K)[None, :]
        w = tl.load(table + k[:, None] * K + k[None, :], mask=there, other=0.0)
    else:
        w = table
    return w


@triton.jit
def product(
    v,
    kept,
    token,
    on,
    held,
    table,
    k,
    K: tl.constexpr,
    P: tl.constexpr,
    M: tl.constexpr,
    C: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """v times a table; with C < P, v is read again from row ``token`` of ``kept``."""
    if C == P:
        u = tl.dot(v, held, input_precision=PRECISION)
    else:
        u = tl.zeros((M, P), tl.float32)
        for j in range(0, P, C):
            c = j + tl.arange(0, C)
            there = on[:, None] & (c < K)[None, :]
            at = kept + token[:, None] * K + c[None, :]
            part = tl.load(at, mask=there, other=0.0)
            there = (c < K)[:, None] & (k < K)[None, :]
            w = tl.load(table + c[:, None] * K + k[None, :], mask=there, other=0.0)
            u = tl.dot(part, w, u, input_precision=PRECISION)
    return u


@triton.jit
def forward_rows(
    emissions,
    lo,
    n,
    table,
    top,
    first,
    last,
    alpha,
    norm,
    K: tl.constexpr,
    P: tl.constexpr,
    M: tl.constexpr,
    C: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """alpha and the factors; returns log Z of each sequence."""
    k = tl.arange(0, P)
    on = n > 0
    x = rows_of(emissions, lo, on, k, K)
    x += tl.load(first + k, mask=k < K, other=NONE)[None, :]
    v, z, total = scaled_rows(tl.full((M, P), 1.0, tl.float32), x, on)
    least = z
    columns = (k < K)[None, :]
    tl.store(alpha + lo[:, None] * K + k[None, :], v, mask=on[:, None] & columns)
    x = rows_of(emissions, lo + 1, n > 1, k, K)
    held = held_table(table, k, K, P, C)
    longest = tl.max(n, 0)
    t = 1
    while t < longest:
        tl.debug_barrier()
        on = t < n
        x_next = rows_of(emissions, lo + t + 1, t + 1 < n, k, K)
        u = product(v, alpha, lo + t - 1, on, held, table, k, K, P, M, C, PRECISION)
        u, z, log = scaled_rows(u, x, on)
        v = tl.where(on[:, None], u, v)
        total += tl.where(on, log + top, 0.0)
        least = tl.minimum(least, z)
        at = alpha + (lo[:, None] + t) * K + k[None, :]
        tl.store(at, v, mask=on[:, None] & columns)
        tl.store(norm + lo + t, z, mask=on)
        x = x_next
        t += 1
    end = tl.load(last + k, mask=k < K, other=NONE)[None, :] + tl.zeros(
        (M, P), tl.float32
    )
    v, z, log = scaled_rows(v, end, n > 0)
    failed = tl.minimum(least, z) < LEAST
    return tl.where(failed, float("nan"), total + log)


@triton.jit
def backward_rows(
    emissions,
    lo,
    n,
    table,
    top,
    first,
    last,
    beta,
    weighted,
    K: tl.constexpr,
    P: tl.constexpr,
    M: tl.constexpr,
    C: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """beta, scaled freely; returns log Z of each sequence from above."""
    k = tl.arange(0, P)
    columns = (k < K)[None, :]
    x = tl.load(last + k, mask=k < K, other=NONE)
    top_last = finite(tl.max(x, 0))
    b = tl.where(x > NONE, tl.maximum(tl.exp(x - top_last), FLOOR), 0.0)
    b = b[None, :] + tl.zeros((M, P), tl.float32)
    total = top_last.to(tl.float64) + tl.zeros((M,), tl.float64)
    at = beta + (lo + n - 1)[:, None] * K + k[None, :]
    tl.store(at, b, mask=(n > 0)[:, None] & columns)
    x = rows_of(emissions, lo + n - 1, n > 1, k, K)
    held = held_table(table, k, K, P, C)
    longest = tl.max(n, 0)
    i = 1
    while i < longest:
        t = n - i
        on = t > 0
        x_next = rows_of(emissions, lo + t - 1, t > 1, k, K)
        w, log = raised_rows(b, x, on)
        total += tl.where(on, log + top - LOG_RAISE, 0.0)
        if C < P:
            at = weighted + (lo + t)[:, None] * K + k[None, :]
            tl.store(at, w, mask=on[:, None] & columns)
            tl.debug_barrier()
        u = product(w, weighted, lo + t, on, held, table, k, K, P, M, C, PRECISION)
        b = tl.where(on[:, None], u * RAISE, b)
        at = beta + (lo + t - 1)[:, None] * K + k[None, :]
        tl.store(at, b, mask=on[:, None] & columns)
        x = x_next
        i += 1
    x = rows_of(emissions, lo, n > 0, k, K)
    x += tl.load(first + k, mask=k < K, other=NONE)[None, :]
    w, log = raised_rows(b, x, n > 0)
    return total + log


@triton.jit(do_not_specialize=["examples"])
def sums_many(
    emissions,
    start,
    table,
    behind,
    highest,
    first,
    last,
    alpha,
    beta,
    weighted,
    norm,
    both,
    examples,
    K: tl.constexpr,
    P: tl.constexpr,
    M: tl.constexpr,
    C: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Grid (examples / M, 2). Direction 0 writes alpha, norm, 1 beta; both (examples, 2).

    ``weighted`` is room for x_t beta_t where the table comes in chunks.
    """
    b = tl.program_id(0) * M + tl.arange(0, M)
    there = b < examples
    lo = tl.load(start + b, mask=there, other=0)
    n = (tl.load(start + b + 1, mask=there, other=0) - lo).to(tl.int32)
    top = tl.load(highest).to(tl.float64)
    if tl.program_id(1) == 0:
        z = forward_rows(
            emissions,
            lo,
            n,
            table,
            top,
            first,
            last,
            alpha,
            norm,
            K,
            P,
            M,
            C,
            PRECISION,
        )
        tl.store(both + 2 * b, z, mask=there)
    else:
        z = backward_rows(
            emissions,
            lo,
            n,
            behind,
            top,
            first,
            last,
            beta,
            weighted,
            K,
            P,
            M,
            C,
            PRECISION,
        )
        tl.store(both + 2 * b + 1, z, mask=there)
