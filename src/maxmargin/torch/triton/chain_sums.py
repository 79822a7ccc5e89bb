"""Forward and backward over chains with few labels: one program per sequence.

Probability space in single precision, with a factor taken out at every token (Rabiner
1989). With E = exp(transitions) and x_t = exp(emissions of token t), up to factors,

    alpha_t = (alpha_{t-1} E) * x_t,        beta_{t-1} = E (x_t * beta_t),

the two directions in two programs that run side by side. What is too small for single
precision is lost ahead, so that the forward sum is a lower bound of Z, and raised to
``FLOOR`` behind, so that the backward sum is an upper bound. Between them

    Z_forward <= sum_k alpha_t(k) beta_t(k) <= Z_backward       for every t,

and no marginal is off by more than (Z_backward - Z_forward) / Z. Where the two differ by
more than rounding, ``chain_far.py`` does the sums of the example again in log space.
"""

from __future__ import annotations

import triton
import triton.language as tl

FLOOR = tl.constexpr(2.0**-60)  # least share and least step of what is possible, behind

RAISE = tl.constexpr(2.0**60)  # so that beta stays above FLOOR

LOG_RAISE = tl.constexpr(41.58883083359671855650)

LEAST = tl.constexpr(2.0**-64)  # factor that may be taken out ahead

NONE = tl.constexpr(float("-inf"))


@triton.jit
def finite(top):
    """A maximum to subtract: 0 where everything is forbidden."""
    return tl.where(top == NONE, 0.0, top)


@triton.jit
def row_of(emissions, lo, t, n, k, K: tl.constexpr):
    """Scores of token t of a sequence as fp32; minus infinity where it has none."""
    width = tl.where((t >= 0) & (t < n), K, 0)
    at = emissions + (lo + t) * K + k
    return tl.load(at, mask=k < width, other=NONE).to(tl.float32)


@triton.jit
def scaled(u, x):
    """u exp(x) divided by its sum z; z; log of what was taken out."""
    top = finite(tl.max(x, 0))
    u = u * tl.exp(x - top)
    z = tl.sum(u, 0)
    return u / z, z, top.to(tl.float64) + tl.log(z).to(tl.float64)


@triton.jit
def raised(b, x):
    """b exp(x) divided by its sum, and at least FLOOR where not zero; log of the sum."""
    top = finite(tl.max(x, 0))
    w = b * tl.exp(x - top)
    z = tl.sum(w, 0)
    w = tl.where((x > NONE) & (b > 0.0), tl.maximum(w / z, FLOOR), 0.0)
    return w, top.to(tl.float64) + tl.log(z).to(tl.float64)


@triton.jit
def ends_behind(last, k, K: tl.constexpr):
    """beta of the last token, raised to FLOOR, and the log of what was taken out."""
    x = tl.load(last + k, mask=k < K, other=NONE)
    top = finite(tl.max(x, 0))
    b = tl.where(x > NONE, tl.maximum(tl.exp(x - top), FLOOR), 0.0)
    return b, top.to(tl.float64)


@triton.jit
def forward(
    emissions,
    lo,
    n,
    A,
    At,
    top,
    first,
    last,
    alpha,
    norm,
    K: tl.constexpr,
    P: tl.constexpr,
):
    """alpha and the factors; returns log Z.

    Vectors over rows and over columns of a table have different layouts in registers:
    two steps at a time, with the table and its transpose, need no change of layout.
    Scores of the next two tokens are loaded ahead of their use.
    """
    r, c = tl.arange(0, P), tl.arange(0, P)
    v = row_of(emissions, lo, 0, n, r, K)
    v += tl.load(first + r, mask=r < K, other=NONE)
    v, z, total = scaled(tl.full((P,), 1.0, tl.float32), v)
    least = z
    tl.store(alpha + lo * K + r, v, mask=r < K)
    x = row_of(emissions, lo, 1, n, c, K)
    y = row_of(emissions, lo, 2, n, r, K)
    t = 1
    while t + 1 < n:
        x_next = row_of(emissions, lo, t + 2, n, c, K)
        y_next = row_of(emissions, lo, t + 3, n, r, K)
        u, z, log = scaled(tl.sum(A * v[:, None], 0), x)
        total += log + top
        least = tl.minimum(least, z)
        tl.store(alpha + (lo + t) * K + c, u, mask=c < K)
        tl.store(norm + lo + t, z)
        v, z, log = scaled(tl.sum(At * u[None, :], 1), y)
        total += log + top
        least = tl.minimum(least, z)
        tl.store(alpha + (lo + t + 1) * K + r, v, mask=r < K)
        tl.store(norm + lo + t + 1, z)
        x = x_next
        y = y_next
        t += 2
    end = tl.load(last + r, mask=r < K, other=NONE)
    if t < n:
        u, z, log = scaled(tl.sum(A * v[:, None], 0), x)
        total += log + top
        least = tl.minimum(least, z)
        tl.store(alpha + (lo + t) * K + c, u, mask=c < K)
        tl.store(norm + lo + t, z)
        end = tl.load(last + c, mask=c < K, other=NONE)
        u, z, log = scaled(u, end)
    else:
        v, z, log = scaled(v, end)
    return tl.where(tl.minimum(least, z) < LEAST, float("nan"), total + log)


@triton.jit
def backward(
    emissions, lo, n, A, At, top, first, last, beta, K: tl.constexpr, P: tl.constexpr
):
    """beta, scaled freely: whatever reads it normalises; returns log Z from above."""
    r, c = tl.arange(0, P), tl.arange(0, P)
    top -= LOG_RAISE
    A = tl.where(A >= 0.0, tl.maximum(A, FLOOR), 0.0)
    At = tl.where(At >= 0.0, tl.maximum(At, FLOOR), 0.0)
    u, total = ends_behind(last, c, K)
    tl.store(beta + (lo + n - 1) * K + c, u, mask=c < K)
    x = row_of(emissions, lo, n - 1, n, c, K)
    y = row_of(emissions, lo, n - 2, n, r, K)
    t = n - 1
    while t > 1:
        x_next = row_of(emissions, lo, t - 2, n, c, K)
        y_next = row_of(emissions, lo, t - 3, n, r, K)
        w, log = raised(u, x)
        total += log + top
        v = tl.sum(A * w[None, :], 1) * RAISE
        tl.store(beta + (lo + t - 1) * K + r, v, mask=r < K)
        q, log = raised(v, y)
        total += log + top
        u = tl.sum(At * q[:, None], 0) * RAISE
        tl.store(beta + (lo + t - 2) * K + c, u, mask=c < K)
        x = x_next
        y = y_next
        t -= 2
    if t > 0:
        w, log = raised(u, x)
        total += log + top
        v = tl.sum(A * w[None, :], 1) * RAISE
        tl.store(beta + lo * K + r, v, mask=r < K)
        y = row_of(emissions, lo, 0, n, r, K) + tl.load(
            first + r, mask=r < K, other=NONE
        )
        q, log = raised(v, y)
    else:
        x = row_of(emissions, lo, 0, n, c, K) + tl.load(
            first + c, mask=c < K, other=NONE
        )
        w, log = raised(u, x)
    return total + log


@triton.jit
def sums_few(
    emissions,
    start,
    transitions,
    first,
    last,
    alpha,
    beta,
    norm,
    both,
    K: tl.constexpr,
    P: tl.constexpr,
):
    """Grid (examples, 2). Direction 0 writes alpha, norm, 1 beta; both (examples, 2).

    A table holds -1 where a transition is forbidden, until the direction is known.
    """
    b = tl.program_id(0)
    lo = tl.load(start + b)
    n = (tl.load(start + b + 1) - lo).to(tl.int32)
    if n == 0:
        return
    r = tl.arange(0, P)
    i, j = r[:, None], r[None, :]
    there = (i < K) & (j < K)
    A = tl.load(transitions + i * K + j, mask=there, other=NONE)
    At = tl.load(transitions + j * K + i, mask=there, other=NONE)
    top = finite(tl.max(tl.max(A, 1), 0))
    A = tl.where(A > NONE, tl.exp(A - top), -1.0)
    At = tl.where(At > NONE, tl.exp(At - top), -1.0)
    top = top.to(tl.float64)
    if tl.program_id(1) == 0:
        A = tl.maximum(A, 0.0)
        At = tl.maximum(At, 0.0)
        z = forward(emissions, lo, n, A, At, top, first, last, alpha, norm, K, P)
        tl.store(both + 2 * b, z)
    else:
        z = backward(emissions, lo, n, A, At, top, first, last, beta, K, P)
        tl.store(both + 2 * b + 1, z)
